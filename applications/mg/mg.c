/* MG: V-cycles of a multigrid method for a discrete Poisson equation on a periodic cube.
 *
 * Specification: NAS Parallel Benchmarks, RNR-94-007, kernel MG; distribution over a grid of
 * ranks and message pattern as in the MPI version of NPB 3.3.1. See docs/applications/mg.md. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/npb_random.h"
#include "../hamtune_app.h"

enum { AXES = 3, MAX_LEVELS = 8, CHARGES = 10, LONGEST_ROW = (1 << MAX_LEVELS) + 2 };

/* The direction in which a message travels along an axis. */
enum { DOWN, UP, DIRECTIONS };

static const double TOLERANCE = 1e-8; /* of the relative error of the norm */

typedef struct {
  const char *name;
  int levels; /* the finest cube has 2^levels points a side */
  int iterations;
  double smoother[3]; /* weights of a point, its faces' and its edges' neighbours */
  double norm;        /* NPB's verification value */
} Problem;

static const Problem problems[] = {
    {"S", 5, 4, {-3.0 / 8, 1.0 / 32, -1.0 / 64}, 0.5307707005734e-04},
    {"W", 7, 4, {-3.0 / 8, 1.0 / 32, -1.0 / 64}, 0.6467329375339e-05},
    {"A", 8, 4, {-3.0 / 8, 1.0 / 32, -1.0 / 64}, 0.2433365309069e-05},
    {"B", 8, 20, {-3.0 / 17, 1.0 / 33, -1.0 / 61}, 0.1800564401355e-05},
};

/* The rank's brick of one level, with a layer of its neighbours' points on every side. Axis 0 is
 * contiguous in memory. Where a level has fewer points than the axis has ranks, some bricks are
 * empty ("dead"); their ranks still need the coarse correction, which they take from a neighbour
 * that gives. */
typedef struct {
  int extent[AXES]; /* points and both layers */
  bool dead;
  bool give[AXES];
  bool take[AXES];
  int neighbor[AXES][DIRECTIONS];
  double *u; /* correction; on the finest level the solution */
  double *r; /* residual */
} Level;

typedef struct {
  const Problem *problem;
  int rank;
  int ranks;
  int top; /* index of the finest level; 0 is the coarsest, of 2 points a side */
  Level level[MAX_LEVELS];
  int first[AXES]; /* of the rank's points on the finest level */
  double *v;       /* right-hand side, finest level */
  double *outgoing;
  double *incoming[DIRECTIONS];
} Multigrid;

/* A brick of a level's brick: [low, high) along every axis. */
typedef struct {
  int low[AXES];
  int high[AXES];
} Slab;

static size_t volume(const Level *level)
{
  return (size_t)level->extent[0] * (size_t)level->extent[1] * (size_t)level->extent[2];
}

/* The row of points along axis 0 that crosses (i2, i3). */
static double *row_of(const Level *level, double *values, int i2, int i3)
{
  return values + ((size_t)i3 * (size_t)level->extent[1] + (size_t)i2) * (size_t)level->extent[0];
}

/* ---- distribution ---- */

/* Ranks along each axis: the factors of two are dealt out so that the last axis gets most. */
static void cut_ranks(int ranks, int cut[AXES])
{
  int exponent = app_log2(ranks);
  int first = exponent / 3;
  int second = (exponent - first) / 2;
  cut[0] = 1 << first;
  cut[1] = 1 << second;
  cut[2] = 1 << (exponent - first - second);
}

/* Points of a side that fall to part `index` of `parts`. */
static int share(int side, int parts, int index)
{
  return (index + 1) * side / parts - index * side / parts;
}

/* Where the rank stands along one axis while the levels are walked from fine to coarse. */
typedef struct {
  int ranks;
  int index;
  int stride; /* distance to the nearest rank that still holds points */
} Place;

static void place_along_axis(const Problem *problem, Place *place, int axis, Level *level,
                             int index, int *neighbor_index)
{
  int side = 1 << (index + 1);
  int mine = share(side, place->ranks, place->index);
  int next = share(side, place->ranks, place->index + place->stride);
  level->extent[axis] = mine + 2;
  if (mine == 0 || next == 0)
    place->stride *= 2;
  if (index + 1 < problem->levels) {
    Level *finer = level + 1;
    finer->give[axis] = next == 0 && mine == 1;
    finer->take[axis] = next == 1 && mine == 0;
  }
  int mask = place->ranks - 1;
  neighbor_index[UP] = (place->index + place->stride) & mask;
  neighbor_index[DOWN] = (place->index - place->stride) & mask;
}

