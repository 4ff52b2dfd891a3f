/* Every blocking form of point-to-point, between ranks 0 and 1. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, data[8] = {0}, other[8];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int peer = 1 - rank;
  if (rank == 0) {
    const int size = 1 << 20;
    char *room = malloc(size + MPI_BSEND_OVERHEAD), *detached;
    int was;
    MPI_Send(data, 8, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Ssend(data, 3, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Rsend(data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    MPI_Buffer_attach(room, size + MPI_BSEND_OVERHEAD);
    MPI_Bsend(data, 5, MPI_INT, 1, 4, MPI_COMM_WORLD);
    MPI_Buffer_detach(&detached, &was);
    free(room);
    MPI_Send(data, 0, MPI_INT, 1, 5, MPI_COMM_WORLD);
  } else {
    MPI_Status status;
    int flag = 0;
    MPI_Recv(data, 8, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 8, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 8, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    while (!flag)
      MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, &status);
    MPI_Recv(data, 0, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
  }
  MPI_Sendrecv(data, 2, MPI_INT, peer, 6, other, 4, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(data, 3, MPI_INT, peer, 7, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* An open chain: 0 to 1 only. */
  MPI_Sendrecv(data, rank ? 0 : 1, MPI_INT, rank ? MPI_PROC_NULL : 1, 8, other, rank, MPI_INT,
               rank ? 0 : MPI_PROC_NULL, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD);
  MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
