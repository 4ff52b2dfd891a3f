/* FT: a diffusion equation on a periodic box, solved with three-dimensional Fourier transforms.
 *
 * Specification: NAS Parallel Benchmarks, RNR-94-007, kernel FT; layouts over ranks and message
 * pattern as in the MPI version of NPB 3.3.1. See docs/applications/ft.md. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/npb_random.h"
#include "../hamtune_app.h"

enum { MOST_ITERATIONS = 20, SAMPLES = 1024, LINES = 16, LONGEST_LINE = 512 };

static const double PI = 3.14159265358979323846;
static const double DIFFUSION = 1e-6;
static const double TOLERANCE = 1e-12; /* of the relative error of a checksum */

typedef struct {
  double re;
  double im;
} Complex;

typedef struct {
  const char *name;
  int nx, ny, nz;
  int iterations;
  Complex checksum[MOST_ITERATIONS]; /* NPB's verification values */
} Problem;

static const Problem problems[] = {
    {"S", 64, 64, 64, 6,
     {{5.546087004964e+02, 4.845363331978e+02}, {5.546385409189e+02, 4.865304269511e+02},
      {5.546148406171e+02, 4.883910722336e+02}, {5.545423607415e+02, 4.901273169046e+02},
      {5.544255039624e+02, 4.917475857993e+02}, {5.542683411902e+02, 4.932597244941e+02}}},
    {"W", 128, 128, 32, 6,
     {{5.673612178944e+02, 5.293246849175e+02}, {5.631436885271e+02, 5.282149986629e+02},
      {5.594024089970e+02, 5.270996558037e+02}, {5.560698047020e+02, 5.260027904925e+02},
      {5.530898991250e+02, 5.249400845633e+02}, {5.504159734538e+02, 5.239212247086e+02}}},
    {"A", 256, 256, 128, 6,
     {{5.046735008193e+02, 5.114047905510e+02}, {5.059412319734e+02, 5.098809666433e+02},
      {5.069376896287e+02, 5.098144042213e+02}, {5.077892868474e+02, 5.101336130759e+02},
      {5.085233095391e+02, 5.104914655194e+02}, {5.091487099959e+02, 5.107917842803e+02}}},
    {"B", 512, 256, 256, 20,
     {{5.177643571579e+02, 5.077803458597e+02}, {5.154521291263e+02, 5.088249431599e+02},
      {5.146409228649e+02, 5.096208912659e+02}, {5.142378756213e+02, 5.101023387619e+02},
      {5.139626667737e+02, 5.103976610617e+02}, {5.137423460082e+02, 5.105948019802e+02},
      {5.135547056878e+02, 5.107404165783e+02}, {5.133910925466e+02, 5.108576573661e+02},
      {5.132470705390e+02, 5.109577278523e+02}, {5.131197729984e+02, 5.110460304483e+02},
      {5.130070319283e+02, 5.111252433800e+02}, {5.129070537032e+02, 5.111968077718e+02},
      {5.128182883502e+02, 5.112616233064e+02}, {5.127393733383e+02, 5.113203605551e+02},
      {5.126691062020e+02, 5.113735928093e+02}, {5.126064276004e+02, 5.114218460548e+02},
      {5.125504076570e+02, 5.114656139760e+02}, {5.125002331720e+02, 5.115053595966e+02},
      {5.124551951846e+02, 5.115415130407e+02}, {5.124146770029e+02, 5.115744692211e+02}}},
};

/* The rank's brick in one layout. Axis 0 is whole and contiguous in memory; axis 1 is cut over
 * the rows of the grid of ranks, axis 2 over its columns. */
typedef struct {
  int extent[3];
} Brick;

/* The three layouts between which a transform moves its data: lines along x, y, z contiguous. */
enum { X_LINES, Y_LINES, Z_LINES, LAYOUTS };

/* All ranks with the same place along the cut axis that is exchanged. */
typedef struct {
  MPI_Comm comm;
  int ranks;
} Slice;

typedef struct {
  const Problem *problem;
  int rank;
  int ranks;
  int place[2]; /* along axis 1 and axis 2 of a brick */
  Slice slice[2];
  Brick brick[LAYOUTS];
  size_t points; /* of a brick, in every layout */
  Complex *root; /* of unity, for the longest line */
  Complex *spectrum; /* of the initial state, evolved; z lines */
  Complex *field;
  Complex *scratch;
  double *decay; /* of each mode in one time step; z lines */
} Transform;

/* ---- layout ---- */

/* The grid of ranks is 1 x ranks while there are enough planes, then nz x (ranks / nz). */
static void cut_ranks(const Problem *problem, int ranks, int cut[2])
{
  cut[0] = ranks <= problem->nz ? 1 : problem->nz;
  cut[1] = ranks / cut[0];
}

