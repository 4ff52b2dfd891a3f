/* Times the collectives named in its arguments; prints the seconds of all of them on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 10, LARGEST = 1 << 14 };

static int rank, size, *out, *in, *counts, *starts;

static int call(const char *name, int n) {
  MPI_Comm world = MPI_COMM_WORLD;
  for (int r = 0; r < size; r++) {
    counts[r] = n;
    starts[r] = r * n;
  }
  if (!strcmp(name, "alltoall")) return MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, world);
  if (!strcmp(name, "alltoallv"))
    return MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, world);
  if (!strcmp(name, "allgather")) return MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, world);
  if (!strcmp(name, "allgatherv"))
    return MPI_Allgatherv(out, n, MPI_INT, in, counts, starts, MPI_INT, world);
  if (!strcmp(name, "allreduce")) return MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, world);
  if (!strcmp(name, "reduce")) return MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, 0, world);
  if (!strcmp(name, "reduce_scatter"))
    return MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world);
  if (!strcmp(name, "reduce_scatter_block"))
    return MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, world);
  if (!strcmp(name, "bcast")) return MPI_Bcast(out, n, MPI_INT, 0, world);
  if (!strcmp(name, "gather")) return MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, 0, world);
  if (!strcmp(name, "scatter")) return MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, 0, world);
  if (!strcmp(name, "barrier")) return MPI_Barrier(world);
  fprintf(stderr, "microbenchmark: unknown collective %s\n", name);
  return MPI_Abort(world, 2);
}

int main(int count, char **names) {
  double seconds = 0;
  MPI_Init(&count, &names);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = calloc((size_t)LARGEST * size, sizeof(int));
  in = calloc((size_t)LARGEST * size, sizeof(int));
  counts = malloc(size * sizeof(int));
  starts = malloc(size * sizeof(int));
  for (int c = 1; c < count; c++)
    for (int n = 1; n <= LARGEST; n *= 128) {
      call(names[c], n); /* connections are made here */
      MPI_Barrier(MPI_COMM_WORLD);
      double begun = MPI_Wtime();
      for (int i = 0; i < REPETITIONS; i++) call(names[c], n);
      double mine = MPI_Wtime() - begun, slowest = 0;
      MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      seconds += slowest;
    }
  if (!rank) printf("seconds: %.9f\n", seconds);
  MPI_Finalize();
  return 0;
}
