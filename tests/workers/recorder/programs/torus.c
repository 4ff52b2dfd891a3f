/* On 2 ranks, each other's neighbour down and up along the first axis, and each its own along the second.
 * What goes down comes from above; in some calls of some libraries it fills the first block instead. So the
 * program asks before it gives blocks other lengths. Ends with 1 where anything else comes. */
#include <mpi.h>
#include <stdbool.h>

enum { BLOCKS = 4, LONGEST = 4 };
static const int places[BLOCKS] = {0, 4, 8, 12}, sent[BLOCKS] = {1, 2, 3, 4};
static int rank, out[BLOCKS * LONGEST], in[BLOCKS * LONGEST];

static void exchange(const int *lengths, const int *expected, bool blocking, MPI_Comm torus)
{
  MPI_Request request;
  if (blocking) {
    MPI_Neighbor_alltoallv(out, lengths, places, MPI_INT, in, expected, places, MPI_INT, torus);
  } else {
    MPI_Ineighbor_alltoallv(out, lengths, places, MPI_INT, in, expected, places, MPI_INT, torus,
                            &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void try(bool blocking, MPI_Comm torus)
{
  const int alike[BLOCKS] = {1, 1, 1, 1};
  int expected[BLOCKS];
  exchange(alike, alike, blocking, torus);
  const int other = in[0] == 100 * (1 - rank) + places[1];
  for (int block = 0; block < BLOCKS; block++)
    expected[block] = sent[block ^ other];
  exchange(sent, expected, blocking, torus);
  for (int block = 0; block < BLOCKS; block++)
    for (int i = 0; i < expected[block]; i++)
      if (in[places[block] + i] != 100 * (block < 2 ? 1 - rank : rank) + places[block ^ other] + i)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const int sides[2] = {2, 1}, round[2] = {1, 1};
  MPI_Comm torus;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, round, 0, &torus);
  for (int i = 0; i < BLOCKS * LONGEST; i++)
    out[i] = 100 * rank + i;
  try(true, torus);
  try(false, torus);
  MPI_Finalize();
  return 0;
}
