/* A clock that Fortran calls. */
#include <mpi.h>

void watch_(double *seconds);

void watch_(double *seconds)
{
  *seconds = MPI_Wtime();
}
