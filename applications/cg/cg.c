/* CG: smallest eigenvalue of a sparse symmetric matrix by inverse power iteration, each step solved
 * approximately with 25 iterations of conjugate gradients.
 *
 * Specification: NAS Parallel Benchmarks, RNR-94-007, kernel CG; distribution over a grid of
 * ranks and message pattern as in the MPI version of NPB 3.3.1. See docs/applications/cg.md. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/npb_random.h"
#include "../hamtune_app.h"

enum { INNER_ITERATIONS = 25, MAX_STEPS = 16, TAG = 1 };

static const double CONDITION = 0.1;   /* smallest weight of the matrix is 0.1 */
static const double TOLERANCE = 1e-10; /* of the relative error of zeta */

typedef struct {
  const char *name;
  int order;
  int row_entries; /* random entries of each generating vector */
  int iterations;
  double shift;
  double zeta; /* NPB's verification value */
} Problem;

static const Problem problems[] = {
    {"S", 1400, 7, 15, 10.0, 8.5971775078648},
    {"W", 7000, 8, 15, 12.0, 10.362595087124},
    {"A", 14000, 11, 15, 20.0, 17.130235054029},
    {"B", 75000, 13, 75, 60.0, 22.712745482631},
};

/* One exchange of a row sum: partial sums leave from `send`, the partner's arrive for `receive`. */
typedef struct {
  int partner;
  AppRange send;
  AppRange receive;
} Step;

/* The rank's place in the grid of ranks and whom it talks to. */
typedef struct {
  int rank;
  int ranks;
  AppRange rows;
  AppRange columns;
  int steps; /* log2 of the ranks in a row of the grid */
  Step sum[MAX_STEPS];
  AppRange transpose_send; /* within the rank's rows */
  int transpose_partner;
} Grid;

/* The rank's block of the matrix, by rows. */
typedef struct {
  int *row_start;
  int *column;
  double *value;
  double entries;
} Matrix;

/* Vectors are distributed by columns; w and the temporary also hold row pieces. */
typedef struct {
  double *x, *z, *p, *q, *r, *w;
} Vectors;

/* ---- distribution ---- */

/* Half of a range; the first half is the longer one. */
static AppRange half(AppRange whole, int second)
{
  int front = (whole.count + 1) / 2;
  AppRange first_half = {whole.first, front};
  AppRange second_half = {whole.first + front, whole.count - front};
  return second ? second_half : first_half;
}

/* The grid is square, or twice as wide as high: then every two ranks of a row share the piece of
 * the vector that belongs to the row, a half each. */
static Grid make_grid(int order, int rank, int ranks)
{
  Grid grid = {.rank = rank, .ranks = ranks};
  int exponent = app_log2(ranks);
  int height = 1 << (exponent / 2);
  int width = ranks / height;
  int row = rank / width;
  int column = rank % width;
  int odd = rank % 2;
  grid.steps = app_log2(width);
  grid.rows = app_cut(order, height, row);
  AppRange all = {0, grid.rows.count};
  if (width == height) {
    grid.columns = app_cut(order, width, column);
    grid.transpose_send = all;
    grid.transpose_partner = column * height + row;
  } else {
    grid.columns = half(app_cut(order, width / 2, column / 2), odd);
    grid.transpose_send = half(all, odd);
    grid.transpose_partner = 2 * ((column / 2) * height + row) + odd;
  }
  for (int step = 0; step < grid.steps; step++) {
    grid.sum[step].partner = row * width + (column ^ (width >> (step + 1)));
    grid.sum[step].send = grid.transpose_send;
    grid.sum[step].receive = grid.transpose_send;
  }
  if (width != height) /* neighbours hand each other the half that is not their own */
    grid.sum[grid.steps - 1].send = half(all, !odd);
  return grid;
}

/* ---- matrix ---- */

/* One random sparse vector with `entries` different places, then 0.5 at place `center`. */
static int make_sparse_vector(const Problem *problem, int center, uint64_t *state, int *place,
                              double *value)
{
  int span = 1; /* places are drawn from a power of two, those beyond the order are dropped */
  while (span < problem->order)
    span *= 2;
  int count = 0;
  while (count < problem->row_entries) {
    double drawn = npb_random(state, NPB_MULTIPLIER);
    int where = (int)(npb_random(state, NPB_MULTIPLIER) * span);
    int known = where >= problem->order;
    for (int i = 0; i < count && !known; i++)
      known = place[i] == where;
    if (known)
      continue;
    place[count] = where;
    value[count++] = drawn;
  }
  for (int i = 0; i < count; i++) {
    if (place[i] == center) {
      value[i] = 0.5;
      return count;
    }
  }
  place[count] = center;
  value[count++] = 0.5;
  return count;
}