static void place_levels(Multigrid *grid)
{
  int cut[AXES];
  cut_ranks(grid->ranks, cut);
  Place place[AXES] = {
      {cut[0], grid->rank % cut[0], 1},
      {cut[1], grid->rank / cut[0] % cut[1], 1},
      {cut[2], grid->rank / (cut[0] * cut[1]), 1},
  };
  int weight[AXES] = {1, cut[0], cut[0] * cut[1]};
  int side = 1 << grid->problem->levels;
  for (int axis = 0; axis < AXES; axis++)
    grid->first[axis] = place[axis].index * side / place[axis].ranks;
  for (int index = grid->top; index >= 0; index--) {
    Level *level = &grid->level[index];
    level->dead = false;
    for (int axis = 0; axis < AXES; axis++) {
      int neighbor_index[DIRECTIONS];
      place_along_axis(grid->problem, &place[axis], axis, level, index, neighbor_index);
      level->dead = level->dead || level->extent[axis] == 2;
      for (int direction = 0; direction < DIRECTIONS; direction++)
        level->neighbor[axis][direction] =
            grid->rank + (neighbor_index[direction] - place[axis].index) * weight[axis];
    }
  }
}

static Multigrid make_multigrid(const Problem *problem, int rank, int ranks)
{
  Multigrid grid = {
      .problem = problem, .rank = rank, .ranks = ranks, .top = problem->levels - 1};
  place_levels(&grid);
  for (int index = 0; index <= grid.top; index++) {
    Level *level = &grid.level[index];
    level->u = app_allocate(volume(level), sizeof(double));
    level->r = app_allocate(volume(level), sizeof(double));
  }
  const Level *finest = &grid.level[grid.top];
  grid.v = app_allocate(volume(finest), sizeof(double));
  size_t widest = 0;
  for (int axis = 0; axis < AXES; axis++) {
    size_t face = volume(finest) / (size_t)finest->extent[axis];
    widest = face > widest ? face : widest;
  }
  grid.outgoing = app_allocate(2 * widest, sizeof(double));
  for (int direction = 0; direction < DIRECTIONS; direction++)
    grid.incoming[direction] = app_allocate(2 * widest, sizeof(double));
  return grid;
}

static void free_multigrid(Multigrid *grid)
{
  for (int index = 0; index <= grid->top; index++) {
    free(grid->level[index].u);
    free(grid->level[index].r);
  }
  free(grid->v);
  free(grid->outgoing);
  for (int direction = 0; direction < DIRECTIONS; direction++)
    free(grid->incoming[direction]);
}

/* ---- boundary layers ---- */

/* Planes [from, from + depth) across `axis`. Axes that were exchanged before this one already have
 * their layers, which travel along; `whole` takes every layer. */
static Slab slab_across(const Level *level, int axis, int from, int depth, bool whole)
{
  Slab slab;
  for (int other = 0; other < AXES; other++) {
    bool layers = whole || other < axis;
    slab.low[other] = layers ? 0 : 1;
    slab.high[other] = level->extent[other] - (layers ? 0 : 1);
  }
  slab.low[axis] = from;
  slab.high[axis] = from + depth;
  return slab;
}

static int slab_volume(const Slab *slab)
{
  int product = 1;
  for (int axis = 0; axis < AXES; axis++)
    product *= slab->high[axis] - slab->low[axis];
  return product;
}

static void pack(const Level *level, double *values, const Slab *slab, double *buffer)
{
  size_t count = (size_t)(slab->high[0] - slab->low[0]);
  for (int i3 = slab->low[2]; i3 < slab->high[2]; i3++)
    for (int i2 = slab->low[1]; i2 < slab->high[1]; i2++, buffer += count)
      memcpy(buffer, row_of(level, values, i2, i3) + slab->low[0], count * sizeof(double));
}

static void unpack(const Level *level, double *values, const Slab *slab, const double *buffer)
{
  size_t count = (size_t)(slab->high[0] - slab->low[0]);
  for (int i3 = slab->low[2]; i3 < slab->high[2]; i3++)
    for (int i2 = slab->low[1]; i2 < slab->high[1]; i2++, buffer += count)
      memcpy(row_of(level, values, i2, i3) + slab->low[0], buffer, count * sizeof(double));
}

