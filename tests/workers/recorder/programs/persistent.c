/* Persistent requests: started twice, singly and together; freed. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, data[4] = {0};
  MPI_Request requests[2];
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Send_init(data, 2, pair, 1, 1, MPI_COMM_WORLD, requests);
    MPI_Ssend_init(data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, requests + 1);
  } else {
    MPI_Recv_init(data, 2, pair, 0, 1, MPI_COMM_WORLD, requests);
    MPI_Recv_init(data, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests + 1);
  }
  MPI_Type_free(&pair);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Start(requests + 1);
  MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
  MPI_Wait(requests + 1, MPI_STATUS_IGNORE); /* not active */
  MPI_Request_free(requests);
  MPI_Request_free(requests + 1);
  if (rank == 0) {
    char room[1000], *detached;
    int size;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend_init(data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, requests);
    MPI_Start(requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Request_free(requests);
    MPI_Buffer_detach(&detached, &size);
  } else {
    MPI_Recv(data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
