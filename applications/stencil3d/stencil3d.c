/* Stencil3d: seven-point Jacobi iteration on a cube, halos exchanged with six neighbours.
 *
 * The 3-D stencil of Wu et al. (2015), section V, and of countless codes. See
 * docs/applications/stencil3d.md. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/application.h"
#include "../common/numbers.h"
#include "../hamtune_app.h"

enum { AXES = 3, FACES = 6 };
enum { DEFAULT_POINTS = 64, MOST_POINTS = 4096, DEFAULT_ITERATIONS = 100, MOST_ITERATIONS = 1000000 };
static const double FLOPS_A_POINT = 6.0; /* five sums and a product */
static const double RESIDUAL_FLOPS_A_POINT = 3.0;

typedef struct {
  int rank, ranks;
  int points, iterations;
  MPI_Comm grid;
  int place[AXES];
  int neighbors[FACES]; /* down and up along each axis; MPI_PROC_NULL at the border */
  AppRange own[AXES];
  double *now, *next;
  double *outgoing[FACES], *incoming[FACES];
} Stencil;

static size_t at(const Stencil *s, int x, int y, int z)
{
  return ((size_t)x * (size_t)(s->own[1].count + 2) + (size_t)y) * (size_t)(s->own[2].count + 2) +
         (size_t)z;
}

static int face_points(const Stencil *s, int axis)
{
  return s->own[(axis + 1) % AXES].count * s->own[(axis + 2) % AXES].count;
}

static void make(Stencil *s)
{
  int sides[AXES] = {0}, periods[AXES] = {0};
  MPI_Dims_create(s->ranks, AXES, sides);
  MPI_Cart_create(MPI_COMM_WORLD, AXES, sides, periods, 0, &s->grid);
  MPI_Cart_coords(s->grid, s->rank, AXES, s->place);
  size_t stored = 1;
  for (int axis = 0; axis < AXES; axis++) {
    MPI_Cart_shift(s->grid, axis, 1, &s->neighbors[2 * axis], &s->neighbors[2 * axis + 1]);
    s->own[axis] = app_cut(s->points, sides[axis], s->place[axis]);
    stored *= (size_t)s->own[axis].count + 2;
  }
  s->now = app_allocate(stored, sizeof(double));
  s->next = app_allocate(stored, sizeof(double));
  for (int face = 0; face < FACES; face++) {
    s->outgoing[face] = app_allocate((size_t)face_points(s, face / 2), sizeof(double));
    s->incoming[face] = app_allocate((size_t)face_points(s, face / 2), sizeof(double));
  }
}

static void free_stencil(Stencil *s)
{
  free(s->now);
  free(s->next);
  for (int face = 0; face < FACES; face++) {
    free(s->outgoing[face]);
    free(s->incoming[face]);
  }
  MPI_Comm_free(&s->grid);
}

/* A linear function of whole numbers: the mean of its six neighbours is a point's own value, exactly,
 * so the iteration must keep it, and every halo that is late or misplaced shows. */
static double exact(const Stencil *s, int x, int y, int z)
{
  return (s->own[0].first + x) + 2.0 * (s->own[1].first + y) + 5.0 * (s->own[2].first + z);
}

static void fill(const Stencil *s)
{
  for (int x = 0; x < s->own[0].count + 2; x++)
    for (int y = 0; y < s->own[1].count + 2; y++)
      for (int z = 0; z < s->own[2].count + 2; z++)
        s->now[at(s, x, y, z)] = s->next[at(s, x, y, z)] = exact(s, x, y, z);
}

/* Copies the layer of points `layer` along an axis to (pack) or from the buffer of a face. */
static void copy_layer(const Stencil *s, int axis, int layer, double *buffer, bool pack)
{
  int first = (axis + 1) % AXES, second = (axis + 2) % AXES;
  int p[AXES];
  p[axis] = layer;
  size_t next = 0;
  for (p[first] = 1; p[first] <= s->own[first].count; p[first]++)
    for (p[second] = 1; p[second] <= s->own[second].count; p[second]++, next++) {
      double *point = &s->now[at(s, p[0], p[1], p[2])];
      if (pack)
        buffer[next] = *point;
      else
        *point = buffer[next];
    }
}

