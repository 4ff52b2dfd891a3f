/* Ends by the exit of the C library, as code that was compiled without SMPI's header does. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  void (*const end)(int) = exit;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  end(EXIT_SUCCESS);
}
