/* LU: the flow problem solved with symmetric successive over-relaxation. A time step is a sweep
 * from one corner of the cube to the opposite one and back; every point waits for its neighbours.
 *
 * Specification: NAS Parallel Benchmarks, RNR-94-007, section 3 and application LU; distribution
 * over pencils and message pattern as in the MPI version of NPB 3.3.1. See
 * docs/applications/lu.md. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/cfd/blocks.h"
#include "../common/cfd/field.h"
#include "../common/cfd/flow.h"
#include "../hamtune_app.h"

enum {
  CUT_AXES = 2, /* the grid is cut along the first two axes; a rank holds all of the third */
  LOW = 0,
  HIGH = 1,
  NOBODY = -1,
  SHORTEST = HALO, /* points that a rank must have along a cut axis to fill its neighbour's halo */
  TAG_UP = 1,   /* towards higher indices */
  TAG_DOWN = 2
};

static const double RELAXATION = 1.2;

/* Operations a point, counted in the formulas. Only their ratios matter: declared computation is
 * scaled so that an iteration costs what NPB says. */
enum {
  RATES_COST = 146, /* fluxes and damping along one axis */
  SWEEP_COST = 770, /* four blocks, three products with a vector, one solution */
  SCALE_COST = 5,
  UPDATE_COST = 10,
  ITERATION_COST = 3 * RATES_COST + 2 * SWEEP_COST + SCALE_COST + UPDATE_COST,
  NORM_COST = 10
};

typedef struct {
  const char *name;
  int points;
  int iterations;
  double step;
  double residual[COMPONENTS]; /* NPB's verification values */
  double error[COMPONENTS];
  double integral;
} Problem;

static const char classes[] = "SWABC";

static const Problem problems[] = {
    {"S", 12, 50, 0.5,
     {1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03,
      1.5029584435994323e-03, 3.4264073155896461e-02},
     {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05,
      5.8474222595157350e-05, 1.3103347914111294e-03},
     7.8418928865937083e+00},
    {"W", 33, 300, 1.5e-3,
     {0.1236511638192e+02, 0.1317228477799e+01, 0.2550120713095e+01, 0.2326187750252e+01,
      0.2826799444189e+02},
     {0.4867877144216e+00, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01,
      0.1084277417792e+01},
     0.1161399311023e+02},
    {"A", 64, 250, 2.0,
     {7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02,
      1.7845301160418537e+02, 1.8384760349464247e+03},
     {2.9964085685471943e+01, 2.8194576365003349e+00, 7.3473412698774742e+00,
      6.7139225687777051e+00, 7.0715315688392578e+01},
     2.6030925604886277e+01},
    {"B", 102, 250, 2.0,
     {3.5532672969982736e+03, 2.6214750795310692e+02, 8.8333721850952190e+02,
      7.7812774739425265e+02, 7.3087969592545314e+03},
     {1.1401176380212709e+02, 8.1098963655421574e+00, 2.8480597317698308e+01,
      2.5905394567832939e+01, 2.6054907504857413e+02},
     4.7887162703308227e+01},
    {"C", 162, 250, 2.0,
     {1.03766980323537846e+04, 8.92212458801008552e+02, 2.56238814582660871e+03,
      2.19194343857831427e+03, 1.78078057261061185e+04},
     {2.15986399716949279e+02, 1.55789559239863600e+01, 5.41318863077207766e+01,
      4.82262643154045421e+01, 4.55902910043250358e+02},
     6.66404553572181300e+01},
};

/* The rank's part of the problem. */
typedef struct {
  Flow flow;
  Box box;
  int iterations;
  int rank;
  int neighbour[CUT_AXES][2];
  double *u;       /* state */
  double *r;       /* rates of change, then the correction they lead to */
  double *forcing;
  double *send, *receive;
  double unit;     /* declared operations for one counted */
} Solver;

/* ---- setting up ---- */

/* Floating-point operations of one iteration by NPB's rule. */
static double official_operations(int points)
{
  double n = points;
  return 1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010.0;
}