static int tag_of(int axis, int direction)
{
  return 10 * (axis + 1) + direction;
}

static MPI_Request expect(Multigrid *grid, const Level *level, int axis, int direction, int count)
{
  MPI_Request request;
  int sender = level->neighbor[axis][direction == UP ? DOWN : UP];
  MPI_Irecv(grid->incoming[direction], count, MPI_DOUBLE, sender, tag_of(axis, direction),
            MPI_COMM_WORLD, &request);
  return request;
}

static void send_slab(Multigrid *grid, const Level *level, double *values, int axis, int direction,
                      const Slab *slab)
{
  HAMTUNE_BLOCK(0.0, pack(level, values, slab, grid->outgoing));
  MPI_Send(grid->outgoing, slab_volume(slab), MPI_DOUBLE, level->neighbor[axis][direction],
           tag_of(axis, direction), MPI_COMM_WORLD);
}

static void receive_slab(Multigrid *grid, const Level *level, double *values, int direction,
                         const Slab *slab, MPI_Request *request)
{
  MPI_Wait(request, MPI_STATUS_IGNORE);
  HAMTUNE_BLOCK(0.0, unpack(level, values, slab, grid->incoming[direction]));
}

/* The layers of one axis are filled with the outermost points of the neighbours. */
static void exchange_axis(Multigrid *grid, const Level *level, double *values, int axis)
{
  int last = level->extent[axis] - 1;
  Slab low_layer = slab_across(level, axis, 0, 1, false);
  Slab low_points = slab_across(level, axis, 1, 1, false);
  Slab high_points = slab_across(level, axis, last - 1, 1, false);
  Slab high_layer = slab_across(level, axis, last, 1, false);
  if (grid->ranks == 1) {
    HAMTUNE_BLOCK(0.0, {
      pack(level, values, &high_points, grid->outgoing);
      unpack(level, values, &low_layer, grid->outgoing);
      pack(level, values, &low_points, grid->outgoing);
      unpack(level, values, &high_layer, grid->outgoing);
    });
    return;
  }
  int count = slab_volume(&low_layer);
  MPI_Request from_above = expect(grid, level, axis, DOWN, count);
  MPI_Request from_below = expect(grid, level, axis, UP, count);
  send_slab(grid, level, values, axis, UP, &high_points);
  send_slab(grid, level, values, axis, DOWN, &low_points);
  receive_slab(grid, level, values, DOWN, &high_layer, &from_above);
  receive_slab(grid, level, values, UP, &low_layer, &from_below);
}

/* Brings the boundary layers of a level up to date; a dead brick is set to zero. */
static void exchange_layers(Multigrid *grid, const Level *level, double *values)
{
  if (level->dead) {
    HAMTUNE_BLOCK(0.0, memset(values, 0, volume(level) * sizeof(double)));
    return;
  }
  for (int axis = 0; axis < AXES; axis++)
    exchange_axis(grid, level, values, axis);
}

/* A brick of one point whose coarse point lives elsewhere gets its interpolated values, layers
 * included, from both neighbours: one plane from above, two from below. */
static void take_correction(Multigrid *grid, const Level *level, double *values, int axis)
{
  Slab above = slab_across(level, axis, 2, 1, true);
  Slab below = slab_across(level, axis, 0, 2, true);
  MPI_Request from_above = expect(grid, level, axis, DOWN, slab_volume(&above));
  MPI_Request from_below = expect(grid, level, axis, UP, slab_volume(&below));
  receive_slab(grid, level, values, DOWN, &above, &from_above);
  receive_slab(grid, level, values, UP, &below, &from_below);
}

static void give_correction(Multigrid *grid, const Level *level, double *values, int axis)
{
  int last = level->extent[axis] - 1;
  Slab up = slab_across(level, axis, last - 1, 2, true);
  Slab down = slab_across(level, axis, 1, 1, true);
  send_slab(grid, level, values, axis, UP, &up);
  send_slab(grid, level, values, axis, DOWN, &down);
}

static void spread_correction(Multigrid *grid, const Level *level, double *values)
{
  for (int axis = 0; axis < AXES; axis++) {
    if (level->take[axis])
      take_correction(grid, level, values, axis);
    if (level->give[axis])
      give_correction(grid, level, values, axis);
  }
}