static int inside(AppRange range, int index)
{
  return index >= range.first && index < range.first + range.count;
}

/* The generating vectors of the whole matrix; every rank draws them all. */
typedef struct {
  int width; /* room for a vector */
  int *count;
  int *place;
  double *value;
} SparseVectors;

static SparseVectors make_sparse_vectors(const Problem *problem)
{
  SparseVectors vectors = {.width = problem->row_entries + 1};
  size_t room = (size_t)problem->order * (size_t)vectors.width;
  vectors.count = app_allocate((size_t)problem->order, sizeof(int));
  vectors.place = app_allocate(room, sizeof(int));
  vectors.value = app_allocate(room, sizeof(double));
  uint64_t state = npb_skip(1); /* NPB throws the first number away */
  for (int i = 0; i < problem->order; i++) {
    size_t start = (size_t)i * (size_t)vectors.width;
    vectors.count[i] =
        make_sparse_vector(problem, i, &state, vectors.place + start, vectors.value + start);
  }
  return vectors;
}

/* Visits every contribution to the rank's block: the weighted outer product of each vector with
 * itself, and the diagonal. Counts them a row when `matrix->column` is absent, else stores them. */
static void visit_contributions(const Problem *problem, const Grid *grid,
                                const SparseVectors *vectors, int *fill, Matrix *matrix)
{
  double ratio = pow(CONDITION, 1.0 / problem->order);
  double weight = 1.0;
  for (int i = 0; i < problem->order; i++, weight *= ratio) {
    const int *place = vectors->place + (size_t)i * (size_t)vectors->width;
    const double *value = vectors->value + (size_t)i * (size_t)vectors->width;
    for (int c = 0; c < vectors->count[i]; c++) {
      if (!inside(grid->columns, place[c]))
        continue;
      for (int r = 0; r < vectors->count[i]; r++) {
        if (!inside(grid->rows, place[r]))
          continue;
        int at = fill[place[r] - grid->rows.first]++;
        if (matrix->column != NULL) {
          matrix->column[at] = place[c] - grid->columns.first;
          matrix->value[at] = weight * value[c] * value[r];
        }
      }
    }
  }
  for (int row = grid->rows.first; row < grid->rows.first + grid->rows.count; row++) {
    if (!inside(grid->columns, row))
      continue;
    int at = fill[row - grid->rows.first]++;
    if (matrix->column != NULL) {
      matrix->column[at] = row - grid->columns.first;
      matrix->value[at] = CONDITION - problem->shift;
    }
  }
}

/* Adds up contributions to the same place; `slot` remembers where a column of this row went. */
static void merge_duplicates(const Grid *grid, Matrix *matrix)
{
  int *slot = app_allocate((size_t)grid->columns.count, sizeof(int));
  for (int i = 0; i < grid->columns.count; i++)
    slot[i] = -1;
  int kept = 0;
  for (int row = 0; row < grid->rows.count; row++) {
    int start = kept;
    for (int k = matrix->row_start[row]; k < matrix->row_start[row + 1]; k++) {
      int column = matrix->column[k];
      if (slot[column] >= start) {
        matrix->value[slot[column]] += matrix->value[k];
      } else {
        slot[column] = kept;
        matrix->column[kept] = column;
        matrix->value[kept++] = matrix->value[k];
      }
    }
    matrix->row_start[row] = start;
  }
  matrix->row_start[grid->rows.count] = kept;
  matrix->entries = kept;
  free(slot);
}

static Matrix make_matrix(const Problem *problem, const Grid *grid)
{
  size_t rows = (size_t)grid->rows.count;
  SparseVectors vectors = make_sparse_vectors(problem);
  Matrix matrix = {.row_start = app_allocate(rows + 1, sizeof(int))};
  int *fill = app_allocate(rows, sizeof(int));
  memset(fill, 0, rows * sizeof(int));
  visit_contributions(problem, grid, &vectors, fill, &matrix);
  matrix.row_start[0] = 0;
  for (size_t row = 0; row < rows; row++) {
    matrix.row_start[row + 1] = matrix.row_start[row] + fill[row];
    fill[row] = matrix.row_start[row];
  }
  size_t entries = (size_t)matrix.row_start[rows];
  matrix.column = app_allocate(entries, sizeof(int));
  matrix.value = app_allocate(entries, sizeof(double));
  visit_contributions(problem, grid, &vectors, fill, &matrix);
  merge_duplicates(grid, &matrix);
  free(fill);
  free(vectors.count);
  free(vectors.place);
  free(vectors.value);
  return matrix;
}

/* Entries of the rank's block as NPB's operation count has them: n k (k + 1) off the diagonal,
 * spread evenly because places are drawn evenly, and the diagonal in the blocks that it crosses. */
