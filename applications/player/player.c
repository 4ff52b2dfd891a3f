/* Player: a communication matrix, exchanged over and over with MPI_Alltoallv and nothing else.
 *
 * Jeannot and Mercier (2010), section 5.4, measure mappings by such a program. See
 * docs/applications/player.md. */
#include <ctype.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../common/folded.h"
#include "../common/numbers.h"
#include "../hamtune_app.h"

enum { DEFAULT_ROUNDS = 10, MOST_ROUNDS = 1000000, LINE = 256 };

/* One direction: bytes and place of what goes to, or comes from, each rank. */
typedef struct {
  int *counts, *places;
  unsigned char *payload;
  int total;
} Direction;

typedef struct {
  int rank, ranks, rounds;
  Direction out, in;
} Player;

/* What is wrong with a matrix; NULL where nothing is. */
typedef const char *Problem;

static bool is_empty(const char *line)
{
  while (isspace((unsigned char)*line))
    line++;
  return *line == '\0' || *line == '%';
}

/* The next line that says something; false at the end of the file. */
static bool next_line(FILE *file, char line[LINE])
{
  while (fgets(line, LINE, file) != NULL)
    if (!is_empty(line))
      return true;
  return false;
}

/* Reads whole numbers; a real one may end in ".0". Returns whether there are just so many. */
static bool read_numbers(char *line, long long *numbers, int count)
{
  for (int i = 0; i < count; i++) {
    char *end;
    numbers[i] = strtoll(line, &end, 10);
    if (end == line)
      return false;
    if (*end == '.')
      for (end++; *end == '0'; end++)
        continue;
    line = end;
  }
  return is_empty(line);
}

static bool add(int *count, long long bytes)
{
  if (bytes > INT_MAX - *count)
    return false;
  *count += (int)bytes;
  return true;
}

/* Enters what the ranks of an entry, from 0 on, exchange with this one. */
static bool enter(Player *p, int row, int column, long long bytes, bool symmetric)
{
  if (row == column)
    return true;
  if (!symmetric)
    return (row != p->rank || add(&p->out.counts[column], bytes)) &&
           (column != p->rank || add(&p->in.counts[row], bytes));
  /* What a pair exchanges both ways: the lower rank sends the odd byte. */
  int low = row < column ? row : column, high = row < column ? column : row;
  long long down = bytes / 2, up = bytes - down;
  if (p->rank == low)
    return add(&p->out.counts[high], up) && add(&p->in.counts[high], down);
  if (p->rank == high)
    return add(&p->out.counts[low], down) && add(&p->in.counts[low], up);
  return true;
}

static Problem read_entries(Player *p, FILE *file, bool symmetric)
{
  char line[LINE];
  long long numbers[3];
  if (!next_line(file, line) || !read_numbers(line, numbers, 3) || numbers[2] < 0)
    return "has no line with rows, columns and entries";
  if (numbers[0] != p->ranks || numbers[1] != p->ranks)
    return "is not of as many rows and columns as there are ranks";
  for (long long left = numbers[2]; left > 0; left--) {
    if (!next_line(file, line))
      return "has fewer entries than it says";
    if (!read_numbers(line, numbers, 3) || numbers[2] < 0)
      return "has an entry that is not three whole numbers";
    if (numbers[0] < 1 || numbers[0] > p->ranks || numbers[1] < 1 || numbers[1] > p->ranks)
      return "has an entry for a rank that there is not";
    if (!enter(p, (int)numbers[0] - 1, (int)numbers[1] - 1, numbers[2], symmetric))
      return "has a message of more than 2147483647 bytes";
  }
  return next_line(file, line) ? "has more entries than it says" : NULL;
}

static Problem place(Direction *direction, int ranks)
{
  for (int i = 0; i < ranks; i++) {
    direction->places[i] = direction->total;
    if (!add(&direction->total, direction->counts[i]))
      return "has more than 2147483647 bytes for one rank";
  }
  return NULL;
}

