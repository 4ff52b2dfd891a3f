/* calibration FILE: times sequences of MPI calls that FILE lists, each by the clock of one rank.
 *
 * FILE is read by rank 0 alone. It has sections of lines:
 *
 *   experiment NUMBER CLOCK REPETITIONS PAUSE
 *   rank RANK CALL...
 *   end
 *
 * Every rank that is named goes through its calls; that of the CLOCK is timed, from its first call, or
 * from its last `t`, to its last one. The calls of other ranks begin with a receive, so that nothing
 * happens before the clock runs. Between repetitions rank 0 hears from all that they are through, and
 * waits PAUSE seconds, so that the cables are idle. A call is one of
 *
 *   s:PEER:BYTES  send              i:PEER:BYTES  isend        x:TO:FROM:BYTES  sendrecv
 *   r:PEER:BYTES  receive           j:PEER:BYTES  ireceive     w  wait for all
 *   z:SECONDS     sleep             c:FLOPS       compute      m:BYTES  copy        t  start the clock
 *
 * Rank 0 prints `first RANK SECONDS` and `again RANK SECONDS` for a first and a second exchange of a byte
 * with each rank, then `time NUMBER SECONDS...` for each experiment. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UPS = 1, MOST_REQUESTS = 4096, LANES = 8 };

struct call {
  char code;
  int peer, from;
  double amount; /* bytes, seconds or flops */
};

static int rank, ranks;
static MPI_Comm control;
static char *out, *in;
static size_t room;
static MPI_Request requests[MOST_REQUESTS];
static int open_requests;
static volatile double kept;

