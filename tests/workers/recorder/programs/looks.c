/* Does nothing but look at the clock, so many times. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  for (int look = argc > 1 ? atoi(argv[1]) : 0; look > 0; look--)
    MPI_Wtime();
  MPI_Finalize();
  return 0;
}
