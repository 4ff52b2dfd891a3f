#include "adi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../hamtune_app.h"
#include "../application.h"

enum {
  SHORTEST = 3, /* points of a cell along an axis */
  LOW = 0,
  HIGH = 1,
  FACES = 2 * AXES,
  /* Costs that both programs have, in the measure of AdiMethod. */
  RATES_COST = 437,
  UPDATE_COST = 5
};

static const char classes[] = "SWABC";

typedef struct {
  const AdiMethod *method;
  Flow flow;
  int rank, ranks;
  int iterations;
  int side;                  /* cells along a side of the cube, and cells of a rank */
  AdiCell *cells;            /* in the order of the third axis */
  int neighbour[AXES][2];    /* the same for all cells */
  MPI_Comm setup, sweep, faces;
  double *send[FACES], *receive[FACES]; /* one pair an axis and side: axis * 2 + side */
  int face_values[FACES];
  double unit;               /* declared operations for one counted */
} Adi;

/* ---- the multi-partition ---- */

/* The square root of a square number, else 0. */
static int square_root(int number)
{
  int root = 1;
  while (root * root < number)
    root++;
  return root * root == number ? root : 0;
}

static int wrap(int index, int side)
{
  return (index + side) % side;
}

/* The cell of each layer of the third axis lies one further along the first and one back along the
 * second. */
static void place_cells(Adi *adi)
{
  const int side = adi->side, column = adi->rank % side, row = adi->rank / side;
  adi->cells = app_allocate((size_t)side, sizeof(AdiCell));
  for (int c = 0; c < side; c++) {
    int place[AXES] = {wrap(column + c, side), wrap(row - c, side), c};
    int first[AXES], count[AXES];
    for (int axis = 0; axis < AXES; axis++) {
      AppRange range = app_cut(adi->flow.points, side, place[axis]);
      first[axis] = range.first;
      count[axis] = range.count;
      adi->cells[c].place[axis] = place[axis];
    }
    adi->cells[c].box = box_make(&adi->flow, first, count);
  }
  for (int to = LOW; to <= HIGH; to++) {
    int step = to == HIGH ? 1 : -1;
    adi->neighbour[0][to] = wrap(column + step, side) + side * row;
    adi->neighbour[1][to] = column + side * wrap(row + step, side);
    adi->neighbour[2][to] = wrap(column - step, side) + side * wrap(row + step, side);
  }
}

static void allocate_cells(Adi *adi)
{
  for (int c = 0; c < adi->side; c++) {
    AdiCell *cell = &adi->cells[c];
    cell->u = field_allocate(&cell->box);
    cell->r = field_allocate(&cell->box);
    cell->forcing = field_allocate(&cell->box);
    cell->factors =
        app_allocate(cell->box.volume * (size_t)adi->method->factor_values, sizeof(double));
  }
}

/* The rank's cell in a layer across an axis. */
static AdiCell *cell_of_layer(const Adi *adi, int axis, int layer)
{
  int c = 0;
  while (adi->cells[c].place[axis] != layer)
    c++;
  return &adi->cells[c];
}

static bool has_neighbour(const Adi *adi, const AdiCell *cell, int axis, int side)
{
  return cell->place[axis] != (side == HIGH ? adi->side - 1 : 0);
}

static int face_points(const Box *box, int axis)
{
  return box->count[(axis + 1) % AXES] * box->count[(axis + 2) % AXES];
}

/* Points of a layer of the largest cell, with one more row each way where NPB pads messages. */
static int largest_layer(const Adi *adi)
{
  int longest = adi->flow.points / adi->side + 1;
  return longest * longest;
}

static void allocate_messages(Adi *adi)
{
  int largest = adi->method->forward_values * largest_layer(adi);
  for (int face = 0; face < FACES; face++) {
    int values = 0;
    for (int c = 0; c < adi->side; c++) {
      if (has_neighbour(adi, &adi->cells[c], face / 2, face % 2))
        values += HALO * COMPONENTS * face_points(&adi->cells[c].box, face / 2);
    }
    adi->face_values[face] = values;
    size_t room = (size_t)(values > largest ? values : largest);
    adi->send[face] = app_allocate(room, sizeof(double));
    adi->receive[face] = app_allocate(room, sizeof(double));
  }
}