/* ---- stencils ---- */

/* Rows of points that a stencil updates, and their flops: sums over the four faces and the four
 * edges around a row are formed once a point of the row and its layers. */
static double stencil_flops(const Level *level, double per_point)
{
  if (level->dead)
    return 0.0;
  double rows = (double)(level->extent[1] - 2) * (level->extent[2] - 2);
  return rows * (6.0 * level->extent[0] + per_point * (level->extent[0] - 2));
}

/* Sums of the values at the four face neighbours and the four edge neighbours of row (i2, i3). */
static void sum_around(const Level *level, double *values, int i2, int i3, double *faces,
                       double *edges)
{
  const double *south = row_of(level, values, i2 - 1, i3);
  const double *north = row_of(level, values, i2 + 1, i3);
  const double *below = row_of(level, values, i2, i3 - 1);
  const double *above = row_of(level, values, i2, i3 + 1);
  const double *south_below = row_of(level, values, i2 - 1, i3 - 1);
  const double *north_below = row_of(level, values, i2 + 1, i3 - 1);
  const double *south_above = row_of(level, values, i2 - 1, i3 + 1);
  const double *north_above = row_of(level, values, i2 + 1, i3 + 1);
  for (int i = 0; i < level->extent[0]; i++) {
    faces[i] = south[i] + north[i] + below[i] + above[i];
    edges[i] = south_below[i] + north_below[i] + south_above[i] + north_above[i];
  }
}

/* u = u + S r with the smoother's weights. */
static void apply_smoother(const Level *level, const double weight[3])
{
  double faces[LONGEST_ROW], edges[LONGEST_ROW];
  for (int i3 = 1; i3 < level->extent[2] - 1; i3++) {
    for (int i2 = 1; i2 < level->extent[1] - 1; i2++) {
      sum_around(level, level->r, i2, i3, faces, edges);
      const double *r = row_of(level, level->r, i2, i3);
      double *u = row_of(level, level->u, i2, i3);
      for (int i = 1; i < level->extent[0] - 1; i++)
        u[i] += weight[0] * r[i] + weight[1] * (r[i - 1] + r[i + 1] + faces[i]) +
                weight[2] * (edges[i] + faces[i - 1] + faces[i + 1]);
    }
  }
}

static void smooth(Multigrid *grid, Level *level)
{
  HAMTUNE_BLOCK(stencil_flops(level, 10.0), {
    if (!level->dead)
      apply_smoother(level, grid->problem->smoother);
  });
  exchange_layers(grid, level, level->u);
}

/* r = v - A u; the weight of a face neighbour is zero. v and r may be the same array. */
static void apply_operator(const Level *level, double *v)
{
  const double center = -8.0 / 3.0, edge = 1.0 / 6.0, corner = 1.0 / 12.0;
  double faces[LONGEST_ROW], edges[LONGEST_ROW];
  for (int i3 = 1; i3 < level->extent[2] - 1; i3++) {
    for (int i2 = 1; i2 < level->extent[1] - 1; i2++) {
      sum_around(level, level->u, i2, i3, faces, edges);
      const double *u = row_of(level, level->u, i2, i3);
      const double *right = row_of(level, v, i2, i3);
      double *r = row_of(level, level->r, i2, i3);
      for (int i = 1; i < level->extent[0] - 1; i++)
        r[i] = right[i] - center * u[i] - edge * (edges[i] + faces[i - 1] + faces[i + 1]) -
               corner * (edges[i - 1] + edges[i + 1]);
    }
  }
}

static void find_residual(Multigrid *grid, Level *level, double *v)
{
  HAMTUNE_BLOCK(stencil_flops(level, 9.0), {
    if (!level->dead)
      apply_operator(level, v);
  });
  exchange_layers(grid, level, level->r);
}

/* ---- between levels ---- */

/* The fine index of coarse point `i` along an axis. A brick with one fine point has its coarse
 * point at the same place; longer bricks hold it at every second point. */
static int fine_index(const Level *fine, int axis, int i)
{
  return 2 * i - (fine->extent[axis] == 3 ? 1 : 0);
}

