/* Exchanges with the neighbours on a line, of which the ends have one, and waits for any; then sends what
 * nobody waits for, longer than what SMPI buffers. */
#include <mpi.h>

static char large[200000];

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks, sent = 0, received[2], index;
  MPI_Request requests[4];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int up = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  MPI_Irecv(&received[0], 1, MPI_INT, down, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&received[1], 1, MPI_INT, up, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&sent, 1, MPI_INT, up, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&sent, 1, MPI_INT, down, 1, MPI_COMM_WORLD, &requests[3]);
  for (int left = 4; left > 0; left--)
    MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
  if (rank == 0) {
    MPI_Isend(large, sizeof large, MPI_CHAR, 1, 2, MPI_COMM_WORLD, requests);
    MPI_Request_free(requests);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    MPI_Recv(large, sizeof large, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
