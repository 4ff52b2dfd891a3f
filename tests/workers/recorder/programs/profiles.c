/* Counts its sends, as profilers do, by an MPI_Send of its own. */
#include <mpi.h>
#include <stdio.h>

static int sent;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
  sent++;
  return PMPI_Send(buf, count, type, dest, tag, comm);
}

int main(int argc, char **argv)
{
  int rank, told = 7;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    MPI_Send(&told, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1)
    MPI_Recv(&told, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d sent\n", sent);
  MPI_Finalize();
  return 0;
}
