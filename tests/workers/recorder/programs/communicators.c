/* Communicators of every kind on 4 ranks; a barrier on each tells its number. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks[2] = {3, 1}, dims[2] = {2, 2}, periods[2] = {1, 0}, rows[2] = {0, 1};
  MPI_Comm copy, half, some, grid, row, again, informed;
  MPI_Group world, two;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(copy, rank == 3 ? MPI_UNDEFINED : rank % 2, -rank, &half);
  if (half != MPI_COMM_NULL)
    MPI_Barrier(half);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, ranks, &two);
  MPI_Comm_create(MPI_COMM_WORLD, two, &some);
  if (some != MPI_COMM_NULL)
    MPI_Barrier(some);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_sub(grid, rows, &row);
  MPI_Barrier(grid);
  MPI_Barrier(row);
  MPI_Comm_free(&copy);
  MPI_Comm_dup(row, &again);
  MPI_Barrier(again);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &informed);
  MPI_Barrier(informed);
  MPI_Comm_disconnect(&informed);
  MPI_Finalize();
  return 0;
}
