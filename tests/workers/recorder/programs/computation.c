/* Declared flops, clocks and control points; neighbouring computations stay apart. */
#include <mpi.h>
#include <sys/time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  struct timeval now;
  int rank;
  MPI_Init(&argc, &argv);
  smpi_execute_flops(1e6);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  smpi_execute_flops(rank * 1e6);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(2);
  MPI_Wtime();
  smpi_execute_flops(0);
  gettimeofday(&now, NULL);
  usleep(10);
  MPI_Pcontrol(-1);
  smpi_execute_flops(5);
  MPI_Finalize();
  return 0;
}
