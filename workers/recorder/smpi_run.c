/* What the ranks of a simulated run share, and the capture reads while it lasts: a file `progress` beside
 * the recordings, mapped once for all ranks (workers/capture_progress.py has its layout too).
 *
 * It also makes simulated time contain what is measured. SMPI moves its clock only in communication, so a
 * rank sleeps for what it has computed before it communicates. From the moment on at which a rank asks what
 * time it is, that is: a program that never does cannot tell, is captured faster, and takes its messages
 * in an order that does not depend on measurements. */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum state { NOT_BEGUN, COMPUTES, IN_CALL, SLEEPS, ENDED };

struct rank {
  uint64_t operations;
  double clock; /* simulated, s */
  uint32_t state;
  char call[44]; /* the last one */
};

struct run {
  char magic[8];
  uint32_t ranks;
  uint32_t time_matters;
  uint32_t stuck;
  uint32_t unused;
  uint64_t polls; /* in a row that found nothing, while no rank did anything else */
  char unused_too[32];
  struct rank of[];
};
_Static_assert(sizeof(struct rank) == 64 && sizeof(struct run) == 64, "as the capture reads it");

static const char kAddress[] = "HAMTUNE_RUN_ADDRESS";
/* A sleep costs as much as a message. What is declared is exact, and costs of looks are rare. */
static const double kLeastMeasured = 1e-7, kLeastDeclared = 1e-9;
static const double kLook = 1e-8; /* smpi/wtime */
/* Each poll in vain lets more time pass than the last: after these no message can be on its way. */
static const uint64_t kMostPolls = 1000000;

static struct run *run;
static struct rank *mine;
static pthread_t thread;
static double ahead; /* of the simulated clock is that of this rank, s */
static double outside_since; /* 0: not known yet */
static uint64_t operations_before;

static struct run *mapped(const char *directory, int ranks)
{
  char path[4200];
  snprintf(path, sizeof path, "%s/progress", directory);
  const size_t size = sizeof *run + (size_t)ranks * sizeof(struct rank);
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  void *memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    hamtune_refuse("cannot write the recording: %s", strerror(errno));
  close(fd);
  return memory;
}

/* Ranks have copies of this file's variables, but one environment. */
static void find_run(const char *directory)
{
  char text[32];
  const char *given = getenv(kAddress);
  if (given != NULL) {
    run = (struct run *)strtoull(given, NULL, 16); /* NOLINT */
    return;
  }
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  run = mapped(directory, ranks);
  run->ranks = (uint32_t)ranks;
  memcpy(run->magic, "HAMTRUN1", sizeof run->magic);
  snprintf(text, sizeof text, "%llx", (unsigned long long)(uintptr_t)run);
  setenv(kAddress, text, 1);
}

/* The capture that started the run knows all else about it. */
void hamtune_describe_run(const char *directory, int rank, double speed)
{
  (void)speed;
  thread = pthread_self();
  find_run(directory);
  mine = &run->of[rank];
  mine->state = IN_CALL;
}

/* All ranks are contexts of one thread, unless SimGrid is told otherwise. */
bool hamtune_my_thread(void)
{
  return pthread_equal(thread, pthread_self());
}

void hamtune_enter_outside(void)
{
  const double now = outside_since > 0 ? hamtune_thread_seconds() : 0;
  if (now > outside_since)
    ahead += now - outside_since;
}

void hamtune_leave_outside(void)
{
  outside_since = hamtune_thread_seconds();
}

void hamtune_computed(double seconds)
{
  if (run->time_matters)
    ahead += seconds;
}

void hamtune_let_pass(void)
{
  if (ahead < (hamtune_measures() ? kLeastMeasured : kLeastDeclared))
    return;
  mine->state = SLEEPS;
  sg_actor_sleep_for(ahead);
  ahead = 0;
  mine->state = IN_CALL;
}

/* No other rank gets to run, as SMPI would have it: this one may be in the midst of something, such as a
 * Fortran statement that has locked the output to print the time. A look takes what SMPI says of one, so
 * that who waits for the clock comes to an end. */
double hamtune_wtime(void)
{
  const double now = simgrid_get_clock() + ahead;
  if (run != NULL) {
    run->time_matters = 1;
    run->polls = 0; /* what waits for a time is not stuck */
  }
  ahead += kLook;
  return now;
}

void hamtune_tell_call(const char *function)
{
  operations_before = mine->operations;
  mine->clock = simgrid_get_clock();
  strncpy(mine->call, function, sizeof mine->call - 1);
  mine->state = strstr(function, "sleep") != NULL ? SLEEPS : IN_CALL;
}

void hamtune_tell_operation(void)
{
  mine->operations++;
  run->polls = 0;
}

static bool polls(const char *call)
{
  static const char *const names[] = {"MPI_Test", "MPI_Iprobe", "MPI_Improbe"};
  for (size_t at = 0; at < sizeof names / sizeof *names; at++)
    if (strncmp(call, names[at], strlen(names[at])) == 0)
      return true;
  return false;
}

static void check_for_sleepers(void)
{
  for (uint32_t rank = 0; rank < run->ranks; rank++)
    if (run->of[rank].state == SLEEPS)
      return;
  run->stuck = 1;
  hamtune_refuse("%llu polls in a row found nothing", (unsigned long long)run->polls);
}

void hamtune_tell_return(void)
{
  if (mine->operations == operations_before && polls(mine->call) &&
      ++run->polls % kMostPolls == 0)
    check_for_sleepers();
  mine->state = COMPUTES;
}

void hamtune_tell_end(void)
{
  mine->clock = simgrid_get_clock();
  mine->state = ENDED;
}