static Solver make_solver(const Problem *problem, int iterations, int rank, int ranks)
{
  Solver solver = {.flow = flow_make(problem->points, problem->step), .rank = rank};
  int exponent = app_log2(ranks);
  int width[CUT_AXES] = {1 << ((exponent + 1) / 2), 1 << (exponent / 2)};
  int place[CUT_AXES] = {rank % width[0], rank / width[0]};
  int stride[CUT_AXES] = {1, width[0]};
  int first[AXES] = {0}, count[AXES] = {problem->points, problem->points, problem->points};
  for (int axis = 0; axis < CUT_AXES; axis++) {
    AppRange range = app_cut(problem->points, width[axis], place[axis]);
    first[axis] = range.first;
    count[axis] = range.count;
    solver.neighbour[axis][LOW] = place[axis] > 0 ? rank - stride[axis] : NOBODY;
    solver.neighbour[axis][HIGH] =
        place[axis] < width[axis] - 1 ? rank + stride[axis] : NOBODY;
  }
  solver.box = box_make(&solver.flow, first, count);
  solver.iterations = iterations;
  solver.u = field_allocate(&solver.box);
  solver.r = field_allocate(&solver.box);
  solver.forcing = field_allocate(&solver.box);
  size_t longest = (size_t)(count[0] > count[1] ? count[0] : count[1]);
  size_t room = HALO * COMPONENTS * longest * (size_t)problem->points;
  solver.send = app_allocate(room, sizeof(double));
  solver.receive = app_allocate(room, sizeof(double));
  double inner = problem->points - 2;
  solver.unit = official_operations(problem->points) / (inner * inner * inner * ITERATION_COST);
  return solver;
}

static void free_solver(Solver *solver)
{
  free(solver->u);
  free(solver->r);
  free(solver->forcing);
  free(solver->send);
  free(solver->receive);
}

/* Operations to declare for the rank's points at a counted cost a point. */
static double cost(const Solver *solver, int counted)
{
  return solver->unit * counted * box_inner_points(&solver->box);
}

/* ---- exchange of faces ---- */

/* Doubles in the face of the box across an axis, two layers deep. */
static int face_values(const Box *box, int axis)
{
  return (int)box_points(box) / box->count[axis] * HALO * COMPONENTS;
}

/* Sends the two layers next to one side, and fills the halo on the other side with the layers of
 * the neighbour there. */
static void shift_faces(Solver *solver, int axis, int to, int tag, double *u)
{
  const Box *box = &solver->box;
  const int values = face_values(box, axis);
  const int source = solver->neighbour[axis][!to], target = solver->neighbour[axis][to];
  const int end = box->count[axis];
  MPI_Request request = MPI_REQUEST_NULL;
  if (source != NOBODY)
    MPI_Irecv(solver->receive, values, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &request);
  if (target != NOBODY) {
    HAMTUNE_BLOCK(0.0, field_pack(box, u, axis, to == HIGH ? end - HALO : 0, HALO, solver->send));
    MPI_Send(solver->send, values, MPI_DOUBLE, target, tag, MPI_COMM_WORLD);
  }
  if (source != NOBODY) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    HAMTUNE_BLOCK(0.0, field_unpack(box, u, axis, to == HIGH ? -HALO : end, HALO, solver->receive));
  }
}

static void exchange_faces(Solver *solver, int axis, double *u)
{
  shift_faces(solver, axis, HIGH, TAG_UP, u);
  shift_faces(solver, axis, LOW, TAG_DOWN, u);
}

/* Adds to r the rates of change of a state, whose halo is exchanged on the way. */
static void add_rates(Solver *solver, double *state, double *r)
{
  for (int axis = 0; axis < AXES; axis++) {
    if (axis < CUT_AXES)
      exchange_faces(solver, axis, state);
    HAMTUNE_BLOCK(cost(solver, RATES_COST),
                  field_add_fluxes(&solver->flow, &solver->box, axis, state, r));
  }
}

static void find_rates(Solver *solver)
{
  HAMTUNE_BLOCK(0.0, field_start_rates(&solver->box, solver->forcing, solver->r));
  add_rates(solver, solver->u, solver->r);
}