/* Restriction of the residual: weighted mean over the 27 fine points around each coarse one. */
static void restrict_residual(const Level *fine, const Level *coarse)
{
  double faces[LONGEST_ROW], edges[LONGEST_ROW];
  for (int j3 = 1; j3 < coarse->extent[2] - 1; j3++) {
    for (int j2 = 1; j2 < coarse->extent[1] - 1; j2++) {
      int i2 = fine_index(fine, 1, j2), i3 = fine_index(fine, 2, j3);
      sum_around(fine, fine->r, i2, i3, faces, edges);
      const double *r = row_of(fine, fine->r, i2, i3);
      double *s = row_of(coarse, coarse->r, j2, j3);
      for (int j1 = 1; j1 < coarse->extent[0] - 1; j1++) {
        int i = fine_index(fine, 0, j1);
        s[j1] = 0.5 * r[i] + 0.25 * (r[i - 1] + r[i + 1] + faces[i]) +
                0.125 * (faces[i - 1] + faces[i + 1] + edges[i]) +
                0.0625 * (edges[i - 1] + edges[i + 1]);
      }
    }
  }
}

static double restriction_flops(const Level *fine, const Level *coarse)
{
  if (coarse->dead)
    return 0.0;
  double rows = (double)(coarse->extent[1] - 2) * (coarse->extent[2] - 2);
  return rows * (6.0 * fine->extent[0] + 12.0 * (coarse->extent[0] - 2));
}

static void to_coarser(Multigrid *grid, int index)
{
  const Level *fine = &grid->level[index];
  Level *coarse = &grid->level[index - 1];
  HAMTUNE_BLOCK(restriction_flops(fine, coarse), {
    if (!coarse->dead)
      restrict_residual(fine, coarse);
  });
  exchange_layers(grid, coarse, coarse->r);
}

/* Adds a row of coarse values to a row of fine ones: `weight` on the coarse points, half of it to
 * the points between two of them. */
static void add_row(const Level *fine, const Level *coarse, double *u, const double *z,
                    double weight)
{
  for (int i = 0; i < coarse->extent[0] - 1; i++) {
    int even = fine_index(fine, 0, i);
    if (even >= 0)
      u[even] += weight * z[i];
    u[even + 1] += 0.5 * weight * (z[i] + z[i + 1]);
  }
}

/* Adds the trilinear interpolation of the coarse correction to the fine one. Each coarse row and
 * its three successors along the other axes feed up to four fine rows. */
static void interpolate(const Level *fine, const Level *coarse)
{
  double across[LONGEST_ROW]; /* z + successor along axis 1 */
  double upward[LONGEST_ROW]; /* z + successor along axis 2 */
  double both[LONGEST_ROW];   /* all four */
  for (int j3 = 0; j3 < coarse->extent[2] - 1; j3++) {
    int i3 = fine_index(fine, 2, j3);
    for (int j2 = 0; j2 < coarse->extent[1] - 1; j2++) {
      int i2 = fine_index(fine, 1, j2);
      const double *z = row_of(coarse, coarse->u, j2, j3);
      const double *z_across = row_of(coarse, coarse->u, j2 + 1, j3);
      const double *z_upward = row_of(coarse, coarse->u, j2, j3 + 1);
      const double *z_both = row_of(coarse, coarse->u, j2 + 1, j3 + 1);
      for (int i = 0; i < coarse->extent[0]; i++) {
        across[i] = z[i] + z_across[i];
        upward[i] = z[i] + z_upward[i];
        both[i] = across[i] + z_upward[i] + z_both[i];
      }
      if (i3 >= 0 && i2 >= 0)
        add_row(fine, coarse, row_of(fine, fine->u, i2, i3), z, 1.0);
      if (i3 >= 0)
        add_row(fine, coarse, row_of(fine, fine->u, i2 + 1, i3), across, 0.5);
      if (i2 >= 0)
        add_row(fine, coarse, row_of(fine, fine->u, i2, i3 + 1), upward, 0.5);
      add_row(fine, coarse, row_of(fine, fine->u, i2 + 1, i3 + 1), both, 0.25);
    }
  }
}

static double interpolation_flops(const Level *coarse)
{
  if (coarse->dead)
    return 0.0;
  double rows = (double)(coarse->extent[1] - 1) * (coarse->extent[2] - 1);
  return rows * (4.0 * coarse->extent[0] + 20.0 * (coarse->extent[0] - 1));
}

