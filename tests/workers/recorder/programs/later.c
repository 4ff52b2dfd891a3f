/* On 3 ranks: what completes later: a copy of a communicator, collectives of neighbours. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, three = 3, period = 1, counts[2] = {1, 2}, back[2] = {2, 1}, places[2] = {0, 2};
  int out[4] = {0}, in[8];
  MPI_Request requests[2];
  MPI_Comm copy, ring;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Barrier(copy);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &three, &period, 0, &ring);
  MPI_Ineighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, ring, &requests[0]);
  MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in + 4, back, places, MPI_INT, ring,
                          &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  int ones[2] = {1, 1};
  MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, ones, places, MPI_INT, ring, &requests[1]);
  int done = 0;
  while (!done)
    MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