static void copy_faces(const Stencil *s, bool pack)
{
  for (int face = 0; face < FACES; face++) {
    if (s->neighbors[face] == MPI_PROC_NULL)
      continue;
    int axis = face / 2, last = s->own[axis].count;
    int inside = face % 2 == 0 ? 1 : last, outside = face % 2 == 0 ? 0 : last + 1;
    copy_layer(s, axis, pack ? inside : outside, pack ? s->outgoing[face] : s->incoming[face], pack);
  }
}

static void exchange(const Stencil *s)
{
  MPI_Request requests[2 * FACES];
  MPI_Status statuses[2 * FACES];
  HAMTUNE_BLOCK(0.0, copy_faces(s, true));
  for (int face = 0; face < FACES; face++)
    MPI_Irecv(s->incoming[face], face_points(s, face / 2), MPI_DOUBLE, s->neighbors[face], face ^ 1,
              s->grid, &requests[face]);
  for (int face = 0; face < FACES; face++)
    MPI_Isend(s->outgoing[face], face_points(s, face / 2), MPI_DOUBLE, s->neighbors[face], face,
              s->grid, &requests[FACES + face]);
  MPI_Waitall(2 * FACES, requests, statuses);
  HAMTUNE_BLOCK(0.0, copy_faces(s, false));
}

static void relax(Stencil *s)
{
  for (int x = 1; x <= s->own[0].count; x++)
    for (int y = 1; y <= s->own[1].count; y++)
      for (int z = 1; z <= s->own[2].count; z++)
        s->next[at(s, x, y, z)] =
            (s->now[at(s, x - 1, y, z)] + s->now[at(s, x + 1, y, z)] + s->now[at(s, x, y - 1, z)] +
             s->now[at(s, x, y + 1, z)] + s->now[at(s, x, y, z - 1)] + s->now[at(s, x, y, z + 1)]) /
            6.0;
}

static double change(const Stencil *s)
{
  double sum = 0.0;
  for (int x = 1; x <= s->own[0].count; x++)
    for (int y = 1; y <= s->own[1].count; y++)
      for (int z = 1; z <= s->own[2].count; z++) {
        double difference = s->next[at(s, x, y, z)] - s->now[at(s, x, y, z)];
        sum += difference * difference;
      }
  return sum;
}

/* One iteration; returns the squared change over all points. */
static double iterate(Stencil *s)
{
  double points = (double)s->own[0].count * s->own[1].count * s->own[2].count;
  double mine = 0.0, all = 0.0;
  exchange(s);
  HAMTUNE_BLOCK(FLOPS_A_POINT * points, relax(s));
  HAMTUNE_BLOCK(RESIDUAL_FLOPS_A_POINT * points, mine = change(s));
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, s->grid);
  double *swapped = s->now;
  s->now = s->next;
  s->next = swapped;
  return all;
}

static int run(Stencil *s)
{
  make(s);
  HAMTUNE_BLOCK(0.0, fill(s));
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), moved = 0.0;
  for (int iteration = 0; iteration < s->iterations; iteration++) {
    app_iteration_begins();
    moved += iterate(s);
  }
  app_iterations_end();
  double elapsed = MPI_Wtime() - start, slowest;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  free_stencil(s);
  if (s->rank != 0)
    return APP_OK;
  char size[48];
  snprintf(size, sizeof size, "%d^3 x %d", s->points, s->iterations);
  double cube = (double)s->points * s->points * s->points;
  AppResult result = {"stencil3d", size, s->ranks, slowest,
                      (FLOPS_A_POINT + RESIDUAL_FLOPS_A_POINT) * cube * s->iterations,
                      moved == 0.0};
  return app_report(&result);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  Stencil s = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
  s.points = (int)app_number(argc, argv, 1, 1, MOST_POINTS, DEFAULT_POINTS);
  s.iterations = (int)app_number(argc, argv, 2, 1, MOST_ITERATIONS, DEFAULT_ITERATIONS);
  if (argc > 3 || s.points < 0 || s.iterations < 0)
    return app_wrong_use("stencil3d",
                         "needs points from 1 to %d and iterations from 1 to %d (usage: stencil3d "
                         "[POINTS [ITERATIONS]], default %d %d)",
                         MOST_POINTS, MOST_ITERATIONS, DEFAULT_POINTS, DEFAULT_ITERATIONS);
  int sides[AXES] = {0};
  MPI_Dims_create(s.ranks, AXES, sides);
  if (sides[0] > s.points)
    return app_wrong_use("stencil3d", "needs at least %d points a side for %d ranks, not %d",
                         sides[0], s.ranks, s.points);
  int status = run(&s);
  MPI_Finalize();
  return status;
}