static void to_finer(Multigrid *grid, int index)
{
  Level *fine = &grid->level[index];
  const Level *coarse = &grid->level[index - 1];
  HAMTUNE_BLOCK(interpolation_flops(coarse), {
    if (!coarse->dead)
      interpolate(fine, coarse);
  });
  spread_correction(grid, fine, fine->u);
}

/* One V-cycle: down to the coarsest level, smooth there, and up again. */
static void v_cycle(Multigrid *grid)
{
  for (int index = grid->top; index > 0; index--)
    to_coarser(grid, index);
  for (int index = 0; index <= grid->top; index++) {
    Level *level = &grid->level[index];
    if (index < grid->top)
      HAMTUNE_BLOCK(0.0, memset(level->u, 0, volume(level) * sizeof(double)));
    if (index > 0) {
      to_finer(grid, index);
      find_residual(grid, level, index == grid->top ? grid->v : level->r);
    }
    smooth(grid, level);
  }
}

/* ---- right-hand side and norm ---- */

/* A point of the rank's finest brick and the random number drawn there. */
typedef struct {
  double number;
  int at[AXES];
} Candidate;

/* The best few candidates of a rank, best first; `sign` is 1 for the largest, -1 for the
 * smallest numbers. */
typedef struct {
  double sign;
  int count;
  Candidate best[CHARGES];
} Ranking;

static void offer(Ranking *ranking, Candidate candidate)
{
  int place = ranking->count;
  if (place == CHARGES && !(ranking->sign * candidate.number >
                            ranking->sign * ranking->best[CHARGES - 1].number))
    return;
  if (place == CHARGES)
    place--;
  else
    ranking->count++;
  for (; place > 0 && ranking->sign * candidate.number >
                          ranking->sign * ranking->best[place - 1].number;
       place--)
    ranking->best[place] = ranking->best[place - 1];
  ranking->best[place] = candidate;
}

/* Draws a number for every point, in the order of the whole cube, and ranks the rank's own. */
static void draw_candidates(const Multigrid *grid, Ranking *largest, Ranking *smallest)
{
  const Level *level = &grid->level[grid->top];
  uint64_t side = UINT64_C(1) << grid->problem->levels;
  for (int i3 = 1; i3 < level->extent[2] - 1; i3++) {
    for (int i2 = 1; i2 < level->extent[1] - 1; i2++) {
      uint64_t plane = (uint64_t)(grid->first[2] + i3 - 1);
      uint64_t line = plane * side + (uint64_t)(grid->first[1] + i2 - 1);
      uint64_t state = npb_skip(line * side + (uint64_t)grid->first[0]);
      for (int i1 = 1; i1 < level->extent[0] - 1; i1++) {
        Candidate candidate = {npb_random(&state, NPB_MULTIPLIER), {i1, i2, i3}};
        offer(largest, candidate);
        offer(smallest, candidate);
      }
    }
  }
}

/* Finds the next best candidate of all ranks and tells all where it is; returns whether it was
 * this rank's, of which it has used `used`. */
