/* Fails in the way that its argument names. */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  const char *way = argv[argc - 1];
  if (strcmp(way, "without-mpi") == 0)
    return 0;
  int rank, data[2] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(way, "abort") == 0) {
    fprintf(stderr, "the pressure is negative\n");
    abort();
  }
  if (strcmp(way, "mpi-abort") == 0 && rank == 1)
    MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(way, "status") == 0) {
    MPI_Finalize();
    return 3;
  }
  if (strcmp(way, "no-finalize") == 0 && rank == 1)
    return 0;
  if (strcmp(way, "deadlock") == 0)
    MPI_Recv(data, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int found = 0;
  while (strcmp(way, "poll") == 0 && rank == 0 && !found)
    MPI_Iprobe(1, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  if (strcmp(way, "poll") == 0)
    MPI_Recv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(way, "gone") == 0) {
    if (rank == 1)
      return 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(way, "crash") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
      *(volatile int *)0 = 1;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(way, "type") == 0) {
    MPI_Datatype type;
    MPI_Type_vector(-1, 1, 1, MPI_INT, &type);
  }
  if (strcmp(way, "asleep") == 0)
    poll(NULL, 0, 60000);
  if (strcmp(way, "endless") == 0)
    for (;;)
      ;
  if (strcmp(way, "memory") == 0)
    for (size_t i = 0;; i++) {
      char *more = malloc(1 << 24);
      if (more == NULL)
        abort();
      memset(more, 1, 1 << 24);
    }
  if (strcmp(way, "truncate") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
      MPI_Send(data, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(way, "no-topology") == 0)
    MPI_Neighbor_allgather(data, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD);
  if (strcmp(way, "write-outside") == 0) {
    FILE *file = fopen(getenv("HOME") ? "/usr/hamtune-was-here" : "", "w");
    if (file == NULL)
      return 7;
  }
  MPI_Finalize();
  return 0;
}
