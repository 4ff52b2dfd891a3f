/* As matched.c, without the call that SMPI does not have. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, flag = 0, data[4] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int tag = 1; tag <= 3; tag++)
      MPI_Send(data, tag, MPI_INT, 1, tag, MPI_COMM_WORLD);
  } else {
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(data, 4, MPI_INT, &message, &status);
    while (!flag)
      MPI_Improbe(0, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
    
    MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(data, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