static Brick make_brick(int whole, int cut_by_rows, int cut_by_columns, const int cut[2])
{
  Brick brick = {{whole, cut_by_rows / cut[0], cut_by_columns / cut[1]}};
  return brick;
}

/* NPB tells every rank its grid, layout and parameters, one number at a time. */
static void broadcast_parameters(const Problem *problem, const int cut[2])
{
  int layout = cut[0] * cut[1] == 1 ? 0 : (cut[0] == 1 ? 1 : 2);
  int parameter[5] = {cut[0], cut[1], layout, problem->iterations, 0 /* detailed timers */};
  for (int i = 0; i < 5; i++)
    MPI_Bcast(&parameter[i], 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static Transform make_transform(const Problem *problem, int rank, int ranks)
{
  Transform t = {.problem = problem, .rank = rank, .ranks = ranks};
  int cut[2];
  cut_ranks(problem, ranks, cut);
  broadcast_parameters(problem, cut);
  t.place[0] = rank / cut[1];
  t.place[1] = rank % cut[1];
  MPI_Comm_split(MPI_COMM_WORLD, t.place[0], t.place[1], &t.slice[1].comm);
  MPI_Comm_split(MPI_COMM_WORLD, t.place[1], t.place[0], &t.slice[0].comm);
  t.slice[0].ranks = cut[0];
  t.slice[1].ranks = cut[1];
  t.brick[X_LINES] = make_brick(problem->nx, problem->ny, problem->nz, cut);
  t.brick[Y_LINES] = make_brick(problem->ny, problem->nx, problem->nz, cut);
  t.brick[Z_LINES] = make_brick(problem->nz, problem->nx, problem->ny, cut);
  const int *extent = t.brick[X_LINES].extent;
  t.points = (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2];
  t.root = app_allocate(LONGEST_LINE, sizeof(Complex));
  t.spectrum = app_allocate(t.points, sizeof(Complex));
  t.field = app_allocate(t.points, sizeof(Complex));
  t.scratch = app_allocate(t.points, sizeof(Complex));
  t.decay = app_allocate(t.points, sizeof(double));
  return t;
}

static void free_transform(Transform *t)
{
  MPI_Comm_free(&t->slice[0].comm);
  MPI_Comm_free(&t->slice[1].comm);
  free(t->root);
  free(t->spectrum);
  free(t->field);
  free(t->scratch);
  free(t->decay);
}

/* ---- transforms of lines ---- */

/* root[k] = exp(2 pi i k / LONGEST_LINE); shorter lines use every second, fourth, ... of them. */
static void make_roots(Complex *root)
{
  for (int k = 0; k < LONGEST_LINE; k++) {
    root[k].re = cos(2.0 * PI * k / LONGEST_LINE);
    root[k].im = sin(2.0 * PI * k / LONGEST_LINE);
  }
}

/* Unscaled transform of `lines` interleaved lines of a power of two points (Stockham's algorithm,
 * which needs no bit reversal): every pass combines places half a line apart and leaves the pair
 * side by side. The result is where the function says: in `x` or in `y`. */
static Complex *transform_lines(const Complex *root, int direction, int length, int lines,
                                Complex *x, Complex *y)
{
  int run = lines; /* consecutive values that share a root */
  for (int remaining = length; remaining > 1; remaining /= 2, run *= 2) {
    int middle = remaining / 2;
    for (int pair = 0; pair < middle; pair++) {
      double re = root[pair * (LONGEST_LINE / remaining)].re;
      double im = direction * root[pair * (LONGEST_LINE / remaining)].im;
      const Complex *a = x + (size_t)run * (size_t)pair;
      const Complex *b = x + (size_t)run * (size_t)(pair + middle);
      Complex *sum = y + (size_t)run * (size_t)(2 * pair);
      Complex *turned = sum + run;
      for (int i = 0; i < run; i++) {
        double re_difference = a[i].re - b[i].re, im_difference = a[i].im - b[i].im;
        sum[i].re = a[i].re + b[i].re;
        sum[i].im = a[i].im + b[i].im;
        turned[i].re = re * re_difference - im * im_difference;
        turned[i].im = re * im_difference + im * re_difference;
      }
    }
    Complex *swapped = x;
    x = y;
    y = swapped;
  }
  return x;
}

/* Transforms every line along axis 0 of the brick, some at a time so that they stay in cache. */
static void transform_brick(const Complex *root, int direction, const Brick *brick, Complex *data)
{
  int length = brick->extent[0];
  int total = brick->extent[1] * brick->extent[2];
  size_t room = (size_t)length * LINES;
  Complex *work = app_allocate(2 * room, sizeof(Complex));
  for (int first = 0; first < total; first += LINES) {
    int lines = total - first < LINES ? total - first : LINES;
    Complex *from = data + (size_t)first * (size_t)length;
    for (int line = 0; line < lines; line++)
      for (int i = 0; i < length; i++)
        work[i * lines + line] = from[line * length + i];
    const Complex *done = transform_lines(root, direction, length, lines, work, work + room);
    for (int line = 0; line < lines; line++)
      for (int i = 0; i < length; i++)
        from[line * length + i] = done[i * lines + line];
  }
  free(work);
}

/* A butterfly is one complex product and two complex sums: ten operations for two points. */
static double lines_flops(const Transform *t, int layout)
{
  return 5.0 * (double)t->points * app_log2(t->brick[layout].extent[0]);
}

static void transform_layout(Transform *t, int direction, int layout)
{
  HAMTUNE_BLOCK(lines_flops(t, layout),
                transform_brick(t->root, direction, &t->brick[layout], t->field));
}

/* ---- transposition ---- */

static void swap(Complex **a, Complex **b)
{
  Complex *kept = *a;
  *a = *b;
  *b = kept;
}

/* Sorts a brick by destination: `parts` pieces of axis 0, each with the whole of `axis`. */
static void pack(const Brick *brick, int axis, int parts, const Complex *data, Complex *packed)
{
  const int *extent = brick->extent;
  size_t stride[3] = {1, (size_t)extent[0], (size_t)extent[0] * (size_t)extent[1]};
  size_t piece = (size_t)(extent[0] / parts);
  for (size_t part = 0; part < (size_t)parts; part++)
    for (size_t other = 0; other < (size_t)extent[3 - axis]; other++)
      for (size_t along = 0; along < (size_t)extent[axis]; along++, packed += piece)
        memcpy(packed, data + part * piece + along * stride[axis] + other * stride[3 - axis],
               piece * sizeof(Complex));
}

/* Puts what the ranks of a slice sent into a brick: each brought its part of the new axis 0. */
static void unpack(const Brick *brick, int axis, int parts, const Complex *packed, Complex *data)
{
  const int *extent = brick->extent;
  size_t stride[3] = {1, (size_t)extent[0], (size_t)extent[0] * (size_t)extent[1]};
  size_t length = (size_t)(extent[0] / parts);
  size_t piece = (size_t)extent[axis];
  for (size_t part = 0; part < (size_t)parts; part++) {
    for (size_t other = 0; other < (size_t)extent[3 - axis]; other++, packed += length * piece) {
      for (size_t i = 0; i < piece; i++) {
        Complex *to = data + part * length + i * stride[axis] + other * stride[3 - axis];
        for (size_t along = 0; along < length; along++)
          to[along] = packed[along * piece + i];
      }
    }
  }
}

/* Exchanges axis 0 of the field with the given cut axis, over the ranks that share that axis. */
static void transpose(Transform *t, int from, int to, int axis)
{
  const Slice *slice = &t->slice[axis - 1];
  HAMTUNE_BLOCK(0.0, pack(&t->brick[from], axis, slice->ranks, t->field, t->scratch));
  if (slice->ranks > 1) {
    int count = (int)(t->points / (size_t)slice->ranks);
    MPI_Alltoall(t->scratch, count, MPI_C_DOUBLE_COMPLEX, t->field, count, MPI_C_DOUBLE_COMPLEX,
                 slice->comm);
  } else {
    swap(&t->scratch, &t->field);
  }
  HAMTUNE_BLOCK(0.0, unpack(&t->brick[to], axis, slice->ranks, t->field, t->scratch));
  swap(&t->scratch, &t->field);
}

/* The field goes from x lines in space to z lines of its spectrum. */
static void forward(Transform *t)
{
  transform_layout(t, 1, X_LINES);
  transpose(t, X_LINES, Y_LINES, 1);
  transform_layout(t, 1, Y_LINES);
  transpose(t, Y_LINES, Z_LINES, 2);
  transform_layout(t, 1, Z_LINES);
}

static void backward(Transform *t)
{
  transform_layout(t, -1, Z_LINES);
  transpose(t, Z_LINES, Y_LINES, 2);
  transform_layout(t, -1, Y_LINES);
  transpose(t, Y_LINES, X_LINES, 1);
  transform_layout(t, -1, X_LINES);
}

/* ---- the equation ---- */

/* Random numbers in the order of the whole box, x fastest, real and imaginary parts in turn. */
static void make_initial_state(const Transform *t)
{
  const Problem *problem = t->problem;
  const int *extent = t->brick[X_LINES].extent;
  double *number = &t->field[0].re;
  for (int plane = 0; plane < extent[2]; plane++) {
    uint64_t z = (uint64_t)(t->place[1] * extent[2] + plane);
    uint64_t line = z * (uint64_t)problem->ny + (uint64_t)(t->place[0] * extent[1]);
    uint64_t state = npb_skip(2 * (uint64_t)problem->nx * line);
    for (int i = 0; i < 2 * extent[0] * extent[1]; i++)
      *number++ = npb_random(&state, NPB_MULTIPLIER);
  }
}

/* The squared wave number of a mode: the upper half of the indices stands for negative ones. */
static int squared_wave_number(int index, int length)
{
  int number = (index + length / 2) % length - length / 2;
  return number * number;
}

static void make_decay(const Transform *t)
{
  const Problem *problem = t->problem;
  const int *extent = t->brick[Z_LINES].extent;
  double *decay = t->decay;
  for (int j = 0; j < extent[2]; j++) {
    int y = squared_wave_number(t->place[1] * extent[2] + j, problem->ny);
    for (int i = 0; i < extent[1]; i++) {
      int x = squared_wave_number(t->place[0] * extent[1] + i, problem->nx);
      for (int k = 0; k < extent[0]; k++) {
        int z = squared_wave_number(k, problem->nz);
        *decay++ = exp(-4.0 * DIFFUSION * PI * PI * (x + y + z));
      }
    }
  }
}

/* Lets the spectrum decay for one time step and copies it to the field. */
static void evolve(const Transform *t)
{
  for (size_t i = 0; i < t->points; i++) {
    t->spectrum[i].re *= t->decay[i];
    t->spectrum[i].im *= t->decay[i];
    t->field[i] = t->spectrum[i];
  }
}

/* Sum of those of 1024 points spread over the box that are on this rank, divided by the number of
 * points because the transforms are not scaled. */
static Complex sample(const Transform *t)
{
  const Problem *problem = t->problem;
  const int *extent = t->brick[X_LINES].extent;
  int first_y = t->place[0] * extent[1], first_z = t->place[1] * extent[2];
  double points = (double)problem->nx * problem->ny * problem->nz;
  Complex sum = {0.0, 0.0};
  for (int j = 1; j <= SAMPLES; j++) {
    int x = j % problem->nx;
    int y = 3 * j % problem->ny - first_y;
    int z = 5 * j % problem->nz - first_z;
    if (y < 0 || y >= extent[1] || z < 0 || z >= extent[2])
      continue;
    const Complex *value = &t->field[((size_t)z * (size_t)extent[1] + (size_t)y) *
                                         (size_t)extent[0] + (size_t)x];
    sum.re += value->re;
    sum.im += value->im;
  }
  sum.re /= points;
  sum.im /= points;
  return sum;
}

static Complex checksum(const Transform *t)
{
  Complex mine = {0.0, 0.0}, all = {0.0, 0.0};
  HAMTUNE_BLOCK(2.0 * SAMPLES / t->ranks + 2.0, mine = sample(t));
  MPI_Reduce(&mine, &all, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

static bool agrees(Complex found, Complex expected)
{
  double error = hypot(found.re - expected.re, found.im - expected.im);
  return error <= TOLERANCE * hypot(expected.re, expected.im);
}

/* Decay (two sums, a product and an exponential a point), initial state, roots of unity. */
static double setup_flops(const Transform *t)
{
  return (double)t->points * (4.0 + 2.0 * NPB_RANDOM_FLOPS) + 4.0 * LONGEST_LINE;
}

/* The spectrum of the initial state, from nothing. */
static void start_afresh(Transform *t)
{
  HAMTUNE_BLOCK(setup_flops(t), {
    make_decay(t);
    make_initial_state(t);
    make_roots(t->root);
  });
  forward(t);
  swap(&t->field, &t->spectrum);
}

/* Floating-point operations of the timed part by NPB's rule. */
static double official_operations(const Problem *problem)
{
  double points = (double)problem->nx * problem->ny * problem->nz;
  return points * (14.8157 + 7.19641 * log(points) +
                   (5.23518 + 7.21113 * log(points)) * problem->iterations);
}

static int run(int index, int rank, int ranks)
{
  const Problem *problem = &problems[index];
  Transform t = make_transform(problem, rank, ranks);
  start_afresh(&t); /* untimed, touches everything */

  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  bool verified = true;
  start_afresh(&t);
  for (int iteration = 0; iteration < problem->iterations; iteration++) {
    HAMTUNE_ITERATION();
    HAMTUNE_BLOCK(2.0 * (double)t.points, evolve(&t));
    backward(&t);
    verified = agrees(checksum(&t), problem->checksum[iteration]) && verified;
  }
  double elapsed = MPI_Wtime() - start;

  free_transform(&t);
  if (rank != 0)
    return APP_OK;
  AppResult result = {"ft", problem->name, ranks, elapsed, official_operations(problem), verified};
  return app_report(&result);
}

/* A grid of nz x nz ranks is the last that can be cut. */
static int most_ranks(int index)
{
  return problems[index].nz * problems[index].nz;
}

int main(int argc, char **argv)
{
  static const AppKernel kernel = {"ft", most_ranks, run};
  return app_kernel_main(&kernel, argc, argv);
}
