/* Runs the collectives named in its arguments at two sizes, checks the data, and tells each rank's host. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, wrong;

static void expect(const char *name, int found, int meant) {
  if (found != meant && !wrong++) fprintf(stderr, "rank %d: %s gave %d, not %d\n", rank, name, found, meant);
}

static int value(int from, int to, int i) { return 1000 * from + 10 * to + i % 7; }

static void run(const char *name, int n) {
  int *out = calloc((size_t)n * size, sizeof(int)), *in = calloc((size_t)n * size, sizeof(int));
  int *counts = malloc(size * sizeof(int)), *starts = malloc(size * sizeof(int));
  for (int r = 0; r < size; r++) {
    counts[r] = n;
    starts[r] = r * n;
    for (int i = 0; i < n; i++) out[r * n + i] = value(rank, r, i);
  }
  int all = size * (size - 1) / 2 * 1000;
  if (!strcmp(name, "alltoall") || !strcmp(name, "alltoallv")) {
    if (name[8]) MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, MPI_COMM_WORLD);
    else MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n * size; i++) expect(name, in[i], value(i / n, rank, i % n));
  } else if (!strcmp(name, "allgather") || !strcmp(name, "allgatherv") || !strcmp(name, "gather")) {
    if (name[0] == 'g') MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, 0, MPI_COMM_WORLD);
    else if (name[9]) MPI_Allgatherv(out, n, MPI_INT, in, counts, starts, MPI_INT, MPI_COMM_WORLD);
    else MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n * size && (name[0] == 'a' || !rank); i++) expect(name, in[i], value(i / n, 0, i % n));
  } else if (!strcmp(name, "allreduce") || !strcmp(name, "reduce")) {
    if (name[0] == 'r') MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && (name[0] == 'a' || !rank); i++) expect(name, in[i], all + size * (i % 7));
  } else if (!strcmp(name, "reduce_scatter") || !strcmp(name, "reduce_scatter_block")) {
    if (name[14]) MPI_Reduce_scatter_block(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) expect(name, in[i], all + size * (10 * rank + i % 7));
  } else if (!strcmp(name, "bcast")) {
    MPI_Bcast(out, n, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) expect(name, out[i], value(0, 0, i));
  } else if (!strcmp(name, "scatter")) {
    MPI_Scatter(out, n, MPI_INT, in, n, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) expect(name, in[i], value(0, rank, i));
  } else if (!strcmp(name, "barrier")) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  free(out), free(in), free(counts), free(starts);
}

int main(int count, char **names) {
  char host[256];
  MPI_Init(&count, &names);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  for (int i = 1; i < count; i++) run(names[i], 96), run(names[i], 19200);
  printf("%d %s %s\n", rank, host, wrong ? "wrong" : "right");
  MPI_Finalize();
  return wrong != 0;
}
