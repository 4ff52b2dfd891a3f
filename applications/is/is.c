/* IS: ranking of integer keys by a bucket sort.
 *
 * Specification: NAS Parallel Benchmarks, RNR-94-007, kernel IS; redistribution of buckets and
 * message pattern as in the MPI version of NPB 3.3.1. See docs/applications/is.md. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/npb_random.h"
#include "../hamtune_app.h"

enum { ITERATIONS = 10, TESTS = 5, TAG = 1000 };

/* A key whose rank is known: where it stands among all keys, the rank it must get, and how that
 * rank moves as every iteration replaces two keys: rank + slope * iteration + offset. */
typedef struct {
  int index;
  int rank;
  int slope;
  int offset;
} Test;

typedef struct {
  const char *name;
  int keys_log2;
  int range_log2; /* keys are below 2^range_log2 */
  int buckets_log2;
  int most_ranks;
  Test tests[TESTS]; /* NPB's verification values */
} Problem;

static const Problem problems[] = {
    {"S", 16, 11, 9, 128,
     {{48427, 0, 1, 0}, {17148, 18, 1, 0}, {23627, 346, 1, 0}, {62548, 64917, -1, 0},
      {4431, 65463, -1, 0}}},
    {"W", 20, 16, 10, 1024,
     {{357773, 1249, 1, -2}, {934767, 11698, 1, -2}, {875723, 1039987, -1, 0},
      {898999, 1043896, -1, 0}, {404505, 1048018, -1, 0}}},
    {"A", 23, 19, 10, 1024,
     {{2112377, 104, 1, -1}, {662041, 17523, 1, -1}, {5336171, 123928, 1, -1},
      {3642833, 8288932, -1, 1}, {4250760, 8388264, -1, 1}}},
    {"B", 25, 21, 10, 1024,
     {{41869, 33422937, -1, 0}, {812306, 10244, 1, 0}, {5102857, 59149, 1, 0},
      {18232239, 33135281, -1, 0}, {26860214, 99, 1, 0}}},
};

/* Keys that a rank holds after the exchange: those of buckets [first, end). */
typedef struct {
  int first;
  int end;
} BucketRange;

typedef struct {
  const Problem *problem;
  int rank;
  int ranks;
  int keys; /* that each rank generates */
  int buckets;
  int shift; /* key >> shift is its bucket */
  int *key;
  int *grouped; /* the same keys, bucket by bucket */
  int *counts;  /* of the rank's keys in each bucket, then the test keys found here */
  int *totals;  /* the same, summed over ranks */
  BucketRange *range; /* of each rank */
  int *send_count, *send_start, *receive_count, *receive_start;
  int *received;
  int received_room;
  int received_count;
  int *population; /* of each key value of the rank's range; then how many are not greater */
  int population_room;
  int passed; /* checks */
} Sorter;

static Sorter make_sorter(const Problem *problem, int rank, int ranks)
{
  Sorter s = {.problem = problem, .rank = rank, .ranks = ranks};
  s.keys = (1 << problem->keys_log2) / ranks;
  s.buckets = 1 << problem->buckets_log2;
  s.shift = problem->range_log2 - problem->buckets_log2;
  s.key = app_allocate((size_t)s.keys, sizeof(int));
  s.grouped = app_allocate((size_t)s.keys, sizeof(int));
  s.counts = app_allocate((size_t)s.buckets + TESTS, sizeof(int));
  s.totals = app_allocate((size_t)s.buckets + TESTS, sizeof(int));
  s.range = app_allocate((size_t)ranks, sizeof(BucketRange));
  int **per_rank[] = {&s.send_count, &s.send_start, &s.receive_count, &s.receive_start};
  for (size_t i = 0; i < sizeof per_rank / sizeof per_rank[0]; i++)
    *per_rank[i] = app_allocate((size_t)ranks, sizeof(int));
  return s;
}

static void free_sorter(Sorter *s)
{
  int *all[] = {s->key,           s->grouped,       s->counts,   s->totals,    s->send_count,
                s->send_start,    s->receive_count, s->receive_start, s->received, s->population};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    free(all[i]);
  free(s->range);
}

/* Makes room for `count` items without keeping the old ones. */
static void make_room(int **items, int *room, int count)
{
  if (count <= *room)
    return;
  free(*items);
  *items = app_allocate((size_t)count, sizeof(int));
  *room = count;
}

/* ---- the rank's own keys ---- */

