/* Messages that matched probes find, and others of the same tag that are received before them, on 2 ranks. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, data[4] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int count = 4; count >= 1; count--)
      MPI_Send(data, count, MPI_INT, 1, 5, MPI_COMM_WORLD);
  } else {
    MPI_Message first, second;
    MPI_Mprobe(0, 5, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 5, MPI_COMM_WORLD, &second, MPI_STATUS_IGNORE);
    MPI_Recv(data, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, 3, MPI_INT, &second, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, 4, MPI_INT, &first, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