static double expected_entries(const Problem *problem, const Grid *grid)
{
  double order = problem->order;
  double share = (grid->rows.count / order) * (grid->columns.count / order);
  int first = grid->rows.first > grid->columns.first ? grid->rows.first : grid->columns.first;
  int row_end = grid->rows.first + grid->rows.count;
  int column_end = grid->columns.first + grid->columns.count;
  int end = row_end < column_end ? row_end : column_end;
  return share * order * problem->row_entries * (problem->row_entries + 1) +
         (end > first ? end - first : 0);
}

/* Cost of make_matrix: two numbers for each place tried, two products a contribution of which the
 * rank keeps its share. */
static double generation_flops(const Problem *problem, const Grid *grid)
{
  double order = problem->order;
  double places = order * problem->row_entries;
  int span = 1;
  while (span < problem->order)
    span *= 2;
  double tried = places * span / order;
  double contributions = order * (problem->row_entries + 1) * (problem->row_entries + 1);
  double share = (grid->rows.count / order) * (grid->columns.count / order);
  return tried * 2.0 * NPB_RANDOM_FLOPS + 2.0 * contributions * share;
}

/* ---- vectors ---- */

static Vectors make_vectors(const Grid *grid)
{
  size_t room = (size_t)(grid->rows.count > grid->columns.count ? grid->rows.count
                                                                : grid->columns.count);
  Vectors vectors;
  double **all[] = {&vectors.x, &vectors.z, &vectors.p, &vectors.q, &vectors.r, &vectors.w};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    *all[i] = app_allocate(room, sizeof(double));
  return vectors;
}

static void free_vectors(Vectors *vectors)
{
  free(vectors->x);
  free(vectors->z);
  free(vectors->p);
  free(vectors->q);
  free(vectors->r);
  free(vectors->w);
}

static double dot(int count, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}

static double squared_distance(int count, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < count; i++)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/* y = y + factor x */
static void add_multiple(int count, double *y, double factor, const double *x)
{
  for (int i = 0; i < count; i++)
    y[i] += factor * x[i];
}

/* y = x + factor y */
static void multiply_and_add(int count, double *y, double factor, const double *x)
{
  for (int i = 0; i < count; i++)
    y[i] = x[i] + factor * y[i];
}

static void fill_with(int count, double *y, double value)
{
  for (int i = 0; i < count; i++)
    y[i] = value;
}

static void multiply(const Matrix *matrix, int rows, const double *x, double *y)
{
  for (int row = 0; row < rows; row++) {
    double sum = 0.0;
    for (int k = matrix->row_start[row]; k < matrix->row_start[row + 1]; k++)
      sum += matrix->value[k] * x[matrix->column[k]];
    y[row] = sum;
  }
}

/* ---- communication ---- */

