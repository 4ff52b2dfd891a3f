/* Plays a time-independent trace of SimGrid as an ordinary MPI program.
 *
 *   smpicc -O2 replay.c -o replay
 *   smpirun -np N -platform P -hostfile H --cfg=smpi/simulate-computation:no ./replay DIRECTORY
 *
 * DIRECTORY/rank-R.txt holds the actions of rank R. SimGrid's own player (smpirun -replay) hands collectives
 * buffers that several of their algorithms cannot work with, and crashes; here every action is the
 * MPI call that it stands for, so every algorithm that a program can use can be replayed. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_AT_FIRST = 64 };

typedef struct {
  int source, target, tag;
  MPI_Request request;
} Open;

typedef struct {
  int rank, ranks;
  char *send, *receive; /* scratch: nobody looks at what is in there */
  size_t send_bytes, receive_bytes;
  Open *open; /* oldest first */
  size_t opened, room;
} Player;

static void fail(const Player *player, const char *what, const char *detail)
{
  fprintf(stderr, "replay: rank %d: %s: %s\n", player->rank, what, detail);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *grown(void *memory, size_t bytes)
{
  void *larger = realloc(memory, bytes);
  if (larger == NULL)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return larger;
}

static char *scratch(char **buffer, size_t *size, size_t bytes)
{
  if (bytes >= *size) {
    *buffer = grown(*buffer, bytes + 1);
    memset(*buffer + *size, 0, bytes + 1 - *size);
    *size = bytes + 1;
  }
  return *buffer;
}

static char *to_send(Player *player, long bytes)
{
  return scratch(&player->send, &player->send_bytes, (size_t)bytes);
}

static char *to_receive(Player *player, long bytes)
{
  return scratch(&player->receive, &player->receive_bytes, (size_t)bytes);
}

static MPI_Datatype datatype(const Player *player, const char *id)
{
  switch (atoi(id)) {
    case 0: return MPI_DOUBLE;
    case 1: return MPI_INT;
    case 3: return MPI_SHORT;
    case 6: return MPI_BYTE;
    case 43: return MPI_C_DOUBLE_COMPLEX;
  }
  fail(player, "unknown datatype", id);
  return MPI_BYTE;
}

/* MPI_BYTE cannot be added up; what an operator does takes no simulated time. */
static MPI_Op operator_for(MPI_Datatype type)
{
  return type == MPI_BYTE ? MPI_BOR : MPI_SUM;
}

static long size_of(MPI_Datatype type)
{
  int size;
  MPI_Type_size(type, &size);
  return size;
}

static MPI_Request *start(Player *player, int source, int target, int tag)
{
  if (player->opened == player->room) {
    player->room = player->room ? 2 * player->room : WORDS_AT_FIRST;
    player->open = grown(player->open, player->room * sizeof *player->open);
  }
  Open *open = &player->open[player->opened++];
  *open = (Open){source, target, tag, MPI_REQUEST_NULL};
  return &open->request;
}

static void wait_for(Player *player, int source, int target, int tag)
{
  for (size_t at = 0; at < player->opened; at++) {
    Open *open = &player->open[at];
    if (open->source != source || open->target != target || open->tag != tag)
      continue;
    MPI_Request request = open->request;
    player->opened--;
    memmove(open, open + 1, (player->opened - at) * sizeof *open);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  fail(player, "wait", "no such request");
}

static void message(Player *player, char **word)
{
  const char *name = word[1];
  int peer = atoi(word[2]), tag = atoi(word[3]), count = atoi(word[4]), rank = player->rank;
  MPI_Datatype type = datatype(player, word[5]);
  long bytes = count * size_of(type);
  if (strcmp(name, "send") == 0)
    MPI_Send(to_send(player, bytes), count, type, peer, tag, MPI_COMM_WORLD);
  else if (strcmp(name, "recv") == 0)
    MPI_Recv(to_receive(player, bytes), count, type, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (strcmp(name, "isend") == 0)
    MPI_Isend(to_send(player, bytes), count, type, peer, tag, MPI_COMM_WORLD,
              start(player, rank, peer, tag));
  else
    MPI_Irecv(to_receive(player, bytes), count, type, peer, tag, MPI_COMM_WORLD,
              start(player, peer, rank, tag));
}

/* alltoall, allgather, gather, scatter: counts sent and received, [root], datatypes. */
static void blocks(Player *player, char **word)
{
  const char *name = word[1];
  int rooted = strcmp(name, "gather") == 0 || strcmp(name, "scatter") == 0;
  int sent = atoi(word[2]), received = atoi(word[3]), root = rooted ? atoi(word[4]) : 0;
  MPI_Datatype out = datatype(player, word[4 + rooted]), in = datatype(player, word[5 + rooted]);
  void *from = to_send(player, player->ranks * sent * size_of(out));
  void *into = to_receive(player, player->ranks * received * size_of(in));
  if (strcmp(name, "alltoall") == 0)
    MPI_Alltoall(from, sent, out, into, received, in, MPI_COMM_WORLD);
  else if (strcmp(name, "allgather") == 0)
    MPI_Allgather(from, sent, out, into, received, in, MPI_COMM_WORLD);
  else if (strcmp(name, "gather") == 0)
    MPI_Gather(from, sent, out, into, received, in, root, MPI_COMM_WORLD);
  else
    MPI_Scatter(from, sent, out, into, received, in, root, MPI_COMM_WORLD);
}

/* reduce, allreduce, scan, exscan: count, flops (always 0 here), [root], datatype. */
static void reduction(Player *player, char **word)
{
  const char *name = word[1];
  int rooted = strcmp(name, "reduce") == 0;
  int count = atoi(word[2]), root = rooted ? atoi(word[4]) : 0;
  MPI_Datatype type = datatype(player, word[4 + rooted]);
  MPI_Op sum = operator_for(type);
  void *from = to_send(player, count * size_of(type));
  void *into = to_receive(player, count * size_of(type));
  if (rooted)
    MPI_Reduce(from, into, count, type, sum, root, MPI_COMM_WORLD);
  else if (strcmp(name, "allreduce") == 0)
    MPI_Allreduce(from, into, count, type, sum, MPI_COMM_WORLD);
  else if (strcmp(name, "scan") == 0)
    MPI_Scan(from, into, count, type, sum, MPI_COMM_WORLD);
  else
    MPI_Exscan(from, into, count, type, sum, MPI_COMM_WORLD);
}

/* One count a rank, and where each part begins; returns the sum. */
static long parts(const Player *player, char **word, int **counts, int **starts)
{
  long sum = 0;
  *counts = grown(NULL, (size_t)player->ranks * sizeof **counts);
  *starts = grown(NULL, (size_t)player->ranks * sizeof **starts);
  for (int rank = 0; rank < player->ranks; rank++) {
    (*counts)[rank] = atoi(word[rank]);
    (*starts)[rank] = (int)sum;
    sum += (*counts)[rank];
  }
  return sum;
}

/* alltoallv: sum sent, counts, sum received, counts, datatypes. */
static void alltoallv(Player *player, char **word)
{
  int ranks = player->ranks, *sent, *sent_at, *received, *received_at;
  long out = parts(player, word + 3, &sent, &sent_at);
  long in = parts(player, word + 4 + ranks, &received, &received_at);
  MPI_Datatype out_type = datatype(player, word[4 + 2 * ranks]);
  MPI_Datatype in_type = datatype(player, word[5 + 2 * ranks]);
  void *from = to_send(player, out * size_of(out_type));
  MPI_Alltoallv(from, sent, sent_at, out_type, to_receive(player, in * size_of(in_type)), received,
                received_at, in_type, MPI_COMM_WORLD);
  free(sent), free(sent_at), free(received), free(received_at);
}

/* gatherv: count sent, counts received, root, datatypes. scatterv: counts sent, count received, root,
 * datatypes. */
static void by_counts_of_root(Player *player, char **word)
{
  int ranks = player->ranks, *counts, *starts;
  int gather = strcmp(word[1], "gatherv") == 0;
  long sum = parts(player, word + 2 + gather, &counts, &starts);
  int count = atoi(word[gather ? 2 : 2 + ranks]), root = atoi(word[3 + ranks]);
  MPI_Datatype out = datatype(player, word[4 + ranks]), in = datatype(player, word[5 + ranks]);
  void *from = to_send(player, (gather ? count : sum) * size_of(out));
  void *into = to_receive(player, (gather ? sum : count) * size_of(in));
  if (gather)
    MPI_Gatherv(from, count, out, into, counts, starts, in, root, MPI_COMM_WORLD);
  else
    MPI_Scatterv(from, counts, starts, out, into, count, in, root, MPI_COMM_WORLD);
  free(counts), free(starts);
}

/* allgatherv: count sent, counts received, datatypes. reducescatter: counts, flops, datatype. */
static void by_counts(Player *player, char **word)
{
  int ranks = player->ranks, *counts, *starts;
  int gather = strcmp(word[1], "allgatherv") == 0;
  long sum = parts(player, word + 2 + gather, &counts, &starts);
  MPI_Datatype type = datatype(player, word[3 + ranks]);
  if (gather) {
    MPI_Datatype in = datatype(player, word[4 + ranks]);
    void *from = to_send(player, atoi(word[2]) * size_of(type));
    MPI_Allgatherv(from, atoi(word[2]), type, to_receive(player, sum * size_of(in)), counts, starts,
                   in, MPI_COMM_WORLD);
  } else {
    void *from = to_send(player, sum * size_of(type));
    MPI_Reduce_scatter(from, to_receive(player, sum * size_of(type)), counts, type,
                       operator_for(type), MPI_COMM_WORLD);
  }
  free(counts), free(starts);
}

/* An action: its name, how many words follow it beside those that are one a rank, and who plays. */
static const struct {
  const char *name;
  int words, words_a_rank;
  void (*play)(Player *, char **);
} actions[] = {
    {"send", 4, 0, message},         {"recv", 4, 0, message},
    {"isend", 4, 0, message},        {"irecv", 4, 0, message},
    {"alltoall", 4, 0, blocks},      {"allgather", 4, 0, blocks},
    {"gather", 5, 0, blocks},        {"scatter", 5, 0, blocks},
    {"allreduce", 3, 0, reduction},  {"reduce", 4, 0, reduction},
    {"scan", 3, 0, reduction},       {"exscan", 3, 0, reduction},
    {"alltoallv", 4, 2, alltoallv},  {"allgatherv", 3, 1, by_counts},
    {"reducescatter", 2, 1, by_counts},
    {"gatherv", 4, 1, by_counts_of_root}, {"scatterv", 4, 1, by_counts_of_root},
};

static void play(Player *player, char **word, int words)
{
  const char *name = word[1];
  if (strcmp(name, "init") == 0 || strcmp(name, "finalize") == 0)
    return;
  if (strcmp(name, "barrier") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(name, "compute") == 0 && words == 3) {
    smpi_execute_flops(atof(word[2]));
  } else if (strcmp(name, "sleep") == 0 && words == 3) {
    MPI_Wtime(); /* the only sleep there is: what SMPI charges for this call */
  } else if (strcmp(name, "wait") == 0 && words == 5) {
    wait_for(player, atoi(word[2]), atoi(word[3]), atoi(word[4]));
  } else if (strcmp(name, "bcast") == 0 && words == 5) {
    MPI_Datatype type = datatype(player, word[4]);
    int count = atoi(word[2]);
    MPI_Bcast(to_send(player, count * size_of(type)), count, type, atoi(word[3]), MPI_COMM_WORLD);
  } else {
    for (size_t at = 0; at < sizeof actions / sizeof *actions; at++)
      if (strcmp(name, actions[at].name) == 0 &&
          words == 2 + actions[at].words + actions[at].words_a_rank * player->ranks) {
        actions[at].play(player, word);
        return;
      }
    fail(player, "unknown action", name);
  }
}

int main(int argc, char **argv)
{
  Player player = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &player.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &player.ranks);
  if (argc != 2)
    fail(&player, "usage", "replay DIRECTORY, which holds rank-0.txt and so on");
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d.txt", argv[1], player.rank);
  FILE *file = fopen(path, "r");
  if (file == NULL)
    fail(&player, "cannot open", path);
  char *line = NULL, **word = NULL;
  size_t line_room = 0, word_room = 0;
  while (getline(&line, &line_room, file) > 0) {
    size_t words = 0;
    for (char *next = strtok(line, " \n"); next != NULL; next = strtok(NULL, " \n")) {
      if (words == word_room) {
        word_room = word_room ? 2 * word_room : WORDS_AT_FIRST;
        word = grown(word, word_room * sizeof *word);
      }
      word[words++] = next;
    }
    if (words >= 2)
      play(&player, word, (int)words);
  }
  fclose(file);
  MPI_Finalize();
  return 0;
}