static Adi make_adi(const AdiMethod *method, const AdiProblem *problem, int iterations)
{
  Adi adi = {.method = method, .iterations = iterations};
  MPI_Comm_rank(MPI_COMM_WORLD, &adi.rank);
  /* NPB leaves surplus ranks out with a split; here all take part. */
  MPI_Comm_split(MPI_COMM_WORLD, 0, adi.rank, &adi.setup);
  MPI_Comm_size(adi.setup, &adi.ranks);
  MPI_Comm_dup(adi.setup, &adi.sweep);
  MPI_Comm_dup(adi.setup, &adi.faces);
  adi.flow = flow_make(problem->points, problem->step);
  adi.side = square_root(adi.ranks);
  double counted = RATES_COST + UPDATE_COST + method->preparation_cost;
  for (int axis = 0; axis < AXES; axis++)
    counted += method->assembly_cost + method->elimination_cost + method->substitution_cost +
               method->finish_cost[axis];
  double inner = problem->points - 2;
  adi.unit = method->official_operations(problem->points) / (inner * inner * inner * counted);
  return adi;
}

static void free_adi(Adi *adi)
{
  for (int c = 0; c < adi->side; c++) {
    free(adi->cells[c].u);
    free(adi->cells[c].r);
    free(adi->cells[c].forcing);
    free(adi->cells[c].factors);
  }
  free(adi->cells);
  for (int face = 0; face < FACES; face++) {
    free(adi->send[face]);
    free(adi->receive[face]);
  }
  MPI_Comm_free(&adi->faces);
  MPI_Comm_free(&adi->sweep);
  MPI_Comm_free(&adi->setup);
}

int adi_lines(const Box *box, int axis)
{
  int across = (axis + 1) % AXES, up = (axis + 2) % AXES;
  return (box->inner_to[across] - box->inner_from[across]) *
         (box->inner_to[up] - box->inner_from[up]);
}

AdiLine adi_line(const Box *box, int axis, int number)
{
  int across = (axis + 1) % AXES, up = (axis + 2) % AXES;
  int width = box->inner_to[across] - box->inner_from[across];
  int a = box->inner_from[across] + number % width, b = box->inner_from[up] + number / width;
  AdiLine line = {box_at(box, 0, 0, 0) + a * box->stride[across] + b * box->stride[up],
                  box->stride[axis], box->inner_from[axis], box->inner_to[axis]};
  return line;
}

/* Operations to declare for a cell at a counted cost a point. */
static double cell_cost(const Adi *adi, const AdiCell *cell, double counted)
{
  return adi->unit * counted * box_inner_points(&cell->box);
}

/* ---- rates of change ---- */

/* The layers that all cells have at one side go into one message, cell by cell. */
static void pack_faces(Adi *adi, int axis, int side)
{
  double *buffer = adi->send[2 * axis + side];
  for (int c = 0; c < adi->side; c++) {
    const AdiCell *cell = &adi->cells[c];
    int from = side == HIGH ? cell->box.count[axis] - HALO : 0;
    if (has_neighbour(adi, cell, axis, side))
      buffer += field_pack(&cell->box, cell->u, axis, from, HALO, buffer);
  }
}

static void unpack_faces(Adi *adi, int axis, int side)
{
  const double *buffer = adi->receive[2 * axis + side];
  for (int c = 0; c < adi->side; c++) {
    AdiCell *cell = &adi->cells[c];
    int from = side == HIGH ? cell->box.count[axis] : -HALO;
    if (has_neighbour(adi, cell, axis, side))
      buffer += field_unpack(&cell->box, cell->u, axis, from, HALO, buffer);
  }
}

/* Swaps the faces of all cells with the six neighbours at once. Tags tell the direction of travel:
 * on few ranks one neighbour may be several. */
