/* b_eff: the effective bandwidth of a machine, by rings of ranks that all exchange messages at once.
 *
 * R. Rabenseifner and A. E. Koniges, "Effective communication and file-I/O bandwidth benchmarks",
 * EuroPVM/MPI 2001. See docs/applications/beff.md. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/folded.h"
#include "../common/npb_random.h"
#include "../common/numbers.h"
#include "../hamtune_app.h"

enum { SIZES = 21, SMALL_SIZES = 13, RINGS = 6, PATTERNS = 2 * RINGS, METHODS = 3, SIDES = 2 };
enum { DEFAULT_LONGEST = 1 << 20, LEAST_LONGEST = 4096, MOST_LONGEST = 1 << 28 };
enum { DEFAULT_REPEATS = 1, MOST_REPEATS = 10000 };
enum { TO_LEFT = 1, TO_RIGHT = 2 };

typedef struct {
  int rank, ranks;
  int lengths[SIZES]; /* bytes */
  int repeats;
  int neighbors[SIDES]; /* in the ring of the pattern at hand */
  /* Each side's part: what goes there and what comes from there. */
  unsigned char *outgoing[SIDES], *incoming[SIDES];
  int *counts[SIDES], *offsets[SIDES]; /* of Alltoallv: sent, received */
  bool right;
} Bench;

/* 1, 2, 4, ... 4096 bytes, then eight more steps of equal ratio up to the longest. */
static void choose_lengths(int lengths[SIZES], int longest)
{
  for (int i = 0; i < SMALL_SIZES; i++)
    lengths[i] = 1 << i;
  double ratio = (double)longest / LEAST_LONGEST;
  int steps = SIZES - SMALL_SIZES;
  for (int i = 1; i <= steps; i++)
    lengths[SMALL_SIZES - 1 + i] = (int)lround(LEAST_LONGEST * pow(ratio, (double)i / steps));
}

/* Ranks in a ring of each pattern: 2, 4, 8, a quarter, a half (at least 16 and 32), all. */
static int ring_length(int ring, int ranks)
{
  int quarter = ranks / 4 > 16 ? ranks / 4 : 16, half = ranks / 2 > 32 ? ranks / 2 : 32;
  int wanted[RINGS] = {2, 4, 8, quarter, half, ranks};
  return wanted[ring] < ranks ? wanted[ring] : ranks;
}

/* The neighbours of the rank that stands at `place` when all ranks are cut into rings. */
static void find_neighbors(Bench *b, const int *order, int place, int length)
{
  AppRange ring = {0};
  int rings = b->ranks / length;
  for (int i = 0; i < rings; i++) {
    ring = app_cut(b->ranks, rings, i);
    if (place < ring.first + ring.count)
      break;
  }
  int inside = place - ring.first;
  b->neighbors[0] = order[ring.first + (inside + ring.count - 1) % ring.count];
  b->neighbors[1] = order[ring.first + (inside + 1) % ring.count];
}

/* Ring patterns keep the order of the ranks; the random ones shuffle it, the same way everywhere. */
static void set_pattern(Bench *b, int pattern, int *order)
{
  for (int i = 0; i < b->ranks; i++)
    order[i] = i;
  if (pattern >= RINGS) {
    uint64_t state = NPB_SEED + 2 * (uint64_t)pattern;
    for (int i = b->ranks - 1; i > 0; i--) {
      int j = (int)(npb_random(&state, NPB_MULTIPLIER) * (i + 1));
      int moved = order[i];
      order[i] = order[j];
      order[j] = moved;
    }
  }
  int place = 0;
  while (order[place] != b->rank)
    place++;
  find_neighbors(b, order, place, ring_length(pattern % RINGS, b->ranks));
}

