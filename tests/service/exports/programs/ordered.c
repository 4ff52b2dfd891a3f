/* Reduces by an operation that does not commute, as each argument names it, and says whether the result is right.
 *
 * An element is a map x -> a x + b modulo a prime; the operation composes two of them, in the order of the ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRIME = 10007 };

typedef struct { int a, b; } map;

static int rank, ranks, wrong;

static map composed(map first, map second)
{
  map both = {first.a * second.a % PRIME, (second.a * first.b + second.b) % PRIME};
  return both;
}

static void compose(void *first, void *second, int *count, MPI_Datatype *type)
{
  (void)type;
  for (int i = 0; i < *count; i++) ((map *)second)[i] = composed(((map *)first)[i], ((map *)second)[i]);
}

static map of(int owner, int i)
{
  map one = {owner + 2 + i % 5, 3 * owner + 1 + i % 7};
  return one;
}

static void expect(const map *found, int from, int count)
{
  for (int i = 0; i < count; i++) {
    map meant = of(0, from + i);
    for (int owner = 1; owner < ranks; owner++) meant = composed(meant, of(owner, from + i));
    if (found[i].a != meant.a || found[i].b != meant.b) wrong = 1;
  }
}

int main(int count, char **names)
{
  MPI_Init(&count, &names);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(compose, 0, &op);
  static const int sizes[] = {1, 24, 3000};
  for (int name = 1; name < count; name++)
    for (int size = 0; size < 3; size++) {
      int length = sizes[size] * ranks;
      map *out = malloc(sizeof(map) * length), *in = calloc(length, sizeof(map));
      int *counts = malloc(sizeof(int) * ranks);
      for (int i = 0; i < length; i++) out[i] = of(rank, i);
      for (int i = 0; i < ranks; i++) counts[i] = sizes[size];
      if (!strcmp(names[name], "allreduce")) {
        MPI_Allreduce(out, in, length, type, op, MPI_COMM_WORLD);
        expect(in, 0, length);
      } else if (!strcmp(names[name], "reduce")) {
        MPI_Reduce(out, in, length, type, op, 0, MPI_COMM_WORLD);
        if (rank == 0) expect(in, 0, length);
      } else if (!strcmp(names[name], "reduce_scatter_block")) {
        MPI_Reduce_scatter_block(out, in, sizes[size], type, op, MPI_COMM_WORLD);
        expect(in, rank * sizes[size], sizes[size]);
      } else {
        MPI_Reduce_scatter(out, in, counts, type, op, MPI_COMM_WORLD);
        expect(in, rank * sizes[size], sizes[size]);
      }
      free(out), free(in), free(counts);
    }
  int any;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) puts(any ? "0 host wrong" : "0 host right");
  MPI_Finalize();
  return 0;
}
