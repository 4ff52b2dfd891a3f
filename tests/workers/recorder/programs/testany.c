/* MPI_Testany ends buffered sends, collectives and messages to nobody as well, and then says that none is left. */
#include <mpi.h>

int main(int argc, char **argv)
{
  int rank, size, sent = 1, got, index, flag, left = 4;
  MPI_Request requests[4];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&sent, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[3]);
  while (left > 0) {
    MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
    if (flag && index == MPI_UNDEFINED)
      return 3;
    left -= flag;
  }
  MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
  if (!flag || index != MPI_UNDEFINED)
    return 4;
  MPI_Finalize();
  return 0;
}