/* The forcing term cancels the rates of change of the exact solution. `r` holds that solution
 * meanwhile. */
static void find_forcing(Solver *solver)
{
  const Box *box = &solver->box;
  HAMTUNE_BLOCK(box_points(box) * FLOW_EXACT_FLOPS, {
    field_clear(box, solver->r);
    field_fill_exact(&solver->flow, box, 0, solver->r);
    field_start_rates(box, NULL, solver->forcing);
  });
  add_rates(solver, solver->r, solver->forcing);
  HAMTUNE_BLOCK(0.0, field_scale(box, -1.0, solver->forcing));
}

static void start_afresh(Solver *solver)
{
  HAMTUNE_BLOCK(box_points(&solver->box) * FLOW_INITIAL_FLOPS, {
    field_clear(&solver->box, solver->u);
    field_fill_initial(&solver->flow, &solver->box, solver->u);
  });
}

/* ---- sweeps ---- */

/* Solves for one point, given the corrections of its three neighbours on `side`. On the way up that
 * gives the correction; on the way down it is subtracted from the one that the way up gave. */
static void relax_point(const Solver *solver, int side, ptrdiff_t at)
{
  const double *state = solver->u + at;
  double *correction = solver->r + at;
  Block own, neighbour;
  double sum[COMPONENTS] = {0.0};
  block_identity(own);
  for (int axis = 0; axis < AXES; axis++) {
    ptrdiff_t to_neighbour = side * solver->box.stride[axis];
    flow_add_own_block(&solver->flow, axis, state, own);
    flow_neighbour_block(&solver->flow, axis, side, state + to_neighbour, neighbour);
    block_subtract_product(RELAXATION, neighbour, correction + to_neighbour, sum);
  }
  if (side < 0) {
    for (int m = 0; m < COMPONENTS; m++)
      correction[m] += sum[m];
    block_solve(own, NULL, correction);
  } else {
    block_solve(own, NULL, sum);
    for (int m = 0; m < COMPONENTS; m++)
      correction[m] += sum[m];
  }
}

static void relax_plane(const Solver *solver, int side, int k)
{
  const Box *box = &solver->box;
  const int wide = box->inner_to[0] - box->inner_from[0];
  const int high = box->inner_to[1] - box->inner_from[1];
  for (int n = 0; n < wide * high; n++) {
    int step = side < 0 ? n : wide * high - 1 - n;
    int i = box->inner_from[0] + step % wide, j = box->inner_from[1] + step / wide;
    relax_point(solver, side, box_at(box, i, j, k));
  }
}

/* Moves the corrections of an edge of a plane: all inner points with index `at` on the axis. */
static void copy_edge(const Solver *solver, int axis, int at, int k, double *buffer, bool out)
{
  const Box *box = &solver->box;
  const int across = 1 - axis;
  double *edge = solver->r + box_at(box, 0, 0, k) + at * box->stride[axis];
  for (int s = box->inner_from[across]; s < box->inner_to[across]; s++, buffer += COMPONENTS) {
    double *point = edge + s * box->stride[across];
    memcpy(out ? buffer : point, out ? point : buffer, COMPONENTS * sizeof(double));
  }
}

static int edge_values(const Box *box, int axis)
{
  return (box->inner_to[1 - axis] - box->inner_from[1 - axis]) * COMPONENTS;
}

