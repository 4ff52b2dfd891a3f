/* mixed_sizes PATTERN ROUNDS: programs that call collectives at several sizes, and nothing else.
 *
 * gradients    the training of a model: sums of parts of 4 KiB to 512 KiB, and of one number
 * panels       a factorisation: broadcasts of ever smaller panels, and the choice of a pivot
 * spectral     transforms on a fine and on a coarse grid: transpositions of large and of small blocks
 * samplesort   splitters to all, counts and then keys from all to all, a histogram to rank 0
 * ensemble     parameters to all, pieces to each, parts of results and then their sum back
 *
 * Rank 0 prints the seconds from a barrier until the last rank has ended all rounds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024, MOST = 1024 * KIB };

static int rank, ranks;
static char *out, *in;

static void sum_all(int bytes) { MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void sum_at_root(int bytes) { MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void broadcast(int bytes) { MPI_Bcast(out, bytes / 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void transpose(int block) { MPI_Alltoall(out, block / 8, MPI_DOUBLE, in, block / 8, MPI_DOUBLE, MPI_COMM_WORLD); }
static void collect(int block) { MPI_Allgather(out, block / 8, MPI_DOUBLE, in, block / 8, MPI_DOUBLE, MPI_COMM_WORLD); }
static void hand_out(int block) { MPI_Scatter(out, block / 8, MPI_DOUBLE, in, block / 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void take_in(int block) { MPI_Gather(out, block / 8, MPI_DOUBLE, in, block / 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); }

static void gradients(void)
{
  static const int parts[] = {512 * KIB, 128 * KIB, 32 * KIB, 4 * KIB};
  for (int part = 0; part < 4; part++) sum_all(parts[part]);
  for (int step = 0; step < 4; step++) sum_all(8);
}

static void panels(void)
{
  for (int bytes = 512 * KIB; bytes >= 512; bytes /= 4) {
    sum_all(16);
    broadcast(bytes);
  }
}

static void spectral(void)
{
  transpose(16 * KIB);
  for (int step = 0; step < 4; step++) {
    transpose(256);
    sum_all(8);
  }
}

static void samplesort(void)
{
  collect(512);
  transpose(8);
  transpose(8 * KIB);
  sum_at_root(64 * KIB);
}

static void ensemble(void)
{
  broadcast(2 * KIB);
  broadcast(256 * KIB);
  hand_out(16 * KIB);
  take_in(4 * KIB);
  sum_at_root(256 * KIB);
}

static const struct pattern {
  const char *name;
  void (*round)(void);
} PATTERNS[] = {{"gradients", gradients}, {"panels", panels}, {"spectral", spectral},
                {"samplesort", samplesort}, {"ensemble", ensemble}};

int main(int count, char **words)
{
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct pattern *chosen = NULL;
  for (size_t at = 0; count == 3 && at < sizeof PATTERNS / sizeof *PATTERNS; at++)
    if (!strcmp(words[1], PATTERNS[at].name)) chosen = &PATTERNS[at];
  if (chosen == NULL) {
    if (rank == 0) fprintf(stderr, "mixed_sizes PATTERN ROUNDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  out = calloc(MOST, 1);
  in = calloc(MOST, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = -MPI_Wtime(), last;
  for (int round = atoi(words[2]); round > 0; round--) chosen->round();
  seconds += MPI_Wtime();
  MPI_Reduce(&seconds, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.9f\n", last);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