/* Each key is the mean of four random numbers: the keys crowd around the middle of the range. */
static void generate_keys(Sorter *s)
{
  uint64_t state = npb_skip(4 * (uint64_t)s->rank * (uint64_t)s->keys);
  double quarter = (double)((1 << s->problem->range_log2) / 4);
  for (int i = 0; i < s->keys; i++) {
    double sum = npb_random(&state, NPB_MULTIPLIER);
    sum += npb_random(&state, NPB_MULTIPLIER);
    sum += npb_random(&state, NPB_MULTIPLIER);
    sum += npb_random(&state, NPB_MULTIPLIER);
    s->key[i] = (int)(quarter * sum);
  }
}

/* Every iteration ranks slightly other keys. */
static void alter_keys(Sorter *s, int iteration)
{
  if (s->rank != 0)
    return;
  s->key[iteration] = iteration;
  s->key[iteration + ITERATIONS] = (1 << s->problem->range_log2) - iteration;
}

static void count_buckets(Sorter *s)
{
  memset(s->counts, 0, ((size_t)s->buckets + TESTS) * sizeof(int));
  for (int i = 0; i < s->keys; i++)
    s->counts[s->key[i] >> s->shift]++;
  for (int i = 0; i < TESTS; i++) {
    int index = s->problem->tests[i].index;
    if (index / s->keys == s->rank)
      s->counts[s->buckets + i] = s->key[index % s->keys];
  }
}

static void group_keys(Sorter *s)
{
  int *next = app_allocate((size_t)s->buckets, sizeof(int));
  next[0] = 0;
  for (int bucket = 1; bucket < s->buckets; bucket++)
    next[bucket] = next[bucket - 1] + s->counts[bucket - 1];
  for (int i = 0; i < s->keys; i++)
    s->grouped[next[s->key[i] >> s->shift]++] = s->key[i];
  free(next);
}

/* ---- redistribution ---- */

/* Buckets go to ranks in order; a rank is full once the ranks up to it hold their fair share of
 * all keys. Ranks that are left over hold nothing. */
static void assign_buckets(Sorter *s)
{
  int64_t keys_so_far = 0;
  int owner = 0, first = 0, mine = 0;
  memset(s->send_count, 0, (size_t)s->ranks * sizeof(int));
  memset(s->range, 0, (size_t)s->ranks * sizeof(BucketRange));
  for (int bucket = 0; bucket < s->buckets; bucket++) {
    keys_so_far += s->totals[bucket];
    mine += s->counts[bucket];
    if (keys_so_far < (int64_t)(owner + 1) * s->keys)
      continue;
    s->range[owner] = (BucketRange){first, bucket + 1};
    s->send_count[owner++] = mine;
    first = bucket + 1;
    mine = 0;
  }
  s->send_start[0] = 0;
  for (int other = 1; other < s->ranks; other++)
    s->send_start[other] = s->send_start[other - 1] + s->send_count[other - 1];
}

static void exchange_keys(Sorter *s)
{
  MPI_Alltoall(s->send_count, 1, MPI_INT, s->receive_count, 1, MPI_INT, MPI_COMM_WORLD);
  s->received_count = 0;
  for (int other = 0; other < s->ranks; other++) {
    s->receive_start[other] = s->received_count;
    s->received_count += s->receive_count[other];
  }
  make_room(&s->received, &s->received_room, s->received_count);
  MPI_Alltoallv(s->grouped, s->send_count, s->send_start, MPI_INT, s->received, s->receive_count,
                s->receive_start, MPI_INT, MPI_COMM_WORLD);
}

/* ---- ranking ---- */

static int lowest_key(const Sorter *s)
{
  return s->range[s->rank].first << s->shift;
}

/* Key values that may occur on this rank. */
static int range_length(const Sorter *s)
{
  return (s->range[s->rank].end - s->range[s->rank].first) << s->shift;
}

/* population[i] becomes the number of keys on this rank that are at most the lowest plus i. */
static void rank_keys(Sorter *s)
{
  int length = range_length(s);
  make_room(&s->population, &s->population_room, length);
  memset(s->population, 0, (size_t)length * sizeof(int));
  for (int i = 0; i < s->received_count; i++)
    s->population[s->received[i] - lowest_key(s)]++;
  for (int i = 1; i < length; i++)
    s->population[i] += s->population[i - 1];
}

