/* MPI_IN_PLACE wherever it is allowed, and what is not significant left as rubbish. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const MPI_Comm world = MPI_COMM_WORLD;
  int rank, a[8] = {0}, counts[2] = {1, 2}, places[2] = {0, 1};
  MPI_Comm_rank(world, &rank);
  void *const none = MPI_IN_PLACE;
  const int root = rank == 0;
  MPI_Reduce(root ? none : a, root ? a : NULL, 2, MPI_INT, MPI_SUM, 0, world);
  MPI_Allreduce(none, a, 2, MPI_INT, MPI_MAX, world);
  if (root) {
    MPI_Gather(none, -1, MPI_DATATYPE_NULL, a, 1, MPI_INT, 0, world);
    MPI_Scatter(a, 1, MPI_INT, none, -1, MPI_DATATYPE_NULL, 0, world);
    MPI_Gatherv(none, -1, MPI_DATATYPE_NULL, a, counts, places, MPI_INT, 0, world);
    MPI_Scatterv(a, counts, places, MPI_INT, none, -1, MPI_DATATYPE_NULL, 0, world);
  } else {
    MPI_Gather(a, 1, MPI_INT, NULL, -7, MPI_DATATYPE_NULL, 0, world);
    MPI_Scatter(NULL, -7, MPI_DATATYPE_NULL, a, 1, MPI_INT, 0, world);
    MPI_Gatherv(a, 2, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, world);
    MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, a, 2, MPI_INT, 0, world);
  }
  MPI_Allgather(none, 0, MPI_DATATYPE_NULL, a, 1, MPI_INT, world);
  MPI_Allgatherv(none, 0, MPI_DATATYPE_NULL, a, counts, places, MPI_INT, world);
  MPI_Alltoall(none, 0, MPI_DATATYPE_NULL, a, 1, MPI_INT, world);
  MPI_Finalize();
  return 0;
}
