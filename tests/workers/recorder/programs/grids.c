/* On 4 ranks: grids without dimensions, and communicators that are created of disjoint groups at once. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Comm point, part, half;
  MPI_Group all, mine;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &point);
  if (point != MPI_COMM_NULL) {
    MPI_Cart_sub(point, NULL, &part);
    MPI_Barrier(part);
  }
  int ranks[2] = {rank % 2, rank % 2 + 2};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, ranks, &mine);
  MPI_Comm_create(MPI_COMM_WORLD, mine, &half);
  MPI_Barrier(half);
  MPI_Finalize();
  return 0;
}