/* Compares the ranks of the test keys that are here with what they must be in this iteration. */
static void check_ranks(Sorter *s, int iteration)
{
  int lesser = 0; /* keys on the ranks before this one */
  for (int bucket = 0; bucket < s->range[s->rank].first; bucket++)
    lesser += s->totals[bucket];
  for (int i = 0; i < TESTS; i++) {
    const Test *test = &s->problem->tests[i];
    int at = s->totals[s->buckets + i] - lowest_key(s);
    if (at < 0 || at >= range_length(s))
      continue;
    int found = lesser + (at > 0 ? s->population[at - 1] : 0);
    s->passed += found == test->rank + test->slope * iteration + test->offset;
  }
}

static void rank_all_keys(Sorter *s, int iteration)
{
  alter_keys(s, iteration);
  HAMTUNE_NEEDED(2.0 * s->keys, count_buckets(s));
  HAMTUNE_BLOCK(2.0 * s->keys + s->buckets, group_keys(s));
  MPI_Allreduce(s->counts, s->totals, s->buckets + TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  HAMTUNE_NEEDED(3.0 * s->buckets, assign_buckets(s));
  exchange_keys(s);
  HAMTUNE_BLOCK((double)s->received_count + range_length(s) + s->range[s->rank].first, {
    rank_keys(s);
    check_ranks(s, iteration);
  });
}

/* ---- full verification ---- */

/* Puts the keys of this rank in order; destroys the populations. */
static void sort_keys(const Sorter *s, int *sorted)
{
  for (int i = 0; i < s->received_count; i++)
    sorted[--s->population[s->received[i] - lowest_key(s)]] = s->received[i];
}

static int count_out_of_order(const Sorter *s, const int *sorted, int greatest_before)
{
  int wrong = s->rank > 0 && s->received_count > 0 && greatest_before > sorted[0];
  for (int i = 1; i < s->received_count; i++)
    wrong += sorted[i - 1] > sorted[i];
  return wrong;
}

/* The keys are in order on every rank, and none is smaller than the greatest of the rank before. */
static void check_order(Sorter *s)
{
  int *sorted = app_allocate((size_t)s->received_count, sizeof(int));
  int greatest = 0, greatest_before = 0;
  HAMTUNE_BLOCK(s->received_count, {
    sort_keys(s, sorted);
    if (s->received_count > 0)
      greatest = sorted[s->received_count - 1];
  });
  MPI_Request request = MPI_REQUEST_NULL;
  if (s->rank > 0)
    MPI_Irecv(&greatest_before, 1, MPI_INT, s->rank - 1, TAG, MPI_COMM_WORLD, &request);
  if (s->rank < s->ranks - 1)
    MPI_Send(&greatest, 1, MPI_INT, s->rank + 1, TAG, MPI_COMM_WORLD);
  if (s->rank > 0)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  HAMTUNE_BLOCK(s->received_count,
                s->passed += count_out_of_order(s, sorted, greatest_before) == 0);
  free(sorted);
}

static int run(int index, int rank, int ranks)
{
  const Problem *problem = &problems[index];
  /* NPB tells every rank here whether rank 0 found its file that switches detailed timers on. */
  int detailed_timers = 0;
  MPI_Bcast(&detailed_timers, 1, MPI_INT, 0, MPI_COMM_WORLD);

  Sorter s = make_sorter(problem, rank, ranks);
  HAMTUNE_NEEDED((4.0 * NPB_RANDOM_FLOPS + 4.0) * s.keys, generate_keys(&s));
  rank_all_keys(&s, 1); /* untimed, touches everything */
  s.passed = 0;

  double start = MPI_Wtime();
  for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
    HAMTUNE_ITERATION();
    rank_all_keys(&s, iteration);
  }
  double elapsed = MPI_Wtime() - start;
  double slowest = 0.0;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  check_order(&s);
  int all_passed = 0;
  MPI_Reduce(&s.passed, &all_passed, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);

  free_sorter(&s);
  if (rank != 0)
    return APP_OK;
  AppResult result = {"is", problem->name, ranks, slowest,
                      (double)ITERATIONS * (1 << problem->keys_log2),
                      all_passed == TESTS * ITERATIONS + ranks};
  return app_report(&result);
}

static int most_ranks(int index)
{
  return problems[index].most_ranks;
}

int main(int argc, char **argv)
{
  static const AppKernel kernel = {"is", most_ranks, run};
  return app_kernel_main(&kernel, argc, argv);
}
