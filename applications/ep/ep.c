/* EP: pairs of Gaussian deviates from pseudorandom numbers, summed and counted by size. Ranks only
 * meet at the end.
 *
 * Specification: NAS Parallel Benchmarks, RNR-94-007, kernel EP; distribution and messages as in
 * the MPI version of NPB 3.3.1. See docs/applications/ep.md. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/npb_random.h"
#include "../hamtune_app.h"

enum {
  BATCH_EXPONENT = 16,
  BATCH = 1 << BATCH_EXPONENT, /* pairs; ranks share out whole batches */
  ANNULI = 10,
  NUMBERS_OF_A_PAIR = 2
};

#define EP_SEED UINT64_C(271828183)

/* NPB's nominal count for class A is 26.68e9 operations for 2^28 pairs; logarithms and square roots
 * are counted at what they cost. */
static const double PAIR_FLOPS = 26.68e9 / (1 << 28);
static const double TOLERANCE = 1e-8;

typedef struct {
  const char *name;
  int exponent; /* 2^exponent pairs */
  double sums[2]; /* NPB's verification values */
  double counts[ANNULI];
} Problem;

static const char classes[] = "SWABC";

static const Problem problems[] = {
    {"S", 24, {-3.247834652034740e+3, -6.958407078382297e+3},
     {6140517, 5865300, 1100361, 68546, 1648, 17}},
    {"W", 25, {-2.863319731645753e+3, -6.320053679109499e+3},
     {12281576, 11729692, 2202726, 137368, 3371, 36}},
    {"A", 28, {-4.295875165629892e+3, -1.580732573678431e+4},
     {98257395, 93827014, 17611549, 1110028, 26536, 245}},
    {"B", 30, {4.033815542441498e+4, -2.660669192809235e+4},
     {393058470, 375280898, 70460742, 4438852, 105691, 948, 5}},
    {"C", 32, {4.764367927995374e+4, -8.084072988043731e+4},
     {1572172634, 1501108549, 281805648, 17761221, 424017, 3821, 13}},
};

static int batch_count(const Problem *problem)
{
  return 1 << (problem->exponent - BATCH_EXPONENT);
}

/* What all the pairs of a rank come to. */
typedef struct {
  double sums[2];
  double counts[ANNULI]; /* of pairs whose larger deviate is between n and n + 1 */
} Tally;

/* Turns a point of the unit disk into two Gaussian deviates (polar method); points outside of it
 * are dropped. */
static void tally_pair(double x, double y, Tally *tally)
{
  double square = x * x + y * y;
  if (square > 1.0)
    return;
  double factor = sqrt(-2.0 * log(square) / square);
  double first = x * factor, second = y * factor;
  tally->sums[0] += first;
  tally->sums[1] += second;
  tally->counts[(int)fmax(fabs(first), fabs(second))] += 1.0;
}

static void tally_batches(AppRange batches, Tally *tally)
{
  uint64_t first = (uint64_t)batches.first * BATCH * NUMBERS_OF_A_PAIR;
  uint64_t state = npb_skip_from(EP_SEED, first);
  for (int batch = 0; batch < batches.count; batch++) {
    for (int pair = 0; pair < BATCH; pair++) {
      double x = 2.0 * npb_random(&state, NPB_MULTIPLIER) - 1.0;
      double y = 2.0 * npb_random(&state, NPB_MULTIPLIER) - 1.0;
      tally_pair(x, y, tally);
    }
  }
}

static bool verify(const Problem *problem, const Tally *total)
{
  for (int i = 0; i < 2; i++) {
    if (!(fabs(total->sums[i] - problem->sums[i]) <= TOLERANCE * fabs(problem->sums[i])))
      return false;
  }
  for (int i = 0; i < ANNULI; i++) {
    if (fabs(total->counts[i] - problem->counts[i]) > 0.5)
      return false;
  }
  return true;
}

static int run(const Problem *problem, int rank, int ranks)
{
  /* NPB tells every rank here whether rank 0 found its file that switches detailed timers on. */
  int detailed_timers = 0;
  MPI_Bcast(&detailed_timers, 1, MPI_INT, 0, MPI_COMM_WORLD);

  AppRange batches = app_cut(batch_count(problem), ranks, rank);
  Tally mine = {{0.0}, {0.0}}, total = mine;
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  HAMTUNE_BLOCK(PAIR_FLOPS * batches.count * BATCH, tally_batches(batches, &mine));
  for (int i = 0; i < 2; i++)
    MPI_Allreduce(&mine.sums[i], &total.sums[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(mine.counts, total.counts, ANNULI, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double elapsed = MPI_Wtime() - start, slowest = 0.0;
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

  if (rank != 0)
    return APP_OK;
  AppResult result = {"ep", problem->name, ranks, slowest,
                      PAIR_FLOPS * ldexp(1.0, problem->exponent), verify(problem, &total)};
  return app_report(&result);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks, iterations;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int index = app_class_and_iterations(argc, argv, classes, &iterations);
  if (index < 0 || iterations > 0)
    return app_wrong_use("ep", "needs one class of S, W, A, B, C (usage: ep CLASS)");
  const Problem *problem = &problems[index];
  int limit = batch_count(problem);
  if (ranks > limit)
    return app_wrong_use("ep", "class %s needs at most %d ranks, a batch of pairs for each, not %d",
                         problem->name, limit, ranks);
  int status = run(problem, rank, ranks);
  MPI_Finalize();
  return status;
}
