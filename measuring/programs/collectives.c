/* collectives OPERATION WARM_UPS BYTESxCALLSxREPETITIONS...: times one collective, size by size.
 *
 * For an emulated cluster, whose ranks all read the same clock. They agree on an instant, sleep until
 * then, and call so many times; a repetition takes from that instant until the last rank is back. So no
 * rank begins late because a barrier let it go late, and the cables are idle when the first call begins.
 * Where many hosts are played by few cores, the last rank wakes a millisecond or two late, so that what
 * takes less must be called several times. Rank 0 prints a line for each repetition: the bytes, the
 * seconds of all calls, and by how much the last rank began late.
 *
 * BYTES is what one rank has for another in an all-to-all, gather, scatter and allgather, and the whole
 * vector in a broadcast, reduction, allreduce and reduce-scatter. The root is rank 0. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double PAUSE = 0.05; /* s from the agreement to the instant */

static int rank, ranks, bytes, calls;
static int *counts;
static char *out, *in;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_until(double instant)
{
  struct timespec t;
  t.tv_sec = (time_t)instant;
  t.tv_nsec = (long)((instant - (double)t.tv_sec) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
    ;
}

static void allgather(void)
{
  MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void allreduce(void)
{
  MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void)
{
  MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void bcast(void)
{
  MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void gather(void)
{
  MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void reduce(void)
{
  MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void reduce_scatter(void)
{
  MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void scatter(void)
{
  MPI_Scatter(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static const struct operation {
  const char *name;
  void (*call)(void);
} OPERATIONS[] = {
    {"allgather", allgather}, {"allreduce", allreduce}, {"alltoall", alltoall},
    {"bcast", bcast},         {"gather", gather},       {"reduce", reduce},
    {"reduce_scatter", reduce_scatter},                 {"scatter", scatter},
};
enum { OPERATION_COUNT = sizeof OPERATIONS / sizeof OPERATIONS[0] };

static const struct operation *find_operation(const char *name)
{
  for (int i = 0; i < OPERATION_COUNT; i++)
    if (strcmp(OPERATIONS[i].name, name) == 0)
      return &OPERATIONS[i];
  fprintf(stderr, "collectives: there is no operation %s\n", name);
  exit(2);
}

static double agree(void)
{
  double instant = now() + PAUSE;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &instant, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return instant;
}

static void repeat(const struct operation *operation, int counted)
{
  double instant = agree();
  sleep_until(instant);
  double mine[2], last[2];
  mine[1] = now() - instant;
  for (int call = 0; call < calls; call++)
    operation->call();
  mine[0] = now() - instant;
  MPI_Reduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0 && counted)
    printf("%d %.9f %.9f\n", bytes, last[0], last[1]);
}

static void time_size(const struct operation *operation, int warm_ups, int repetitions)
{
  size_t room = (size_t)ranks * (size_t)bytes + 8;
  out = calloc(room, 1);
  in = calloc(room, 1);
  counts = calloc((size_t)ranks, sizeof *counts);
  if (!out || !in || !counts) {
    fprintf(stderr, "collectives: no memory for %d ranks of %d bytes\n", ranks, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(out, 1, room); /* pages are there before the first repetition */
  memset(in, 1, room);
  for (int i = 0; i < ranks; i++)
    counts[i] = bytes / 8 / ranks;
  for (int turn = 0; turn < warm_ups + repetitions; turn++)
    repeat(operation, turn >= warm_ups);
  free(out);
  free(in);
  free(counts);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  if (argc < 4) {
    fprintf(stderr, "collectives OPERATION WARM_UPS BYTESxCALLSxREPETITIONS...\n");
    return 2;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct operation *operation = find_operation(argv[1]);
  for (int size = 3; size < argc; size++) {
    int repetitions;
    if (sscanf(argv[size], "%dx%dx%d", &bytes, &calls, &repetitions) != 3) {
      fprintf(stderr, "collectives: %s is not BYTESxCALLSxREPETITIONS\n", argv[size]);
      return 2;
    }
    time_size(operation, atoi(argv[2]), repetitions);
  }
  MPI_Finalize();
  return 0;
}
