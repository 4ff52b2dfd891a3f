/* Receives that rank 0 cancels: one before anything came, one too late, one that it frees. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, data = 0, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1)
    MPI_Send(&data, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled)
      MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Probe(1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&data, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (cancelled)
      MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Irecv(&data, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
  MPI_Finalize();
  return 0;
}
