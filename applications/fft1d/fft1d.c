/* FFT1D: a one-dimensional complex Fourier transform over all ranks, in six steps.
 *
 * D. H. Bailey, "FFTs in external or hierarchical memory", J. Supercomputing 4, 1990: the vector is a
 * matrix; columns and rows are transformed with transposes and twiddle factors between. FFTE, which
 * Deng et al. (2019), section 4.2.4, measure, works in the same way. See docs/applications/fft1d.md. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/npb_random.h"
#include "../common/numbers.h"
#include "../hamtune_app.h"

enum { DEFAULT_LOG = 20, LEAST_LOG = 2, MOST_LOG = 28 };
static const double TAU = 6.283185307179586476925287;
static const double TOLERANCE = 1e-9;

/* The matrix has `rows` x `columns` numbers; a rank holds whole rows of it, or of its transpose. */
typedef struct {
  int rank, ranks;
  int log;
  size_t rows, columns;
  size_t mine; /* numbers that a rank holds */
  double complex *data, *work;
  double complex *roots; /* exp(-i tau k / longest line) */
} Transform;

static size_t longest_line(const Transform *t)
{
  return t->rows > t->columns ? t->rows : t->columns;
}

static double log2_of(size_t length)
{
  return log2((double)length);
}

/* One line, in place; `sign` -1 forward, 1 backward (not scaled). */
static void transform_line(const Transform *t, double complex *line, size_t length, int sign)
{
  for (size_t i = 1, j = 0; i < length; i++) {
    size_t bit = length >> 1;
    for (; j & bit; bit >>= 1)
      j ^= bit;
    j ^= bit;
    if (i < j) {
      double complex moved = line[i];
      line[i] = line[j];
      line[j] = moved;
    }
  }
  for (size_t half = 1; half < length; half *= 2) {
    size_t stride = longest_line(t) / (2 * half);
    for (size_t block = 0; block < length; block += 2 * half)
      for (size_t k = 0; k < half; k++) {
        double complex root = t->roots[k * stride];
        double complex odd = line[block + k + half] * (sign < 0 ? root : conj(root));
        line[block + k + half] = line[block + k] - odd;
        line[block + k] += odd;
      }
  }
}

static void transform_lines(const Transform *t, size_t length, int sign)
{
  for (size_t line = 0; line < t->mine / length; line++)
    transform_line(t, t->data + line * length, length, sign);
}

/* data holds rows of `length` numbers; gather for each rank the part of the columns that it gets. */
static void pack(const Transform *t, size_t length)
{
  size_t lines = t->mine / length, part = length / (size_t)t->ranks, next = 0;
  for (size_t to = 0; to < (size_t)t->ranks; to++)
    for (size_t column = to * part; column < (to + 1) * part; column++)
      for (size_t line = 0; line < lines; line++)
        t->work[next++] = t->data[line * length + column];
}

/* What came from each rank is a stretch of every one of this rank's columns. */
static void unpack(const Transform *t, size_t length)
{
  size_t lines = t->mine / length, part = length / (size_t)t->ranks;
  size_t whole = lines * (size_t)t->ranks, next = 0;
  for (size_t from = 0; from < (size_t)t->ranks; from++)
    for (size_t column = 0; column < part; column++)
      for (size_t line = 0; line < lines; line++)
        t->data[column * whole + from * lines + line] = t->work[next++];
}

/* Rows of `length` numbers become columns. */
static void transpose(Transform *t, size_t length)
{
  HAMTUNE_BLOCK(0.0, pack(t, length));
  int block = (int)(t->mine / (size_t)t->ranks);
  MPI_Alltoall(t->work, block, MPI_C_DOUBLE_COMPLEX, t->data, block, MPI_C_DOUBLE_COMPLEX,
               MPI_COMM_WORLD);
  HAMTUNE_BLOCK(0.0, {
    memcpy(t->work, t->data, t->mine * sizeof *t->data);
    unpack(t, length);
  });
}

/* data holds rows of the transpose: entry (column, row) is turned by column x row steps. */
static void twiddle(const Transform *t, int sign)
{
  size_t lines = t->mine / t->rows, first = lines * (size_t)t->rank, next = 0;
  double step = sign * TAU / ((double)t->rows * (double)t->columns);
  for (size_t line = 0; line < lines; line++)
    for (size_t row = 0; row < t->rows; row++)
      t->data[next++] *= cexp(I * (step * (double)((first + line) * row)));
}

