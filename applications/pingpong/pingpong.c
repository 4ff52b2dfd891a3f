/* Ping-pong: every pair of ranks bounces a message, one pair after the other.
 *
 * Deng et al. (2019), section 4.2.1, measure the latency between all pairs of nodes in this way. See
 * docs/applications/pingpong.md. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "../common/application.h"
#include "../common/folded.h"
#include "../common/numbers.h"
#include "../hamtune_app.h"

enum { BALL = 1, TOKEN = 2 };
enum { DEFAULT_BYTES = 1024, MOST_BYTES = 1 << 30, DEFAULT_REPEATS = 10, MOST_REPEATS = 1000000 };

typedef struct {
  int rank, ranks;
  int bytes, repeats;
  unsigned char *ball;
  bool intact; /* every ball came back as it was sent */
} Player;

/* What every byte of the ball between two ranks is. */
static int paint(int server, int other)
{
  return (31 * server + other) % 251;
}

/* Bounces the ball to `other` and back; returns the mean time one way. */
static double serve(Player *p, int other)
{
  HAMTUNE_BLOCK(0.0, memset(p->ball, paint(p->rank, other), (size_t)p->bytes));
  double start = MPI_Wtime();
  for (int turn = 0; turn < p->repeats; turn++) {
    MPI_Send(p->ball, p->bytes, MPI_BYTE, other, BALL, MPI_COMM_WORLD);
    MPI_Recv(p->ball, p->bytes, MPI_BYTE, other, BALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  double seconds = (MPI_Wtime() - start) / (2.0 * p->repeats);
  HAMTUNE_BLOCK(0.0, {
    for (int i = 0; i < p->bytes; i++)
      p->intact = p->intact && p->ball[i] == paint(p->rank, other);
  });
  return seconds;
}

static void answer(Player *p, int server)
{
  for (int turn = 0; turn < p->repeats; turn++) {
    MPI_Recv(p->ball, p->bytes, MPI_BYTE, server, BALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(p->ball, p->bytes, MPI_BYTE, server, BALL, MPI_COMM_WORLD);
  }
}

/* Each rank serves to all higher ones, then lets the next rank serve: two messages are never under
 * way at once. The times one way of this rank's pairs: the sum, the least, the greatest. */
static void play(Player *p, double times[3])
{
  for (int server = 0; server < p->rank; server++)
    answer(p, server);
  if (p->rank > 0)
    MPI_Recv(NULL, 0, MPI_BYTE, p->rank - 1, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int other = p->rank + 1; other < p->ranks; other++) {
    double seconds = serve(p, other);
    times[0] += seconds;
    times[1] = seconds < times[1] ? seconds : times[1];
    times[2] = seconds > times[2] ? seconds : times[2];
  }
  if (p->rank + 1 < p->ranks)
    MPI_Send(NULL, 0, MPI_BYTE, p->rank + 1, TOKEN, MPI_COMM_WORLD);
}

static int run(Player *p)
{
  double times[3] = {0.0, 1e300, 0.0}, sum, least, greatest;
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  play(p, times);
  double elapsed = MPI_Wtime() - start, slowest;
  int intact = p->intact, all_intact;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&times[0], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&times[1], &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&times[2], &greatest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&intact, &all_intact, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (p->rank != 0)
    return APP_OK;
  double pairs = p->ranks * (p->ranks - 1.0) / 2.0;
  printf("Latency: mean %.9f s, least %.9f s, greatest %.9f s\n", sum / pairs, least, greatest);
  char size[48];
  snprintf(size, sizeof size, "%d x %d bytes", p->repeats, p->bytes);
  AppResult result = {"pingpong", size, p->ranks, slowest, 2.0 * pairs * p->repeats, all_intact};
  return app_report(&result);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  Player p = {.intact = true};
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  p.bytes = (int)app_number(argc, argv, 1, 0, MOST_BYTES, DEFAULT_BYTES);
  p.repeats = (int)app_number(argc, argv, 2, 1, MOST_REPEATS, DEFAULT_REPEATS);
  if (argc > 3 || p.bytes < 0 || p.repeats < 0)
    return app_wrong_use("pingpong",
                         "needs bytes from 0 to %d and repeats from 1 to %d (usage: pingpong "
                         "[BYTES [REPEATS]], default %d %d)",
                         MOST_BYTES, MOST_REPEATS, DEFAULT_BYTES, DEFAULT_REPEATS);
  if (p.ranks < 2)
    return app_wrong_use("pingpong", "needs at least 2 ranks, not %d", p.ranks);
  p.ball = app_allocate_payload((size_t)p.bytes);
  int status = run(&p);
  app_free_payload(p.ball);
  MPI_Finalize();
  return status;
}