static void give_up(const char *why)
{
  fprintf(stderr, "calibration: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_for(double seconds)
{
  struct timespec t;
  t.tv_sec = (time_t)seconds;
  t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
  nanosleep(&t, NULL);
}

/* Independent chains of multiplications and additions, as loops of numerical programs have. */
static void compute(double flops)
{
  double value[LANES];
  for (int lane = 0; lane < LANES; lane++)
    value[lane] = 1.0 + lane;
  for (long step = (long)(flops / (2 * LANES)); step > 0; step--)
    for (int lane = 0; lane < LANES; lane++)
      value[lane] = value[lane] * 0.999999 + 1e-6;
  for (int lane = 0; lane < LANES; lane++)
    kept += value[lane];
}

static void wait_for_all(void)
{
  MPI_Waitall(open_requests, requests, MPI_STATUSES_IGNORE);
  open_requests = 0;
}

/* Returns the time at which the clock started. */
static double go_through(const struct call *calls, int count)
{
  char *free_room = in;
  double begun = now();
  for (const struct call *call = calls; call < calls + count; call++) {
    int bytes = (int)call->amount;
    switch (call->code) {
    case 's': MPI_Send(out, bytes, MPI_CHAR, call->peer, 0, MPI_COMM_WORLD); break;
    case 'r': MPI_Recv(in, bytes, MPI_CHAR, call->peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
    case 'i':
      MPI_Isend(out, bytes, MPI_CHAR, call->peer, 0, MPI_COMM_WORLD, &requests[open_requests++]);
      break;
    case 'j':
      MPI_Irecv(free_room, bytes, MPI_CHAR, call->peer, 0, MPI_COMM_WORLD, &requests[open_requests++]);
      free_room += bytes;
      break;
    case 'x':
      MPI_Sendrecv(out, bytes, MPI_CHAR, call->peer, 0, in, bytes, MPI_CHAR, call->from, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      break;
    case 'w':
      wait_for_all();
      free_room = in;
      break;
    case 'z': sleep_for(call->amount); break;
    case 'c': compute(call->amount); break;
    case 'm': memcpy(in, out, (size_t)call->amount); break;
    default: begun = now(); break;
    }
  }
  return begun;
}

static struct call read_call(const char *word)
{
  struct call call = {word[0], 0, 0, 0.0};
  int fields = 1;
  switch (word[0]) {
  case 's': case 'r': case 'i': case 'j':
    fields = sscanf(word, "%*c:%d:%lf", &call.peer, &call.amount) == 2;
    break;
  case 'x': fields = sscanf(word, "%*c:%d:%d:%lf", &call.peer, &call.from, &call.amount) == 3; break;
  case 'z': case 'c': case 'm': fields = sscanf(word, "%*c:%lf", &call.amount) == 1; break;
  case 'w': case 't': break;
  default: fields = 0;
  }
  if (!fields)
    give_up(word);
  return call;
}

/* Makes room for what a rank sends at once, and for what it receives between waits. */
static void make_room(const struct call *calls, int count)
{
  size_t most = 0, open = 0;
  int started = 0;
  for (int i = 0; i < count; i++) {
    size_t bytes = strchr("zc", calls[i].code) ? 0 : (size_t)calls[i].amount;
    open = calls[i].code == 'w' ? 0 : open + (calls[i].code == 'j' ? bytes : 0);
    started = calls[i].code == 'w' ? 0 : started + (calls[i].code == 'i' || calls[i].code == 'j');
    if (started > MOST_REQUESTS)
      give_up("too many calls that are not waited for");
    most = bytes > most ? bytes : most;
    most = open > most ? open : most;
  }
  if (most <= room)
    return;
  room = most;
  out = realloc(out, room);
  in = realloc(in, room);
  if (!out || !in)
    give_up("no memory");
  memset(out, 1, room); /* pages are there before the first repetition */
  memset(in, 1, room);
}

struct experiment {
  int number, clock, repetitions, participants;
  double pause;
};

static void tell_times(const struct experiment *run, const double *seconds)
{
  printf("time %d", run->number);
  for (int i = 0; i < run->repetitions; i++)
    printf(" %.9f", seconds[i]);
  printf("\n");
  fflush(stdout);
}

/* Rank 0 hears from all ranks of the experiment, and lets its clock go on when cables are idle. */
static void let_begin(const struct experiment *run, int takes_part, int turn)
{
  if (rank == 0) {
    for (int left = turn == 0 ? 0 : run->participants - takes_part; left > 0; left--)
      MPI_Recv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, 0, control, MPI_STATUS_IGNORE);
    sleep_for(run->pause);
    if (run->clock != 0)
      MPI_Send(NULL, 0, MPI_CHAR, run->clock, 1, control);
  } else if (rank == run->clock) {
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 1, control, MPI_STATUS_IGNORE);
  }
}

static void measure(const struct experiment *run, const struct call *calls, int count)
{
  int turns = WARM_UPS + run->repetitions;
  double *seconds = calloc((size_t)turns, sizeof *seconds);
  if (!seconds)
    give_up("no memory");
  make_room(calls, count);
  for (int turn = 0; turn < turns; turn++) {
    let_begin(run, count > 0, turn);
    if (count == 0)
      continue;
    double begun = go_through(calls, count);
    seconds[turn] = now() - begun;
    if (open_requests > 0)
      wait_for_all();
    if (rank != 0)
      MPI_Send(NULL, 0, MPI_CHAR, 0, 0, control);
  }
  if (rank == 0) {
    for (int left = run->participants - (count > 0); left > 0; left--)
      MPI_Recv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, 0, control, MPI_STATUS_IGNORE);
    if (run->clock != 0)
      MPI_Recv(seconds, turns, MPI_DOUBLE, run->clock, 2, control, MPI_STATUS_IGNORE);
    tell_times(run, seconds + WARM_UPS);
  } else if (rank == run->clock) {
    MPI_Send(seconds, turns, MPI_DOUBLE, 0, 2, control);
  }
  free(seconds);
}

static void go_through_file(char *text)
{
  struct experiment run = {0};
  struct call *calls = NULL;
  int count = 0;
  char *line_state = NULL, *word_state = NULL;
  for (char *line = strtok_r(text, "\n", &line_state); line; line = strtok_r(NULL, "\n", &line_state)) {
    char *word = strtok_r(line, " ", &word_state);
    if (word == NULL)
      continue;
    if (strcmp(word, "experiment") == 0) {
      const char *numbers = word + sizeof "experiment";
      if (sscanf(numbers, "%d %d %d %lf", &run.number, &run.clock, &run.repetitions, &run.pause) != 4)
        give_up(numbers);
      run.participants = count = 0;
    } else if (strcmp(word, "rank") == 0) {
      run.participants++;
      word = strtok_r(NULL, " ", &word_state);
      if (word == NULL || atoi(word) != rank)
        continue;
      size_t most = strlen(word + strlen(word) + 1) / 2 + 1;
      calls = realloc(calls, most * sizeof *calls);
      if (!calls)
        give_up("no memory");
      while ((word = strtok_r(NULL, " ", &word_state)))
        calls[count++] = read_call(word);
    } else if (strcmp(word, "end") == 0) {
      measure(&run, calls, count);
    } else {
      give_up(word);
    }
  }
  free(calls);
}

/* Exchanges a byte with each rank; the first time connections are set up for it. */
static void meet(const char *name)
{
  for (int other = 1; other < ranks; other++) {
    char byte = 0;
    if (rank == other) {
      MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
      double begun = now();
      MPI_Send(&byte, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD);
      MPI_Recv(&byte, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      printf("%s %d %.9f\n", name, other, now() - begun);
    }
  }
}

static char *read_file(const char *path, long *size)
{
  FILE *file = fopen(path, "r");
  if (!file || fseek(file, 0, SEEK_END) != 0 || (*size = ftell(file)) < 0)
    give_up(path);
  rewind(file);
  char *text = malloc((size_t)*size + 1);
  if (!text || fread(text, 1, (size_t)*size, file) != (size_t)*size)
    give_up(path);
  fclose(file);
  text[*size] = '\0';
  return text;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2)
    give_up("name a file of experiments");
  meet("first");
  meet("again");
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  long size = 0;
  char *text = rank == 0 ? read_file(argv[1], &size) : NULL;
  MPI_Bcast(&size, 1, MPI_LONG, 0, control);
  if (rank != 0 && !(text = malloc((size_t)size + 1)))
    give_up("no memory");
  MPI_Bcast(text, (int)size + 1, MPI_CHAR, 0, control);
  go_through_file(text);
  free(text);
  free(out);
  free(in);
  MPI_Comm_free(&control);
  MPI_Finalize();
  return 0;
}