/* The six steps. The result stands in natural order, cut into equal stretches like the input. */
static void transform(Transform *t, int sign)
{
  double numbers = (double)t->mine;
  transpose(t, t->columns);
  HAMTUNE_BLOCK(5.0 * numbers * log2_of(t->rows), transform_lines(t, t->rows, sign));
  HAMTUNE_BLOCK(6.0 * numbers, twiddle(t, sign));
  transpose(t, t->rows);
  HAMTUNE_BLOCK(5.0 * numbers * log2_of(t->columns), transform_lines(t, t->columns, sign));
  transpose(t, t->columns);
}

static double complex signal_at(uint64_t index)
{
  uint64_t state = npb_skip(2 * index);
  double real = npb_random(&state, NPB_MULTIPLIER);
  return real + I * npb_random(&state, NPB_MULTIPLIER);
}

static void fill(const Transform *t)
{
  for (size_t i = 0; i < t->mine; i++)
    t->data[i] = signal_at((uint64_t)t->rank * t->mine + i);
  size_t longest = longest_line(t);
  for (size_t k = 0; k < longest; k++)
    t->roots[k] = cexp(-I * (TAU * (double)k / (double)longest));
}

/* The part of coefficient `k` that comes from this rank's stretch of the signal, by definition. */
static double complex coefficient_part(const Transform *t, uint64_t k)
{
  uint64_t total = (uint64_t)t->rows * t->columns;
  double complex sum = 0.0;
  for (uint64_t i = 0; i < t->mine; i++) {
    uint64_t index = (uint64_t)t->rank * t->mine + i;
    sum += signal_at(index) * cexp(-I * (TAU * (double)(index * k % total) / (double)total));
  }
  return sum;
}

/* Largest error of the coefficients 0, 1 and one in the middle against the definition, relative to
 * the first. Every rank calls it with the transform in `data`. */
static double coefficient_error(const Transform *t)
{
  uint64_t total = (uint64_t)t->rows * t->columns;
  uint64_t checked[3] = {0, 1, total / 2 + total / 8 + 1};
  double complex mine[3] = {0}, expected[3];
  double worst = 0.0, all_worst;
  for (int i = 0; i < 3; i++)
    mine[i] = coefficient_part(t, checked[i] % total);
  MPI_Allreduce(mine, expected, 3, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 3; i++) {
    uint64_t k = checked[i] % total;
    if (k / t->mine == (uint64_t)t->rank)
      worst = fmax(worst, cabs(t->data[k % t->mine] - expected[i]) / cabs(expected[0]));
  }
  MPI_Allreduce(&worst, &all_worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all_worst;
}

/* Largest difference between the signal and its transform forth and back. */
static double round_trip_error(const Transform *t)
{
  double total = (double)t->rows * (double)t->columns, worst = 0.0, all_worst;
  for (size_t i = 0; i < t->mine; i++)
    worst = fmax(worst,
                 cabs(t->data[i] / total - signal_at((uint64_t)t->rank * t->mine + i)));
  MPI_Allreduce(&worst, &all_worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all_worst;
}

static int run(Transform *t)
{
  t->data = app_allocate(t->mine, sizeof *t->data);
  t->work = app_allocate(t->mine, sizeof *t->work);
  t->roots = app_allocate(longest_line(t), sizeof *t->roots);
  HAMTUNE_BLOCK(0.0, fill(t));
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), slowest;
  transform(t, -1);
  double elapsed = MPI_Wtime() - start;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

  bool verified = true;
  HAMTUNE_BLOCK(0.0, {
    verified = coefficient_error(t) < TOLERANCE;
    transform(t, 1);
    verified = round_trip_error(t) < TOLERANCE && verified;
  });
  free(t->data);
  free(t->work);
  free(t->roots);
  if (t->rank != 0)
    return APP_OK;
  char size[32];
  snprintf(size, sizeof size, "2^%d", t->log);
  double numbers = (double)t->rows * (double)t->columns;
  AppResult result = {"fft1d", size, t->ranks, slowest, 5.0 * numbers * t->log, verified};
  return app_report(&result);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  Transform t = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
  t.log = (int)app_number(argc, argv, 1, LEAST_LOG, MOST_LOG, DEFAULT_LOG);
  if (argc > 2 || t.log < 0)
    return app_wrong_use("fft1d",
                         "needs the logarithm of the length from %d to %d (usage: fft1d [LOG2N], "
                         "default %d)",
                         LEAST_LOG, MOST_LOG, DEFAULT_LOG);
  t.rows = (size_t)1 << (t.log / 2);
  t.columns = (size_t)1 << (t.log - t.log / 2);
  if (app_log2(t.ranks) < 0 || (size_t)t.ranks > t.rows)
    return app_wrong_use("fft1d", "length 2^%d needs a power of two of ranks up to %zu, not %d",
                         t.log, t.rows, t.ranks);
  t.mine = t.rows * t.columns / (size_t)t.ranks;
  int status = run(&t);
  MPI_Finalize();
  return status;
}