/* A receive posted, a blocking send, a wait: the unit of CG's traffic. */
static void exchange(int partner, const double *send, int send_count, double *receive,
                     int receive_count)
{
  MPI_Request request;
  MPI_Irecv(receive, receive_count, MPI_DOUBLE, partner, TAG, MPI_COMM_WORLD, &request);
  MPI_Send(send, send_count, MPI_DOUBLE, partner, TAG, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Adds `count` numbers over the row of the grid, by recursive halving of the distance. */
static void sum_over_row(const Grid *grid, int count, double *values)
{
  double received[2] = {0.0, 0.0};
  for (int step = 0; step < grid->steps; step++) {
    exchange(grid->sum[step].partner, values, count, received, count);
    HAMTUNE_BLOCK(count, add_multiple(count, values, 1.0, received));
  }
}

/* Adds the partial products in `partial` over the row of the grid, nearest partner first, and
 * moves the result to the ranks that hold it as a column piece; ends in `result`. */
static void sum_and_transpose(const Grid *grid, double *partial, double *result)
{
  if (grid->steps == 0) {
    HAMTUNE_BLOCK(0.0, memcpy(result, partial, (size_t)grid->columns.count * sizeof(double)));
    return;
  }
  for (int index = grid->steps - 1; index >= 0; index--) {
    const Step *step = &grid->sum[index];
    exchange(step->partner, partial + step->send.first, step->send.count, result,
             step->receive.count);
    HAMTUNE_BLOCK(step->receive.count,
                  add_multiple(step->receive.count, partial + step->receive.first, 1.0, result));
  }
  exchange(grid->transpose_partner, partial + grid->transpose_send.first,
           grid->transpose_send.count, result, grid->columns.count);
}

/* ---- the method ---- */

/* Solves A z = x approximately; returns the norm of x - A z. */
static double conjugate_gradient(const Grid *grid, const Matrix *matrix, Vectors *v)
{
  int n = grid->columns.count;
  size_t bytes = (size_t)n * sizeof(double);
  double rho = 0.0;
  HAMTUNE_BLOCK(2.0 * n, {
    fill_with(n, v->z, 0.0);
    memcpy(v->r, v->x, bytes);
    memcpy(v->p, v->x, bytes);
    rho = dot(n, v->r, v->r);
  });
  sum_over_row(grid, 1, &rho);

  for (int iteration = 0; iteration < INNER_ITERATIONS; iteration++) {
    HAMTUNE_BLOCK(2.0 * matrix->entries, multiply(matrix, grid->rows.count, v->p, v->w));
    sum_and_transpose(grid, v->w, v->q);
    double curvature = 0.0;
    HAMTUNE_BLOCK(2.0 * n, curvature = dot(n, v->p, v->q));
    sum_over_row(grid, 1, &curvature);
    double old_rho = rho;
    HAMTUNE_BLOCK(6.0 * n + 1.0, {
      double step = old_rho / curvature;
      add_multiple(n, v->z, step, v->p);
      add_multiple(n, v->r, -step, v->q);
      rho = dot(n, v->r, v->r);
    });
    sum_over_row(grid, 1, &rho);
    HAMTUNE_BLOCK(2.0 * n + 1.0, multiply_and_add(n, v->p, rho / old_rho, v->r));
  }

  HAMTUNE_BLOCK(2.0 * matrix->entries, multiply(matrix, grid->rows.count, v->z, v->w));
  sum_and_transpose(grid, v->w, v->r);
  double residual = 0.0;
  HAMTUNE_BLOCK(3.0 * n, residual = squared_distance(n, v->x, v->r));
  sum_over_row(grid, 1, &residual);
  return HAMTUNE_DECLARED ? 0.0 : sqrt(residual);
}

/* One step of the inverse power method: z = A^-1 x, then x = z / |z|. Returns zeta. */
static double power_step(const Problem *problem, const Grid *grid, const Matrix *matrix, Vectors *v)
{
  int n = grid->columns.count;
  double residual = conjugate_gradient(grid, matrix, v);
  double products[2] = {1.0, 1.0};
  HAMTUNE_BLOCK(4.0 * n, {
    products[0] = dot(n, v->x, v->z);
    products[1] = dot(n, v->z, v->z);
  });
  sum_over_row(grid, 2, products);
  double zeta = 0.0;
  HAMTUNE_BLOCK(n + 4.0, {
    zeta = problem->shift + 1.0 / products[0];
    fill_with(n, v->x, 0.0);
    add_multiple(n, v->x, 1.0 / sqrt(products[1]), v->z);
  });
  if (!HAMTUNE_DECLARED && grid->rank == 0)
    printf("residual %.6e zeta %.13f\n", residual, zeta);
  return zeta;
}

/* Floating-point operations of the timed part by NPB's rule. */
static double official_operations(const Problem *problem)
{
  double row = problem->row_entries * (problem->row_entries + 1.0);
  return 2.0 * problem->iterations * problem->order * (3.0 + row + 25.0 * (5.0 + row) + 3.0);
}

static int run(int index, int rank, int ranks)
{
  const Problem *problem = &problems[index];
  /* NPB tells every rank here whether rank 0 found its file that switches detailed timers on. */
  int detailed_timers = 0;
  MPI_Bcast(&detailed_timers, 1, MPI_INT, 0, MPI_COMM_WORLD);

  Grid grid = make_grid(problem->order, rank, ranks);
  Matrix matrix = {.entries = expected_entries(problem, &grid)};
  HAMTUNE_BLOCK(generation_flops(problem, &grid), matrix = make_matrix(problem, &grid));
  Vectors vectors = make_vectors(&grid);

  /* One untimed step touches everything; the timed steps start afresh. */
  HAMTUNE_BLOCK(0.0, fill_with(grid.columns.count, vectors.x, 1.0));
  power_step(problem, &grid, &matrix, &vectors);
  HAMTUNE_BLOCK(0.0, fill_with(grid.columns.count, vectors.x, 1.0));

  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  double zeta = 0.0;
  for (int iteration = 0; iteration < problem->iterations; iteration++) {
    HAMTUNE_ITERATION();
    zeta = power_step(problem, &grid, &matrix, &vectors);
  }
  double elapsed = MPI_Wtime() - start;
  double slowest = 0.0;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

  free(matrix.row_start);
  free(matrix.column);
  free(matrix.value);
  free_vectors(&vectors);
  if (rank != 0)
    return APP_OK;
  AppResult result = {"cg", problem->name, ranks, slowest, official_operations(problem),
                      fabs(zeta - problem->zeta) <= TOLERANCE * problem->zeta};
  return app_report(&result);
}

static int most_ranks(int index)
{
  return problems[index].order;
}

int main(int argc, char **argv)
{
  static const AppKernel kernel = {"cg", most_ranks, run};
  return app_kernel_main(&kernel, argc, argv);
}
