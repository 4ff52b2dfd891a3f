/* Rank 0 starts one persistent send again and again before rank 1 receives any of its messages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 4 };

static void check(int holds, const char *what)
{
  if (holds)
    return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(3);
}

static void send(void)
{
  int value = 0, index = -1, flag = 0, one = 0, indices[2];
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Send_init(&value, 1, type, 1, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Type_free(&type);
  const MPI_Request made = requests[1];
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  check(index == MPI_UNDEFINED, "inactive");
  for (value = 1; value <= TIMES; value++) {
    MPI_Start(&requests[1]);
    if (value == 1)
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    else if (value == 2)
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    else if (value == 3)
      MPI_Waitsome(2, requests, &one, indices, MPI_STATUSES_IGNORE);
    else
      while (!flag)
        MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    check(requests[1] == made, "the request stays");
  }
  check(index == 1 && one == 1 && indices[0] == 1, "which is complete");
  MPI_Request_free(&requests[1]);
  check(requests[1] == MPI_REQUEST_NULL, "freed");
}

int main(int argc, char **argv)
{
  int rank, got;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    send();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int value = 1; rank == 1 && value <= TIMES; value++) {
    MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(got == value, "the messages in order");
  }
  MPI_Finalize();
  return 0;
}