static void copy_faces(Adi *adi)
{
  MPI_Request requests[2 * FACES];
  MPI_Status statuses[2 * FACES];
  if (adi->ranks == 1)
    return;
  int count = 0;
  for (int axis = 0; axis < AXES; axis++) {
    for (int side = HIGH; side >= LOW; side--) {
      int face = 2 * axis + side, travel = 2 * axis + !side;
      MPI_Irecv(adi->receive[face], adi->face_values[face], MPI_DOUBLE,
                adi->neighbour[axis][side], travel, adi->faces, &requests[count++]);
      HAMTUNE_BLOCK(0.0, pack_faces(adi, axis, side));
    }
  }
  for (int axis = 0; axis < AXES; axis++) {
    for (int side = HIGH; side >= LOW; side--) {
      int face = 2 * axis + side;
      MPI_Isend(adi->send[face], adi->face_values[face], MPI_DOUBLE, adi->neighbour[axis][side],
                face, adi->faces, &requests[count++]);
    }
  }
  MPI_Waitall(count, requests, statuses);
  for (int face = 0; face < FACES; face++)
    HAMTUNE_BLOCK(0.0, unpack_faces(adi, face / 2, face % 2));
}

static void add_all_fluxes(const Flow *flow, const Box *box, const double *u, double *r)
{
  for (int axis = 0; axis < AXES; axis++)
    field_add_fluxes(flow, box, axis, u, r);
}

static void find_cell_rates(const Flow *flow, AdiCell *cell)
{
  field_start_rates(&cell->box, cell->forcing, cell->r);
  add_all_fluxes(flow, &cell->box, cell->u, cell->r);
  field_scale(&cell->box, flow->step, cell->r);
}

static void find_rates(Adi *adi)
{
  copy_faces(adi);
  for (int c = 0; c < adi->side; c++)
    HAMTUNE_BLOCK(cell_cost(adi, &adi->cells[c], RATES_COST),
                  find_cell_rates(&adi->flow, &adi->cells[c]));
}

/* The forcing term cancels the rates of change of the exact solution, which every rank knows beyond
 * its cells too: no messages. `u` holds that solution meanwhile. */
static void find_cell_forcing(const Flow *flow, AdiCell *cell)
{
  field_fill_exact(flow, &cell->box, HALO, cell->u);
  field_start_rates(&cell->box, NULL, cell->forcing);
  add_all_fluxes(flow, &cell->box, cell->u, cell->forcing);
  field_scale(&cell->box, -1.0, cell->forcing);
}

static void start_cell_afresh(const Flow *flow, AdiCell *cell)
{
  field_clear(&cell->box, cell->u);
  field_fill_initial(flow, &cell->box, cell->u);
}

static void set_up(Adi *adi)
{
  for (int c = 0; c < adi->side; c++) {
    AdiCell *cell = &adi->cells[c];
    HAMTUNE_BLOCK(box_points(&cell->box) * FLOW_EXACT_FLOPS + cell_cost(adi, cell, RATES_COST),
                  find_cell_forcing(&adi->flow, cell));
  }
}

static void start_afresh(Adi *adi)
{
  for (int c = 0; c < adi->side; c++) {
    AdiCell *cell = &adi->cells[c];
    HAMTUNE_BLOCK(box_points(&cell->box) * FLOW_INITIAL_FLOPS,
                  start_cell_afresh(&adi->flow, cell));
  }
}

/* ---- sweeps ---- */

/* The messages of a sweep: one to the neighbour ahead, one from the neighbour behind. */
typedef struct {
  int values; /* doubles of a line */
  int source, target;
  MPI_Request requests[2]; /* of the receive and of the send before */
} Relay;

static int relay_count(const Adi *adi, const AdiCell *cell, int axis, int values)
{
  return values * (adi->method->padded_messages ? largest_layer(adi)
                                                 : adi_lines(&cell->box, axis));
}

static void relay_receive(Adi *adi, const AdiCell *cell, int axis, Relay *relay)
{
  MPI_Irecv(adi->receive[0], relay_count(adi, cell, axis, relay->values), MPI_DOUBLE,
            relay->source, relay->values, adi->sweep, &relay->requests[0]);
}