static void by_sendrecv(const Bench *b, int length)
{
  MPI_Sendrecv(b->outgoing[0], length, MPI_BYTE, b->neighbors[0], TO_LEFT, b->incoming[1], length,
               MPI_BYTE, b->neighbors[1], TO_LEFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(b->outgoing[1], length, MPI_BYTE, b->neighbors[1], TO_RIGHT, b->incoming[0], length,
               MPI_BYTE, b->neighbors[0], TO_RIGHT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_nonblocking(const Bench *b, int length)
{
  MPI_Request requests[2 * SIDES];
  MPI_Status statuses[2 * SIDES];
  MPI_Irecv(b->incoming[1], length, MPI_BYTE, b->neighbors[1], TO_LEFT, MPI_COMM_WORLD,
            &requests[0]);
  MPI_Irecv(b->incoming[0], length, MPI_BYTE, b->neighbors[0], TO_RIGHT, MPI_COMM_WORLD,
            &requests[1]);
  MPI_Isend(b->outgoing[0], length, MPI_BYTE, b->neighbors[0], TO_LEFT, MPI_COMM_WORLD,
            &requests[2]);
  MPI_Isend(b->outgoing[1], length, MPI_BYTE, b->neighbors[1], TO_RIGHT, MPI_COMM_WORLD,
            &requests[3]);
  MPI_Waitall(2 * SIDES, requests, statuses);
}

/* Two messages for one and the same neighbour (a ring of two) become one of twice the length: the
 * parts of the buffers lie one behind the other. */
static void by_alltoallv(const Bench *b, int length)
{
  for (int way = 0; way < 2; way++)
    memset(b->counts[way], 0, (size_t)b->ranks * sizeof(int));
  for (int side = SIDES - 1; side >= 0; side--)
    for (int way = 0; way < 2; way++) {
      b->counts[way][b->neighbors[side]] += length;
      b->offsets[way][b->neighbors[side]] = side * length;
    }
  MPI_Alltoallv(b->outgoing[0], b->counts[0], b->offsets[0], MPI_BYTE, b->incoming[0], b->counts[1],
                b->offsets[1], MPI_BYTE, MPI_COMM_WORLD);
}

static void (*const METHOD[METHODS])(const Bench *b, int length) = {by_sendrecv, by_alltoallv,
                                                                   by_nonblocking};

/* What every byte is that `sender` sends to the left (0) or right (1). */
static int paint(int sender, int side)
{
  return (2 * sender + side) % 251;
}

static void fill(const Bench *b, int length)
{
  for (int side = 0; side < SIDES; side++) {
    memset(b->outgoing[side], paint(b->rank, side), (size_t)length);
    memset(b->incoming[side], 255, (size_t)length);
  }
}

static bool holds(const unsigned char *part, int length, int value)
{
  for (int i = 0; i < length; i++)
    if (part[i] != value)
      return false;
  return true;
}

/* In a ring of two, Alltoallv brings the neighbour's two parts in the order in which they were sent;
 * then left and right change places, and both are right. */
static bool arrived(const Bench *b, int length)
{
  int from_left = paint(b->neighbors[0], 1), from_right = paint(b->neighbors[1], 0);
  bool straight =
      holds(b->incoming[0], length, from_left) && holds(b->incoming[1], length, from_right);
  bool crossed = b->neighbors[0] == b->neighbors[1] && holds(b->incoming[0], length, from_right) &&
                 holds(b->incoming[1], length, from_left);
  return straight || crossed;
}

/* Bytes a second of all ranks together, for one pattern, length and method. */
static double measure(Bench *b, int method, int length)
{
  b->outgoing[1] = b->outgoing[0] + length;
  b->incoming[1] = b->incoming[0] + length;
  HAMTUNE_BLOCK(0.0, fill(b, length));
  double start = MPI_Wtime(), slowest;
  for (int turn = 0; turn < b->repeats; turn++)
    METHOD[method](b, length);
  double elapsed = MPI_Wtime() - start;
  HAMTUNE_BLOCK(0.0, b->right = b->right && arrived(b, length));
  MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  double bytes = (double)SIDES * length * b->ranks * b->repeats;
  return slowest > 0.0 ? bytes / slowest : 0.0;
}

/* The best method's bandwidth, mean over the lengths. */
static double measure_pattern(Bench *b)
{
  double sum = 0.0;
  for (int size = 0; size < SIZES; size++) {
    app_iteration_begins();
    double best = 0.0;
    for (int method = 0; method < METHODS; method++) {
      double bandwidth = measure(b, method, b->lengths[size]);
      best = bandwidth > best ? bandwidth : best;
    }
    sum += best;
  }
  app_iterations_end();
  return sum / SIZES;
}

/* The logarithmic mean of the ring patterns' and the random patterns' logarithmic means. */
static double effective_bandwidth(Bench *b, int *order)
{
  double logarithms = 0.0;
  for (int pattern = 0; pattern < PATTERNS; pattern++) {
    set_pattern(b, pattern, order);
    logarithms += log(measure_pattern(b));
  }
  return exp(logarithms / PATTERNS);
}

static double total_bytes(const Bench *b)
{
  double bytes = 0.0;
  for (int size = 0; size < SIZES; size++)
    bytes += b->lengths[size];
  return bytes * SIDES * b->ranks * b->repeats * METHODS * PATTERNS;
}

static int run(Bench *b)
{
  size_t longest = (size_t)b->lengths[SIZES - 1];
  b->outgoing[0] = app_allocate_payload(SIDES * longest);
  b->incoming[0] = app_allocate_payload(SIDES * longest);
  for (int way = 0; way < 2; way++) {
    b->counts[way] = app_allocate((size_t)b->ranks, sizeof(int));
    b->offsets[way] = app_allocate((size_t)b->ranks, sizeof(int));
    memset(b->offsets[way], 0, (size_t)b->ranks * sizeof(int));
  }
  int *order = app_allocate((size_t)b->ranks, sizeof(int));

  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  double bandwidth = effective_bandwidth(b, order);
  double elapsed = MPI_Wtime() - start, slowest;
  int right = b->right, all_right;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&right, &all_right, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);

  app_free_payload(b->outgoing[0]);
  app_free_payload(b->incoming[0]);
  for (int way = 0; way < 2; way++) {
    free(b->counts[way]);
    free(b->offsets[way]);
  }
  free(order);
  if (b->rank != 0)
    return APP_OK;
  printf("Effective bandwidth: %.3f MB/s\n", bandwidth * 1e-6);
  char size[48];
  snprintf(size, sizeof size, "%d x up to %zu bytes", b->repeats, longest);
  AppResult result = {"beff", size, b->ranks, slowest, total_bytes(b), all_right};
  return app_report(&result);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  Bench b = {.right = true};
  MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
  long longest = app_number(argc, argv, 1, LEAST_LONGEST, MOST_LONGEST, DEFAULT_LONGEST);
  b.repeats = (int)app_number(argc, argv, 2, 1, MOST_REPEATS, DEFAULT_REPEATS);
  if (argc > 3 || longest < 0 || b.repeats < 0)
    return app_wrong_use("beff",
                         "needs a longest message from %d to %d bytes and repeats from 1 to %d "
                         "(usage: beff [LONGEST [REPEATS]], default %d %d)",
                         LEAST_LONGEST, MOST_LONGEST, MOST_REPEATS, DEFAULT_LONGEST,
                         DEFAULT_REPEATS);
  if (b.ranks < 2)
    return app_wrong_use("beff", "needs at least 2 ranks, not %d", b.ranks);
  choose_lengths(b.lengths, (int)longest);
  int status = run(&b);
  MPI_Finalize();
  return status;
}
