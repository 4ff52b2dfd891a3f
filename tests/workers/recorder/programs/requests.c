/* Requests: every immediate form, every way to complete them; rank 1 answers rank 0. */
#include <mpi.h>
#include <stdlib.h>

static int data[16];
static MPI_Request requests[4];

static void receive(int slot, int tag)
{
  MPI_Irecv(data + slot, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, requests + slot);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, index, flag = 0, count, indices[4];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 4; i++)
    requests[i] = MPI_REQUEST_NULL;
  if (rank == 1) {
    for (int tag = 1; tag <= 12; tag++)
      MPI_Send(data, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    for (int tag = 21; tag <= 24; tag++)
      MPI_Recv(data, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
  }
  /* wait; the lowest free slot is used again */
  receive(0, 1);
  receive(1, 2);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  receive(2, 3);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* two are null */
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* all are */

  receive(0, 4);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  receive(1, 5);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); /* MPI_UNDEFINED */

  receive(0, 6);
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);

  receive(0, 7);
  while (!flag)
    MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
  MPI_Test(requests, &flag, MPI_STATUS_IGNORE); /* null: completes nothing */

  receive(0, 8);
  receive(1, 9);
  for (flag = 0; !flag;)
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);

  receive(0, 10);
  for (flag = 0; !flag;)
    MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);

  receive(0, 11);
  for (count = 0; count < 1;)
    MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);

  /* a wildcard is matched before the operation that completes it */
  MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests);
  MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);

  char *room = malloc(1 << 16), *detached;
  MPI_Buffer_attach(room, 1 << 16);
  MPI_Isend(data, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, requests);
  MPI_Issend(data, 1, MPI_INT, 1, 22, MPI_COMM_WORLD, requests + 1);
  MPI_Irsend(data, 1, MPI_INT, 1, 23, MPI_COMM_WORLD, requests + 2);
  MPI_Ibsend(data, 1, MPI_INT, 1, 24, MPI_COMM_WORLD, requests + 3);
  MPI_Request_free(requests);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Buffer_detach(&detached, &count);
  free(room);
  MPI_Isend(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
