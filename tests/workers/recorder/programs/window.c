/* One-sided communication, which no trace can hold. */
#include <mpi.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int value = 0;
  MPI_Win window;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
