/* Collective: one collective operation over and over.
 *
 * Deng et al. (2019), section 4.2.2, measure broadcast, reduction, scatter and all-to-all in this way,
 * with units of 1 MB and 32 MB. See docs/applications/collective.md. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "../common/application.h"
#include "../common/folded.h"
#include "../common/numbers.h"
#include "../hamtune_app.h"

enum { DEFAULT_BYTES = 1 << 20, MOST_BYTES = 1 << 30, DEFAULT_REPEATS = 1, MOST_REPEATS = 100000 };

/* A call, and how many units each rank sends and receives at most: one, or one for each rank. */
typedef struct {
  int rank, ranks;
  int numbers; /* a unit, in doubles */
  int repeats;
  double *sent, *received;
} Run;

typedef struct {
  const char *name;
  void (*call)(const Run *run);
  /* What rank `rank` holds in element `index` of the unit `unit` of its received data. */
  double (*expected)(const Run *run, int unit, int index);
  int (*units_received)(const Run *run);
  bool many_sent;
} Operation;

/* Every number says who sent it, to whom, and where it stands; small enough to be added exactly. */
static double number(int sender, int unit, int index)
{
  return sender + 3.0 * unit + index % 1021;
}

static void call_bcast(const Run *r)
{
  MPI_Bcast(r->rank == 0 ? r->sent : r->received, r->numbers, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void call_reduce(const Run *r)
{
  MPI_Reduce(r->sent, r->received, r->numbers, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void call_allreduce(const Run *r)
{
  MPI_Allreduce(r->sent, r->received, r->numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void call_scatter(const Run *r)
{
  MPI_Scatter(r->sent, r->numbers, MPI_DOUBLE, r->received, r->numbers, MPI_DOUBLE, 0,
              MPI_COMM_WORLD);
}

static void call_gather(const Run *r)
{
  MPI_Gather(r->sent, r->numbers, MPI_DOUBLE, r->received, r->numbers, MPI_DOUBLE, 0,
             MPI_COMM_WORLD);
}

static void call_allgather(const Run *r)
{
  MPI_Allgather(r->sent, r->numbers, MPI_DOUBLE, r->received, r->numbers, MPI_DOUBLE,
                MPI_COMM_WORLD);
}

static void call_alltoall(const Run *r)
{
  MPI_Alltoall(r->sent, r->numbers, MPI_DOUBLE, r->received, r->numbers, MPI_DOUBLE,
               MPI_COMM_WORLD);
}

static double from_root(const Run *r, int unit, int index)
{
  (void)r;
  return number(0, unit, index);
}

static double from_root_to_me(const Run *r, int unit, int index)
{
  (void)unit;
  return number(0, r->rank, index);
}

static double sum_of_all(const Run *r, int unit, int index)
{
  return r->ranks * (r->ranks - 1.0) / 2.0 + r->ranks * number(0, unit, index);
}

static double one_of_each(const Run *r, int unit, int index)
{
  (void)r;
  return number(unit, 0, index);
}

static double mine_of_each(const Run *r, int unit, int index)
{
  return number(unit, r->rank, index);
}

static int one(const Run *r)
{
  (void)r;
  return 1;
}

static int one_but_the_root(const Run *r)
{
  return r->rank == 0 ? 0 : 1;
}

static int one_at_the_root(const Run *r)
{
  return r->rank == 0 ? 1 : 0;
}

static int many(const Run *r)
{
  return r->ranks;
}

static int many_at_the_root(const Run *r)
{
  return r->rank == 0 ? r->ranks : 0;
}

static const Operation OPERATIONS[] = {
    {"allgather", call_allgather, one_of_each, many, false},
    {"allreduce", call_allreduce, sum_of_all, one, false},
    {"alltoall", call_alltoall, mine_of_each, many, true},
    {"bcast", call_bcast, from_root, one_but_the_root, false},
    {"gather", call_gather, one_of_each, many_at_the_root, false},
    {"reduce", call_reduce, sum_of_all, one_at_the_root, false},
    {"scatter", call_scatter, from_root_to_me, one, true},
};
enum { OPERATION_COUNT = sizeof OPERATIONS / sizeof OPERATIONS[0] };

static void fill(const Run *r, int units)
{
  size_t at = 0;
  for (int unit = 0; unit < units; unit++)
    for (int index = 0; index < r->numbers; index++)
      r->sent[at++] = number(r->rank, unit, index);
}

static int count_wrong(const Run *r, const Operation *operation)
{
  int wrong = 0;
  size_t at = 0;
  for (int unit = 0; unit < operation->units_received(r); unit++)
    for (int index = 0; index < r->numbers; index++)
      wrong += r->received[at++] != operation->expected(r, unit, index);
  return wrong;
}

static int run(Run *r, const Operation *operation)
{
  int sent_units = operation->many_sent ? r->ranks : 1;
  size_t unit = (size_t)r->numbers * sizeof(double);
  r->sent = app_allocate_payload(unit * (size_t)sent_units);
  r->received = app_allocate_payload(unit * (size_t)operation->units_received(r));
  HAMTUNE_BLOCK(0.0, fill(r, sent_units));
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int turn = 0; turn < r->repeats; turn++)
    operation->call(r);
  double elapsed = MPI_Wtime() - start, slowest;
  int wrong = 0, all_wrong = 0;
  HAMTUNE_BLOCK(0.0, wrong = count_wrong(r, operation));
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  app_free_payload(r->sent);
  app_free_payload(r->received);
  if (r->rank != 0)
    return APP_OK;
  char size[64];
  snprintf(size, sizeof size, "%s %d x %zu bytes", operation->name, r->repeats, unit);
  AppResult result = {"collective", size, r->ranks, slowest, r->repeats, all_wrong == 0};
  return app_report(&result);
}

static const Operation *find_operation(int argc, char **argv)
{
  for (int i = 0; argc > 1 && i < OPERATION_COUNT; i++)
    if (strcmp(argv[1], OPERATIONS[i].name) == 0)
      return &OPERATIONS[i];
  return NULL;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  Run r = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
  const Operation *operation = find_operation(argc, argv);
  long bytes = app_number(argc, argv, 2, 8, MOST_BYTES, DEFAULT_BYTES);
  r.repeats = (int)app_number(argc, argv, 3, 1, MOST_REPEATS, DEFAULT_REPEATS);
  if (argc > 4 || operation == NULL || bytes < 0 || bytes % 8 != 0 || r.repeats < 0)
    return app_wrong_use("collective",
                         "needs one of allgather, allreduce, alltoall, bcast, gather, reduce, "
                         "scatter, bytes from 8 to %d that 8 divides and repeats from 1 to %d "
                         "(usage: collective OPERATION [BYTES [REPEATS]], default %d %d)",
                         MOST_BYTES, MOST_REPEATS, DEFAULT_BYTES, DEFAULT_REPEATS);
  r.numbers = (int)(bytes / 8);
  int status = run(&r, operation);
  MPI_Finalize();
  return status;
}
