/* Every collective once, blocking or (with an argument) non-blocking. */
#include <mpi.h>

static int in[64], out[64], counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
static MPI_Request request;

static void first_operand(void *a, void *b, int *n, MPI_Datatype *type)
{
  (void)a, (void)b, (void)n, (void)type;
}

#define CALL(BLOCKING, NONBLOCKING, ...)          \
  do {                                            \
    if (argc > 1) {                               \
      NONBLOCKING(__VA_ARGS__, &request);         \
      MPI_Wait(&request, MPI_STATUS_IGNORE);      \
    } else {                                      \
      BLOCKING(__VA_ARGS__);                      \
    }                                             \
  } while (0)

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const MPI_Comm world = MPI_COMM_WORLD;
  int rank;
  MPI_Comm_rank(world, &rank);
  const int mine = counts[rank];
  MPI_Op op;
  MPI_Op_create(first_operand, 0, &op);
  MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
  int each[3] = {1, 1, 1}, offsets[3] = {0, 4, 8};

  CALL(MPI_Barrier, MPI_Ibarrier, world);
  CALL(MPI_Bcast, MPI_Ibcast, in, 10, MPI_DOUBLE, 1, world);
  CALL(MPI_Reduce, MPI_Ireduce, in, out, 4, MPI_INT, MPI_SUM, 2, world);
  CALL(MPI_Allreduce, MPI_Iallreduce, in, out, 4, MPI_INT, op, world);
  CALL(MPI_Gather, MPI_Igather, in, 2, MPI_INT, out, 2, MPI_INT, 0, world);
  CALL(MPI_Scatter, MPI_Iscatter, in, 2, MPI_INT, out, 2, MPI_INT, 0, world);
  CALL(MPI_Allgather, MPI_Iallgather, in, 2, MPI_INT, out, 2, MPI_INT, world);
  CALL(MPI_Alltoall, MPI_Ialltoall, in, 2, MPI_INT, out, 2, MPI_INT, world);
  CALL(MPI_Gatherv, MPI_Igatherv, in, mine, MPI_INT, out, counts, places, MPI_INT, 0, world);
  CALL(MPI_Scatterv, MPI_Iscatterv, in, counts, places, MPI_INT, out, mine, MPI_INT, 0, world);
  CALL(MPI_Allgatherv, MPI_Iallgatherv, in, mine, MPI_INT, out, counts, places, MPI_INT, world);
  CALL(MPI_Alltoallv, MPI_Ialltoallv, in, each, places, MPI_INT, out, each, places, MPI_INT, world);
  CALL(MPI_Alltoallw, MPI_Ialltoallw, in, each, offsets, types, out, each, offsets, types, world);
  CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM, world);
  CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out, 2, MPI_INT, MPI_SUM, world);
  CALL(MPI_Scan, MPI_Iscan, in, out, 2, MPI_INT, MPI_SUM, world);
  CALL(MPI_Exscan, MPI_Iexscan, in, out, 2, MPI_INT, MPI_SUM, world);
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
