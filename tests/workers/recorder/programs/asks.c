/* Asks until a message is there, answers it, and ends its request later, on 2 ranks. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, data = 0, flag = 0;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Send(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(&data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    while (!flag)
      MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
