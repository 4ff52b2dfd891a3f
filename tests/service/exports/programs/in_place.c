/* Collectives in place, whose unused arguments mean nothing, at several sizes; rank 0 says whether the data is right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, wrong;

static int value(int owner, int i) { return 7 * owner + i % 11; }

static void check(const int *found, int count)
{
  for (int owner = 0; owner < ranks; owner++)
    for (int i = 0; i < count; i++) wrong += found[owner * count + i] != value(owner, i);
}

static void run(int count)
{
  int *all = malloc(sizeof(int) * count * ranks), *own = malloc(sizeof(int) * count);
  for (int i = 0; i < count; i++) own[i] = all[rank * count + i] = value(rank, i);
  if (rank == 0) {
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, 0, MPI_COMM_WORLD);
    check(all, count);
    MPI_Scatter(all, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
  } else {
    MPI_Gather(own, count, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, own, count, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) wrong += own[i] != value(rank, i);
  }
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, MPI_COMM_WORLD);
  check(all, count);
  for (int other = 0; other < ranks; other++)
    for (int i = 0; i < count; i++) all[other * count + i] = value(rank, other + i);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, MPI_COMM_WORLD);
  for (int other = 0; other < ranks; other++)
    for (int i = 0; i < count; i++) wrong += all[other * count + i] != value(other, rank + i);
  for (int i = 0; i < count; i++) own[i] = rank + i % 3;
  MPI_Allreduce(MPI_IN_PLACE, own, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) wrong += own[i] != ranks * (ranks - 1) / 2 + ranks * (i % 3);
  free(all), free(own);
}

int main(int count, char **words)
{
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n < 40000; n = 5 * n + 1) run(n);
  int any;
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(any ? "0 host wrong" : "0 host right");
  MPI_Finalize();
  return 0;
}
