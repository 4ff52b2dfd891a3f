/* The time of a whole program, from the end of MPI_Init to the beginning of MPI_Finalize; preloaded.
 *
 * Rank 0 prints it: that of the slowest rank, after a barrier at the start. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>

static double begun;

static int begin(int result)
{
  PMPI_Barrier(MPI_COMM_WORLD);
  begun = PMPI_Wtime();
  return result;
}

int MPI_Init(int *argc, char ***argv)
{
  return begin(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
  return begin(PMPI_Init_thread(argc, argv, wanted, provided));
}

int MPI_Finalize(void)
{
  double mine = PMPI_Wtime() - begun, slowest = 0.0;
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("whole %.9f\n", slowest);
  return PMPI_Finalize();
}
