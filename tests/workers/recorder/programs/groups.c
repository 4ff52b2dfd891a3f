/* On 4 ranks: 3, 1 and 0 make a communicator, then two of them another on it, while rank 2 does not
 * come; a barrier on each tells its number. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, three[3] = {3, 1, 0}, two[2] = {2, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 2) {
    MPI_Comm some, fewer;
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, three, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 4, &some);
    MPI_Barrier(some);
    if (rank != 1) {
      MPI_Group members, pair;
      MPI_Comm_group(some, &members);
      MPI_Group_incl(members, 2, two, &pair);
      MPI_Comm_create_group(some, pair, 5, &fewer);
      MPI_Barrier(fewer);
    }
    MPI_Comm_free(&some);
  }
  MPI_Finalize();
  return 0;
}
