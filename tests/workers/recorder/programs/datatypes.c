/* Derived datatypes: recorded by size, with the count kept. */
#include <mpi.h>

static void leave(void *in, void *out, int *count, MPI_Datatype *type)
{
  (void)in;
  (void)out;
  (void)count;
  (void)type;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, lengths[2] = {1, 3};
  double data[64] = {0}, more[64];
  MPI_Op op;
  MPI_Aint places[2] = {0, 8};
  MPI_Datatype column, mixed, members[2] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(4, 2, 8, MPI_DOUBLE, &column);
  MPI_Type_create_struct(2, lengths, places, members, &mixed);
  MPI_Type_commit(&column);
  MPI_Type_commit(&mixed);
  if (rank == 0) {
    MPI_Send(data, 1, column, 1, 0, MPI_COMM_WORLD);
    MPI_Send(data, 2, mixed, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(data, 8, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 2, mixed, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(data, 2, column, 0, MPI_COMM_WORLD);
  MPI_Op_create(leave, 1, &op);
  MPI_Reduce(data, more, 2, mixed, op, 0, MPI_COMM_WORLD);
  MPI_Allreduce(data, more, 2, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
