/* Runs every collective with a few sizes and compares what each rank got with what it must get.
 *
 * usage: check_collective COUNT...     (COUNT: ints a rank; `v` forms give some ranks a few more)
 *
 * Prints "right" from rank 0, or "wrong: NAME COUNT" from the ranks that see it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* The int that `from` sends to `to` at place i. */
static int sent(int from, int to, int i) { return 1000003 * from + 7919 * to + i; }

static int *ints(size_t n) { return malloc((n ? n : 1) * sizeof(int)); }


/* Sum over the ranks of sent(r, to, i). */
static int summed(int to, int i) {
  int sum = 0;
  for (int r = 0; r < ranks; r++) sum += sent(r, to, i);
  return sum;
}

static int check_bcast(int n, int root) {
  int *buffer = ints(n), right = 1;
  for (int i = 0; i < n; i++) buffer[i] = rank == root ? sent(root, 0, i) : -1;
  MPI_Bcast(buffer, n, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) right &= buffer[i] == sent(root, 0, i);
  free(buffer);
  return right;
}

static int check_reduction(int n, int root, int all) {
  int *in = ints(n), *out = ints(n), right = 1;
  for (int i = 0; i < n; i++) in[i] = sent(rank, 0, i);
  if (all)
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  if (all || rank == root)
    for (int i = 0; i < n; i++) right &= out[i] == summed(0, i);
  free(in);
  free(out);
  return right;
}

static int check_alltoall(int n) {
  int *in = ints((size_t)n * ranks), *out = ints((size_t)n * ranks), right = 1;
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < n; i++) in[r * n + i] = sent(rank, r, i);
  MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < n; i++) right &= out[r * n + i] == sent(r, rank, i);
  free(in);
  free(out);
  return right;
}

static int check_alltoallv(int n) {
  int *out_count = ints(ranks), *in_count = ints(ranks), *out_at = ints(ranks), *in_at = ints(ranks);
  int out_total = 0, in_total = 0, right = 1;
  for (int r = 0; r < ranks; r++) {
    out_count[r] = n + (rank + r) % 3;
    in_count[r] = n + (r + rank) % 3;
    out_at[r] = out_total;
    in_at[r] = in_total;
    out_total += out_count[r];
    in_total += in_count[r];
  }
  int *out = ints(out_total), *in = ints(in_total);
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < out_count[r]; i++) out[out_at[r] + i] = sent(rank, r, i);
  MPI_Alltoallv(out, out_count, out_at, MPI_INT, in, in_count, in_at, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < in_count[r]; i++) right &= in[in_at[r] + i] == sent(r, rank, i);
  free(in);
  free(out);
  return right;
}

static int check_allgather(int n, int vector) {
  int *count = ints(ranks), *at = ints(ranks), total = 0, right = 1;
  for (int r = 0; r < ranks; r++) {
    count[r] = vector ? n + r % 3 : n;
    at[r] = total;
    total += count[r];
  }
  int *in = ints(count[rank]), *out = ints(total);
  for (int i = 0; i < count[rank]; i++) in[i] = sent(rank, 0, i);
  if (vector)
    MPI_Allgatherv(in, count[rank], MPI_INT, out, count, at, MPI_INT, MPI_COMM_WORLD);
  else
    MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < count[r]; i++) right &= out[at[r] + i] == sent(r, 0, i);
  free(in);
  free(out);
  return right;
}

static int check_gather(int n, int root) {
  int *in = ints(n), *out = ints((size_t)n * ranks), right = 1;
  for (int i = 0; i < n; i++) in[i] = sent(rank, root, i);
  MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD);
  if (rank == root)
    for (int r = 0; r < ranks; r++)
      for (int i = 0; i < n; i++) right &= out[r * n + i] == sent(r, root, i);
  free(in);
  free(out);
  return right;
}

static int check_scatter(int n, int root) {
  int *in = ints((size_t)n * ranks), *out = ints(n), right = 1;
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < n; i++) in[r * n + i] = sent(root, r, i);
  MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) right &= out[i] == sent(root, rank, i);
  free(in);
  free(out);
  return right;
}

static int check_reduce_scatter(int n) {
  int *count = ints(ranks), total = 0, before = 0, right = 1;
  for (int r = 0; r < ranks; r++) {
    count[r] = n + r % 3;
    if (r < rank) before += count[r];
    total += count[r];
  }
  int *in = ints(total), *out = ints(count[rank]);
  for (int i = 0; i < total; i++) in[i] = sent(rank, 0, i);
  MPI_Reduce_scatter(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count[rank]; i++) right &= out[i] == summed(0, before + i);
  free(in);
  free(out);
  return right;
}

static int check(const char *name, int n) {
  const int last = ranks - 1;
  if (!strcmp(name, "bcast")) return check_bcast(n, 0) & check_bcast(n, last);
  if (!strcmp(name, "reduce")) return check_reduction(n, 0, 0) & check_reduction(n, last, 0);
  if (!strcmp(name, "allreduce")) return check_reduction(n, 0, 1);
  if (!strcmp(name, "alltoall")) return check_alltoall(n);
  if (!strcmp(name, "alltoallv")) return check_alltoallv(n);
  if (!strcmp(name, "allgather")) return check_allgather(n, 0);
  if (!strcmp(name, "allgatherv")) return check_allgather(n, 1);
  if (!strcmp(name, "gather")) return check_gather(n, 0) & check_gather(n, last);
  if (!strcmp(name, "scatter")) return check_scatter(n, 0) & check_scatter(n, last);
  if (!strcmp(name, "reduce_scatter")) return check_reduce_scatter(n);
  return MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
}

int main(int argc, char **argv) {
  const char *names[] = {"alltoall",   "allreduce",      "allgather", "bcast",   "reduce", "alltoallv",
                         "allgatherv", "reduce_scatter", "gather",    "scatter", "barrier"};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int right = 1;
  for (int a = 1; a < argc; a++) {
    for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
      if (!check(names[c], atoi(argv[a]))) {
        right = 0;
        printf("wrong: %s %s\n", names[c], argv[a]);
      }
    }
  }
  if (rank == 0 && right) printf("right\n");
  MPI_Finalize();
  return 0;
}