/* Every receive comes with the end of the send before. */
static void relay_wait(const Adi *adi, Relay *relay)
{
  if (adi->method->waits_together) {
    MPI_Status statuses[2];
    MPI_Waitall(2, relay->requests, statuses);
    return;
  }
  MPI_Wait(&relay->requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&relay->requests[0], MPI_STATUS_IGNORE);
}

static void relay_send(Adi *adi, const AdiCell *cell, int axis, Relay *relay)
{
  MPI_Isend(adi->send[0], relay_count(adi, cell, axis, relay->values), MPI_DOUBLE, relay->target,
            relay->values, adi->sweep, &relay->requests[1]);
}

static void eliminate_forward(Adi *adi, int axis)
{
  const AdiMethod *method = adi->method;
  Relay relay = {method->forward_values, adi->neighbour[axis][LOW], adi->neighbour[axis][HIGH],
                 {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
  for (int layer = 0; layer < adi->side; layer++) {
    AdiCell *cell = cell_of_layer(adi, axis, layer);
    const bool first = layer == 0, last = layer == adi->side - 1;
    if (!first)
      relay_receive(adi, cell, axis, &relay);
    /* What needs no message is computed while one travels, if the method does so. */
    hamtune_compute(cell_cost(adi, cell, method->assembly_cost));
    if (!first)
      relay_wait(adi, &relay);
    HAMTUNE_BLOCK(cell_cost(adi, cell, method->elimination_cost),
                  method->eliminate(&adi->flow, cell, axis, first ? NULL : adi->receive[0],
                                    last ? NULL : adi->send[0]));
    if (!last)
      relay_send(adi, cell, axis, &relay);
  }
}

static void finish_cell(Adi *adi, int axis, AdiCell *cell)
{
  if (adi->method->finish != NULL)
    HAMTUNE_BLOCK(cell_cost(adi, cell, adi->method->finish_cost[axis]),
                  adi->method->finish(cell, axis));
}

static void substitute_backward(Adi *adi, int axis)
{
  const AdiMethod *method = adi->method;
  Relay relay = {method->backward_values, adi->neighbour[axis][HIGH], adi->neighbour[axis][LOW],
                 {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
  AdiCell *before = NULL;
  for (int layer = adi->side - 1; layer >= 0; layer--) {
    AdiCell *cell = cell_of_layer(adi, axis, layer);
    if (before != NULL) {
      relay_receive(adi, cell, axis, &relay);
      finish_cell(adi, axis, before); /* while the message travels */
      relay_wait(adi, &relay);
    }
    HAMTUNE_BLOCK(cell_cost(adi, cell, method->substitution_cost),
                  method->substitute(&adi->flow, cell, axis,
                                     before == NULL ? NULL : adi->receive[0],
                                     layer == 0 ? NULL : adi->send[0]));
    if (layer > 0)
      relay_send(adi, cell, axis, &relay);
    before = cell;
  }
  finish_cell(adi, axis, before);
}

/* ---- the method ---- */

static void step(Adi *adi)
{
  const AdiMethod *method = adi->method;
  find_rates(adi);
  if (method->prepare != NULL) {
    for (int c = 0; c < adi->side; c++)
      HAMTUNE_BLOCK(cell_cost(adi, &adi->cells[c], method->preparation_cost),
                    method->prepare(&adi->cells[c], 0));
  }
  for (int axis = 0; axis < AXES; axis++) {
    eliminate_forward(adi, axis);
    substitute_backward(adi, axis);
  }
  for (int c = 0; c < adi->side; c++) {
    AdiCell *cell = &adi->cells[c];
    HAMTUNE_BLOCK(cell_cost(adi, cell, UPDATE_COST), field_add(&cell->box, 1.0, cell->r, cell->u));
  }
}

static void sum_over_ranks(const Adi *adi, double sums[COMPONENTS])
{
  double mine[COMPONENTS];
  memcpy(mine, sums, sizeof mine);
  MPI_Allreduce(mine, sums, COMPONENTS, MPI_DOUBLE, MPI_SUM, adi->setup);
  HAMTUNE_BLOCK(0.0, field_norms(&adi->flow, sums));
}

static void find_error(Adi *adi, double norms[COMPONENTS])
{
  memset(norms, 0, COMPONENTS * sizeof(double));
  for (int c = 0; c < adi->side; c++) {
    const AdiCell *cell = &adi->cells[c];
    HAMTUNE_BLOCK(box_inner_points(&cell->box) * (FLOW_EXACT_FLOPS + 15.0),
                  field_add_squared_errors(&adi->flow, &cell->box, cell->u, norms));
  }
  sum_over_ranks(adi, norms);
}

static void find_residual(Adi *adi, double norms[COMPONENTS])
{
  memset(norms, 0, COMPONENTS * sizeof(double));
  find_rates(adi);
  for (int c = 0; c < adi->side; c++) {
    const AdiCell *cell = &adi->cells[c];
    HAMTUNE_BLOCK(box_inner_points(&cell->box) * 2.0 * COMPONENTS,
                  field_add_squares(&cell->box, cell->r, norms));
  }
  sum_over_ranks(adi, norms);
  for (int m = 0; m < COMPONENTS; m++)
    norms[m] /= adi->flow.step; /* the rates were scaled by it */
}

/* ---- the benchmark ---- */

/* Rank 0 tells the others the parameters of the run one by one, as NPB does after reading them:
 * iterations, time step, extents, what only one of the programs has, timers. */
static void broadcast_parameters(const Adi *adi)
{
  int iterations = adi->iterations, off = 0;
  double time_step = adi->flow.step;
  int extents[AXES] = {adi->flow.points, adi->flow.points, adi->flow.points};
  MPI_Bcast(&iterations, 1, MPI_INT, 0, adi->setup);
  MPI_Bcast(&time_step, 1, MPI_DOUBLE, 0, adi->setup);
  MPI_Bcast(extents, AXES, MPI_INT, 0, adi->setup);
  for (int i = 0; i < adi->method->extra_parameters + 1; i++)
    MPI_Bcast(&off, 1, MPI_INT, 0, adi->setup);
}

static double iterate(Adi *adi)
{
  MPI_Barrier(adi->setup);
  double start = MPI_Wtime();
  for (int iteration = 0; iteration < adi->iterations; iteration++) {
    app_iteration_begins();
    step(adi);
  }
  app_iterations_end();
  return MPI_Wtime() - start;
}

static int run(const AdiMethod *method, const AdiProblem *problem, int iterations)
{
  Adi adi = make_adi(method, problem, iterations);
  broadcast_parameters(&adi);
  place_cells(&adi);
  allocate_cells(&adi);
  allocate_messages(&adi);
  set_up(&adi);

  /* One untimed step touches everything; the timed ones start afresh. */
  start_afresh(&adi);
  step(&adi);
  start_afresh(&adi);
  double elapsed = iterate(&adi), slowest = 0.0;
  double error[COMPONENTS], residual[COMPONENTS];
  find_error(&adi, error);
  find_residual(&adi, residual);
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, adi.setup);
  MPI_Barrier(MPI_COMM_WORLD);

  int rank = adi.rank;
  AppResult result = {method->name, problem->name, adi.ranks, slowest,
                      iterations * method->official_operations(problem->points),
                      flow_agrees(residual, problem->residual, COMPONENTS) &&
                          flow_agrees(error, problem->error, COMPONENTS)};
  free_adi(&adi);
  if (rank != 0)
    return APP_OK;
  return iterations == problem->iterations ? app_report(&result) : app_report_unknown(&result);
}

int adi_main(const AdiMethod *method, int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int ranks, iterations;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int index = app_class_and_iterations(argc, argv, classes, &iterations);
  if (index < 0)
    return app_wrong_use(method->name, "needs one class of S, W, A, B, C (usage: %s CLASS "
                         "[ITERATIONS])", method->name);
  const AdiProblem *problem = &method->problems[index];
  int side = square_root(ranks), limit = problem->points / SHORTEST;
  if (side == 0 || side > limit)
    return app_wrong_use(method->name, "class %s needs a square number of ranks up to %d, not %d",
                         problem->name, limit * limit, ranks);
  int status = run(method, problem, iterations > 0 ? iterations : problem->iterations);
  MPI_Finalize();
  return status;
}