static void receive_edges(Solver *solver, int from, int tag, int k)
{
  const Box *box = &solver->box;
  for (int axis = 0; axis < CUT_AXES; axis++) {
    int source = solver->neighbour[axis][from];
    if (source == NOBODY)
      continue;
    MPI_Recv(solver->receive, edge_values(box, axis), MPI_DOUBLE, source, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    HAMTUNE_BLOCK(0.0, copy_edge(solver, axis, from == LOW ? -1 : box->count[axis], k,
                                 solver->receive, false));
  }
}

static void send_edges(Solver *solver, int to, int tag, int k)
{
  const Box *box = &solver->box;
  for (int axis = 0; axis < CUT_AXES; axis++) {
    int target = solver->neighbour[axis][to];
    if (target == NOBODY)
      continue;
    HAMTUNE_BLOCK(0.0, copy_edge(solver, axis, to == LOW ? 0 : box->count[axis] - 1, k,
                                 solver->send, true));
    MPI_Send(solver->send, edge_values(box, axis), MPI_DOUBLE, target, tag, MPI_COMM_WORLD);
  }
}

/* One plane of a sweep: wait for the neighbours before, relax, and let those behind go on. */
static void sweep_plane(Solver *solver, int side, int k)
{
  const int before = side < 0 ? LOW : HIGH;
  const int tag = side < 0 ? TAG_UP : TAG_DOWN;
  const int planes = solver->box.inner_to[2] - solver->box.inner_from[2];
  receive_edges(solver, before, tag, k);
  HAMTUNE_BLOCK(cost(solver, SWEEP_COST) / planes, relax_plane(solver, side, k));
  send_edges(solver, !before, tag, k);
}

/* ---- the method ---- */

static void sum_over_ranks(double sums[COMPONENTS])
{
  double mine[COMPONENTS];
  memcpy(mine, sums, sizeof mine);
  MPI_Allreduce(mine, sums, COMPONENTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void norm_of_r(Solver *solver, double norms[COMPONENTS])
{
  memset(norms, 0, COMPONENTS * sizeof(double));
  HAMTUNE_BLOCK(NORM_COST * box_inner_points(&solver->box),
                field_add_squares(&solver->box, solver->r, norms));
  sum_over_ranks(norms);
  HAMTUNE_BLOCK(0.0, field_norms(&solver->flow, norms));
}

static void relax(Solver *solver)
{
  const Box *box = &solver->box;
  HAMTUNE_BLOCK(cost(solver, SCALE_COST), field_scale(box, solver->flow.step, solver->r));
  for (int k = box->inner_from[2]; k < box->inner_to[2]; k++)
    sweep_plane(solver, -1, k);
  for (int k = box->inner_to[2] - 1; k >= box->inner_from[2]; k--)
    sweep_plane(solver, 1, k);
  HAMTUNE_BLOCK(cost(solver, UPDATE_COST),
                field_add(box, 1.0 / (RELAXATION * (2.0 - RELAXATION)), solver->r, solver->u));
}

/* Makes time steps, one or all of the run, and leaves the norms of the rates of change in `norms`.
 * Returns the time of the slowest rank. */
static double iterate(Solver *solver, bool whole_run, double norms[COMPONENTS])
{
  double correction[COMPONENTS];
  const int iterations = whole_run ? solver->iterations : 1;
  find_rates(solver);
  norm_of_r(solver, norms);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int iteration = 1; iteration <= iterations; iteration++) {
    if (whole_run)
      app_iteration_begins();
    relax(solver);
    if (iteration == solver->iterations)
      norm_of_r(solver, correction); /* NPB reports its size at the end, and does not check it */
    find_rates(solver);
    if (iteration == solver->iterations)
      norm_of_r(solver, norms);
  }
  if (whole_run)
    app_iterations_end();
  double elapsed = MPI_Wtime() - start, slowest;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static void find_error(Solver *solver, double norms[COMPONENTS])
{
  memset(norms, 0, COMPONENTS * sizeof(double));
  HAMTUNE_BLOCK(box_inner_points(&solver->box) * (FLOW_EXACT_FLOPS + 15.0),
                field_add_squared_errors(&solver->flow, &solver->box, solver->u, norms));
  sum_over_ranks(norms);
  HAMTUNE_BLOCK(0.0, field_norms(&solver->flow, norms));
}

/* ---- surface integral of the pressure ---- */

/* The box over whose surface the pressure is integrated lies inside the cube: it spares one layer
 * on each side, and one more at the end of the second and the start of the third axis. */
typedef struct {
  int from, to; /* both inside, in the rank's box; to < from when nothing is */
  bool starts, ends; /* whether the first and last of the whole range are here */
} Range;

static Range integrated(const Solver *solver, int axis)
{
  const Box *box = &solver->box;
  int first = axis == 2 ? 2 : 1;
  int last = solver->flow.points - (axis == 1 ? 3 : 2);
  int begin = first - box->first[axis], end = last - box->first[axis];
  Range range = {begin > 0 ? begin : 0, end < box->count[axis] ? end : box->count[axis] - 1,
                 begin >= 0 && begin < box->count[axis], end >= 0 && end < box->count[axis]};
  return range;
}

/* Pressure on the rank's part of a face of that box, with one point of the neighbours around. */
typedef struct {
  int axes[2]; /* in the face */
  int width;
  double *values;
} Face;

static double *face_at(const Face *face, int a, int b)
{
  return face->values + (b + 1) * face->width + a + 1;
}

static Face make_face(const Solver *solver, int a, int b)
{
  const Box *box = &solver->box;
  Face face = {.axes = {a, b}, .width = box->count[a] + 2};
  size_t points = (size_t)face.width * (size_t)(box->count[b] + 2);
  face.values = app_allocate(points, sizeof(double));
  HAMTUNE_BLOCK(0.0, memset(face.values, 0, points * sizeof(double)));
  return face;
}

static double pressure(const double *state)
{
  return FLOW_C2 * (state[ENERGY] - flow_motion(state).kinetic);
}

/* Finds the pressure of the points in both ranges, `at` on the third axis. */
static void fill_face(const Solver *solver, Face *face, int axis, int at)
{
  const Box *box = &solver->box;
  Range across = integrated(solver, face->axes[0]), up = integrated(solver, face->axes[1]);
  const double *plane = solver->u + box_at(box, 0, 0, 0) + at * box->stride[axis];
  for (int b = up.from; b <= up.to; b++) {
    for (int a = across.from; a <= across.to; a++)
      *face_at(face, a, b) =
          pressure(plane + a * box->stride[face->axes[0]] + b * box->stride[face->axes[1]]);
  }
}

/* Moves a line of the faces: all points from `from` to `to`, `at` on the axis. */
static void copy_lines(Face *const *faces, int count, int axis, int at, int from, int to,
                       double *buffer, bool out)
{
  for (int f = 0; f < count; f++) {
    bool along = faces[f]->axes[0] == axis;
    for (int s = from; s <= to; s++, buffer++) {
      double *value = along ? face_at(faces[f], at, s) : face_at(faces[f], s, at);
      *(out ? buffer : value) = *(out ? value : buffer);
    }
  }
}

/* Fills the points after the end of the rank's box along an axis from the neighbour there. */
static void extend_faces(Solver *solver, Face *const *faces, int count, int axis, int from, int to)
{
  Range range = integrated(solver, axis);
  const int values = count * (to - from + 1), end = solver->box.count[axis];
  if (range.to < range.from)
    return;
  if (!range.ends) {
    MPI_Request request;
    MPI_Irecv(solver->receive, values, MPI_DOUBLE, solver->neighbour[axis][HIGH], TAG_DOWN,
              MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    HAMTUNE_BLOCK(0.0, copy_lines(faces, count, axis, end, from, to, solver->receive, false));
  }
  if (!range.starts) {
    HAMTUNE_BLOCK(0.0, copy_lines(faces, count, axis, 0, from, to, solver->send, true));
    MPI_Send(solver->send, values, MPI_DOUBLE, solver->neighbour[axis][LOW], TAG_DOWN,
             MPI_COMM_WORLD);
  }
}

/* Sum of the corners of all squares that start in the rank's part of a face. */
static double sum_corners(const Solver *solver, const Face *face)
{
  Range across = integrated(solver, face->axes[0]), up = integrated(solver, face->axes[1]);
  double sum = 0.0;
  for (int b = up.from; b <= up.to - up.ends; b++) {
    for (int a = across.from; a <= across.to - across.ends; a++)
      sum += *face_at(face, a, b) + *face_at(face, a + 1, b) + *face_at(face, a, b + 1) +
             *face_at(face, a + 1, b + 1);
  }
  return sum;
}

/* Integral over both faces across an axis. Ranks that hold none of them add nothing. The third
 * axis, which is not cut, has both faces everywhere and exchanges them together. */
static double integrate_across(Solver *solver, int axis)
{
  const Box *box = &solver->box;
  const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  const Range range = integrated(solver, axis);
  Face low = make_face(solver, a, b), high = make_face(solver, a, b);
  Face *const faces[2] = {&low, &high};
  const bool here[2] = {range.starts, range.ends};
  double sum = 0.0, total;
  for (int f = 0; f < 2; f++) {
    if (here[f])
      HAMTUNE_BLOCK(0.0, fill_face(solver, faces[f], axis, f == LOW ? range.from : range.to));
  }
  if (axis == 2) {
    extend_faces(solver, faces, 2, 1, 0, box->count[0] - 1);
    extend_faces(solver, faces, 2, 0, -1, box->count[1]);
  } else {
    for (int f = 0; f < 2; f++) {
      if (here[f])
        extend_faces(solver, faces + f, 1, a, 0, box->count[2] - 1);
    }
  }
  HAMTUNE_BLOCK(20.0 * 2.0 * box->count[a] * box->count[b],
                sum = sum_corners(solver, &low) + sum_corners(solver, &high));
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  free(low.values);
  free(high.values);
  double cells = solver->flow.points - 1;
  return HAMTUNE_DECLARED ? 0.0 : total / (cells * cells);
}

static double integrate_surface(Solver *solver)
{
  double sum = 0.0;
  for (int axis = AXES - 1; axis >= 0; axis--)
    sum += integrate_across(solver, axis);
  return 0.25 * sum;
}

/* ---- the benchmark ---- */

/* Rank 0 tells the others the parameters of the run one by one, as NPB does after reading them:
 * print level, norm interval, iterations; step, relaxation, five tolerances; extents; timers. */
static void broadcast_parameters(const Problem *problem, int iterations)
{
  int before[3] = {1, iterations, iterations};
  double step = problem->step, relaxation = RELAXATION;
  double tolerances[COMPONENTS] = {1e-8, 1e-8, 1e-8, 1e-8, 1e-8};
  int after[4] = {problem->points, problem->points, problem->points, 0};
  for (int i = 0; i < 3; i++)
    MPI_Bcast(&before[i], 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&step, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&relaxation, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(tolerances, COMPONENTS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++)
    MPI_Bcast(&after[i], 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* The largest square grid of ranks that leaves each enough points. */
static int most_ranks(int points)
{
  int width = 1;
  while (points / (2 * width) >= SHORTEST)
    width *= 2;
  return width * width;
}

static int run(const Problem *problem, int iterations, int rank, int ranks)
{
  broadcast_parameters(problem, iterations);
  Solver solver = make_solver(problem, iterations, rank, ranks);
  double residual[COMPONENTS], error[COMPONENTS];
  start_afresh(&solver);
  find_forcing(&solver);

  /* One untimed iteration touches everything; the timed ones start afresh. */
  iterate(&solver, false, residual);
  start_afresh(&solver);
  double slowest = iterate(&solver, true, residual);
  find_error(&solver, error);
  double integral = integrate_surface(&solver);

  free_solver(&solver);
  if (rank != 0)
    return APP_OK;
  bool verified = flow_agrees(residual, problem->residual, COMPONENTS) &&
                  flow_agrees(error, problem->error, COMPONENTS) &&
                  flow_agrees(&integral, &problem->integral, 1);
  AppResult result = {"lu", problem->name, ranks, slowest,
                      iterations * official_operations(problem->points), verified};
  return iterations == problem->iterations ? app_report(&result) : app_report_unknown(&result);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks, iterations;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int index = app_class_and_iterations(argc, argv, classes, &iterations);
  if (index < 0)
    return app_wrong_use("lu", "needs one class of S, W, A, B, C (usage: lu CLASS [ITERATIONS])");
  const Problem *problem = &problems[index];
  int limit = most_ranks(problem->points);
  if (app_log2(ranks) < 0 || ranks > limit)
    return app_wrong_use("lu", "class %s needs a power of two of ranks up to %d, not %d",
                         problem->name, limit, ranks);
  int status = run(problem, iterations > 0 ? iterations : problem->iterations, rank, ranks);
  MPI_Finalize();
  return status;
}
