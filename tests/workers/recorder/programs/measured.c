/* Rank 1 computes, the others wait; with an argument it declares too. */
#include <mpi.h>

extern void hamtune_record_flops(double flops) __attribute__((weak));

int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1)
    for (volatile long i = 0; i < 50000000; i++)
      ;
  if (argc > 1 && hamtune_record_flops != NULL)
    hamtune_record_flops(1e6);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