static bool claim(const Multigrid *grid, const Ranking *ranking, int used, MPI_Op operation)
{
  bool left = used < ranking->count;
  double mine = left ? ranking->best[used].number : (ranking->sign > 0.0 ? 0.0 : 1.0);
  double best;
  MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
  int where[1 + AXES] = {0}, winner[1 + AXES];
  bool won = left && best == mine;
  if (won) {
    where[0] = grid->rank;
    for (int axis = 0; axis < AXES; axis++)
      where[1 + axis] = grid->first[axis] + ranking->best[used].at[axis];
  }
  MPI_Allreduce(where, winner, 1 + AXES, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return won;
}

static void put_charges(const Level *level, double *v, const Ranking *ranking, int count)
{
  for (int i = 0; i < count; i++) {
    const int *at = ranking->best[i].at;
    row_of(level, v, at[1], at[2])[at[0]] = ranking->sign;
  }
}

/* v = +1 at the ten points with the largest random numbers, -1 at those with the smallest. */
static void make_right_hand_side(Multigrid *grid)
{
  const Level *level = &grid->level[grid->top];
  double points = (double)(level->extent[0] - 2) * (level->extent[1] - 2) * (level->extent[2] - 2);
  Ranking largest = {.sign = 1.0}, smallest = {.sign = -1.0};
  HAMTUNE_BLOCK(points * (NPB_RANDOM_FLOPS + 2.0), draw_candidates(grid, &largest, &smallest));
  MPI_Barrier(MPI_COMM_WORLD);
  int used_largest = 0, used_smallest = 0;
  for (int i = 0; i < CHARGES; i++) {
    used_largest += claim(grid, &largest, used_largest, MPI_MAX);
    used_smallest += claim(grid, &smallest, used_smallest, MPI_MIN);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  HAMTUNE_BLOCK(0.0, {
    memset(grid->v, 0, volume(level) * sizeof(double));
    put_charges(level, grid->v, &smallest, used_smallest);
    put_charges(level, grid->v, &largest, used_largest);
  });
  exchange_layers(grid, level, grid->v);
}

static void measure(const Level *level, double *values, double *squares, double *largest)
{
  for (int i3 = 1; i3 < level->extent[2] - 1; i3++) {
    for (int i2 = 1; i2 < level->extent[1] - 1; i2++) {
      const double *row = row_of(level, values, i2, i3);
      for (int i1 = 1; i1 < level->extent[0] - 1; i1++) {
        *squares += row[i1] * row[i1];
        *largest = fmax(*largest, fabs(row[i1]));
      }
    }
  }
}

/* Root mean square over the finest cube. NPB also finds the largest value, which costs a second
 * reduction and is not part of the verification. */
static double norm(const Multigrid *grid, double *values)
{
  const Level *level = &grid->level[grid->top];
  double points = (double)(level->extent[0] - 2) * (level->extent[1] - 2) * (level->extent[2] - 2);
  double squares = 0.0, largest = 0.0, all_squares, all_largest;
  HAMTUNE_BLOCK(3.0 * points, measure(level, values, &squares, &largest));
  MPI_Allreduce(&largest, &all_largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&squares, &all_squares, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double side = 1 << grid->problem->levels;
  return HAMTUNE_DECLARED ? 0.0 : sqrt(all_squares / (side * side * side));
}

/* ---- the benchmark ---- */

/* Rank 0 tells the others the parameters of the run, one number at a time, as NPB does after
 * reading them from a file: levels, iterations, three extents, eight debug switches, timers. */
static void broadcast_parameters(const Problem *problem)
{
  int side = 1 << problem->levels;
  int parameter[5] = {problem->levels, problem->iterations, side, side, side};
  int debug[8] = {0};
  int detailed_timers = 0;
  for (int i = 0; i < 5; i++)
    MPI_Bcast(&parameter[i], 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(debug, 8, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(&detailed_timers, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void start_afresh(Multigrid *grid)
{
  const Level *finest = &grid->level[grid->top];
  HAMTUNE_BLOCK(0.0, memset(finest->u, 0, volume(finest) * sizeof(double)));
  make_right_hand_side(grid);
}

static int run(int index, int rank, int ranks)
{
  const Problem *problem = &problems[index];
  MPI_Barrier(MPI_COMM_WORLD);
  broadcast_parameters(problem);
  Multigrid grid = make_multigrid(problem, rank, ranks);
  Level *finest = &grid.level[grid.top];

  /* One untimed cycle touches everything; the timed ones start afresh. */
  start_afresh(&grid);
  norm(&grid, grid.v);
  find_residual(&grid, finest, grid.v);
  norm(&grid, finest->r);
  v_cycle(&grid);
  find_residual(&grid, finest, grid.v);
  start_afresh(&grid);

  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  find_residual(&grid, finest, grid.v);
  norm(&grid, finest->r);
  for (int iteration = 0; iteration < problem->iterations; iteration++) {
    HAMTUNE_ITERATION();
    v_cycle(&grid);
    find_residual(&grid, finest, grid.v);
  }
  double final_norm = norm(&grid, finest->r);
  double elapsed = MPI_Wtime() - start;
  double slowest = 0.0;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

  free_multigrid(&grid);
  if (rank != 0)
    return APP_OK;
  double side = 1 << problem->levels;
  AppResult result = {"mg", problem->name, ranks, slowest,
                      58.0 * problem->iterations * side * side * side,
                      fabs(final_norm - problem->norm) <= TOLERANCE * problem->norm};
  return app_report(&result);
}

/* A point of the finest cube for every rank. */
static int most_ranks(int index)
{
  return 1 << (3 * problems[index].levels);
}

int main(int argc, char **argv)
{
  static const AppKernel kernel = {"mg", most_ranks, run};
  return app_kernel_main(&kernel, argc, argv);
}
