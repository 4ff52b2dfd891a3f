/* Makes the one call that its argument asks for, none of which a trace can hold. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const char *call = argv[argc - 1];
  int data = 0, one = 1;
  MPI_Aint offset = 0;
  MPI_Datatype type = MPI_INT;
  MPI_Win window;
  MPI_Request request = MPI_REQUEST_NULL;
  if (strcmp(call, "MPI_Win_create") == 0)
    MPI_Win_create(&data, sizeof data, sizeof data, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (strcmp(call, "MPI_Put") == 0)
    MPI_Put(&data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL);
  if (strcmp(call, "MPI_Cancel") == 0)
    MPI_Cancel(&request);
  if (strcmp(call, "MPI_Request_get_status") == 0)
    MPI_Request_get_status(request, &data, MPI_STATUS_IGNORE);
  if (strcmp(call, "MPI_Ineighbor_alltoallw") == 0)
    MPI_Ineighbor_alltoallw(&data, &one, &offset, &type, &data, &one, &offset, &type,
                            MPI_COMM_WORLD, &request);
  if (strcmp(call, "MPI_File_open") == 0)
    MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, NULL);
  if (strcmp(call, "smpi_execute") == 0)
    smpi_execute(1.0);
  MPI_Finalize();
  return 0;
}
