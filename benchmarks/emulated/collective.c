/* collective OPERATION BYTES WARM_UPS REPETITIONS: times one collective, again and again.
 *
 * All ranks are on one machine and read the same clock. They agree on an instant, sleep until then,
 * and call; a repetition takes from that instant until the last rank is back. So no rank begins late
 * because a barrier let it go late, and the cables are idle when the collective begins. Rank 0 prints a
 * line for each repetition: its seconds, and by how much the last rank began late.
 *
 * `pingpong` instead bounces a message between rank 0 and the rank PARTNER (a fifth argument) while the
 * others wait in a barrier; a repetition is half a round trip. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BOUNCES = 100, LARGE_BOUNCES = 10, LARGE = 4096 };
static const double PAUSE = 0.05; /* s from the agreement to the instant */

static int rank, ranks, bytes, partner = 1;
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

static void alltoall(void)
{
  MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void allgather(void)
{
  MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void allreduce(void)
{
  MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce(void)
{
  MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void bcast(void)
{
  MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int bounces(void)
{
  return bytes > LARGE ? LARGE_BOUNCES : BOUNCES;
}

static void pingpong(void)
{
  for (int bounce = 0; bounce < bounces(); bounce++) {
    if (rank == 0) {
      MPI_Send(out, bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
      MPI_Recv(in, bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == partner) {
      MPI_Recv(in, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
}

static const struct {
  const char *name;
  void (*call)(void);
} OPERATIONS[] = {
    {"allgather", allgather}, {"allreduce", allreduce}, {"alltoall", alltoall},
    {"bcast", bcast},         {"pingpong", pingpong},   {"reduce", reduce},
};
enum { OPERATION_COUNT = sizeof OPERATIONS / sizeof OPERATIONS[0] };

static int find_operation(const char *name)
{
  for (int i = 0; i < OPERATION_COUNT; i++)
    if (strcmp(OPERATIONS[i].name, name) == 0)
      return i;
  fprintf(stderr, "collective: there is no operation %s\n", name);
  exit(2);
}

static double agree(void)
{
  double instant = now() + PAUSE;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &instant, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return instant;
}

static void repeat(int operation, int measured)
{
  double instant = agree();
  sleep_until(instant);
  double mine[2], last[2];
  mine[1] = now() - instant;
  OPERATIONS[operation].call();
  mine[0] = now() - instant;
  MPI_Reduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0 || !measured)
    return;
  if (OPERATIONS[operation].call == pingpong)
    last[0] = mine[0] / (2.0 * bounces());
  printf("%.9f %.9f\n", last[0], last[1]);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  if (argc < 5) {
    fprintf(stderr, "collective OPERATION BYTES WARM_UPS REPETITIONS [PARTNER]\n");
    return 2;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int operation = find_operation(argv[1]);
  bytes = atoi(argv[2]);
  int warm_ups = atoi(argv[3]), repetitions = atoi(argv[4]);
  if (argc > 5)
    partner = atoi(argv[5]);
  out = calloc((size_t)ranks, (size_t)bytes + 8);
  in = calloc((size_t)ranks, (size_t)bytes + 8);
  for (int turn = 0; turn < warm_ups + repetitions; turn++)
    repeat(operation, turn >= warm_ups);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
