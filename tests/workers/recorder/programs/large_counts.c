/* Makes the one call with counts of 64 bits that its argument asks for, of MPI 4. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const char *call = argv[argc - 1];
  double sent = 0, received = 0;
  MPI_Win window;
  MPI_Request request;
  if (strcmp(call, "MPI_Allreduce_c") == 0)
    MPI_Allreduce_c(&sent, &received, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(call, "MPI_Allreduce_init_c") == 0)
    MPI_Allreduce_init_c(&sent, &received, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (strcmp(call, "MPI_Isendrecv_c") == 0)
    MPI_Isendrecv_c(&sent, 1, MPI_DOUBLE, 0, 0, &received, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request);
  if (strcmp(call, "MPI_Win_create_c") == 0)
    MPI_Win_create_c(&sent, sizeof sent, sizeof sent, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Finalize();
  return 0;
}