/* Every rank reads the file for itself, so that nothing but the matrix is communicated. */
static Problem read_matrix(Player *p, const char *name)
{
  char line[LINE], kind[LINE], symmetry[LINE];
  FILE *file = fopen(name, "r");
  if (file == NULL)
    return "cannot be read";
  Problem problem = "is no MatrixMarket file of whole numbers, symmetric or general";
  if (fgets(line, LINE, file) != NULL &&
      sscanf(line, "%*[%]MatrixMarket matrix coordinate %255s %255s", kind, symmetry) == 2 &&
      (strcmp(kind, "integer") == 0 || strcmp(kind, "real") == 0) &&
      (strcmp(symmetry, "symmetric") == 0 || strcmp(symmetry, "general") == 0))
    problem = read_entries(p, file, strcmp(symmetry, "symmetric") == 0);
  fclose(file);
  if (problem == NULL)
    problem = place(&p->out, p->ranks);
  return problem == NULL ? place(&p->in, p->ranks) : problem;
}

/* Every byte says who sent it, to whom, in which round, and where it stands. */
static unsigned char byte_of(int sender, int receiver, int round, int index)
{
  return (unsigned char)((31u * (unsigned)sender + 17u * (unsigned)receiver + 7u * (unsigned)round +
                          (unsigned)index) % 251u);
}

static void fill(Player *p, int round)
{
  for (int peer = 0; peer < p->ranks; peer++)
    for (int i = 0; i < p->out.counts[peer]; i++)
      p->out.payload[p->out.places[peer] + i] = byte_of(p->rank, peer, round, i);
}

static bool is_right(const Player *p, int round)
{
  for (int peer = 0; peer < p->ranks; peer++)
    for (int i = 0; i < p->in.counts[peer]; i++)
      if (p->in.payload[p->in.places[peer] + i] != byte_of(peer, p->rank, round, i))
        return false;
  return true;
}

static int play(Player *p, const char *name)
{
  int right = 1, all_right = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = 0.0, slowest = 0.0;
  for (int round = 0; round < p->rounds; round++) {
    HAMTUNE_BLOCK(0.0, fill(p, round));
    app_iteration_begins();
    double start = MPI_Wtime();
    MPI_Alltoallv(p->out.payload, p->out.counts, p->out.places, MPI_BYTE, p->in.payload,
                  p->in.counts, p->in.places, MPI_BYTE, MPI_COMM_WORLD);
    seconds += MPI_Wtime() - start;
    HAMTUNE_BLOCK(0.0, right = right && is_right(p, round));
  }
  app_iterations_end();
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&right, &all_right, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (p->rank != 0)
    return APP_OK;
  AppResult result = {"player", name, p->ranks, slowest, 0.0, all_right == 1};
  return app_report(&result);
}

static void make(Direction *direction, int ranks)
{
  direction->counts = app_allocate((size_t)ranks, sizeof(int));
  direction->places = app_allocate((size_t)ranks, sizeof(int));
  memset(direction->counts, 0, (size_t)ranks * sizeof(int));
}

static void unmake(Direction *direction)
{
  free(direction->counts);
  free(direction->places);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  Player p = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  p.rounds = (int)app_number(argc, argv, 2, 1, MOST_ROUNDS, DEFAULT_ROUNDS);
  if (argc < 2 || argc > 3 || p.rounds < 0)
    return app_wrong_use("player",
                         "needs a communication matrix and rounds from 1 to %d (usage: player "
                         "MATRIX.mtx [ROUNDS], default %d)",
                         MOST_ROUNDS, DEFAULT_ROUNDS);
  make(&p.out, p.ranks);
  make(&p.in, p.ranks);
  /* One rank may hold more than it can send where the others do not. */
  Problem problem = read_matrix(&p, argv[1]);
  int wrong = problem != NULL ? p.rank : p.ranks, first = p.ranks;
  MPI_Allreduce(&wrong, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first < p.ranks) {
    if (p.rank == first)
      fprintf(stderr, "player: %s %s\n", argv[1], problem);
    MPI_Finalize();
    return APP_WRONG_USE;
  }
  p.out.payload = app_allocate_payload((size_t)p.out.total);
  p.in.payload = app_allocate_payload((size_t)p.in.total);
  int status = play(&p, argv[1]);
  app_free_payload(p.out.payload);
  app_free_payload(p.in.payload);
  unmake(&p.out);
  unmake(&p.in);
  MPI_Finalize();
  return status;
}
