/* Goes to another folder between its calls; with an argument it broadcasts none of a datatype of so
 * many bytes. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  if (chdir("/") != 0)
    return 1;
  if (argc > 1) {
    const int mebibytes = (int)(atoll(argv[1]) >> 20);
    char *memory = calloc((size_t)mebibytes, 1 << 20);
    MPI_Datatype one, all;
    MPI_Type_contiguous(1 << 20, MPI_CHAR, &one);
    MPI_Type_contiguous(mebibytes, one, &all);
    MPI_Type_commit(&all);
    MPI_Bcast(memory, 0, all, 0, MPI_COMM_WORLD);
    free(memory);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
