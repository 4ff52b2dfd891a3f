/* Lets ranks of MPICH over UCX that wait sleep until a socket has something for them; preloaded.
 *
 * A rank that waits asks its sockets again and again and never yields. Where sixteen ranks share two
 * cores, those that wait take the time of those that have work. So a thread that has asked the same set
 * in vain several times, with nothing in between that takes time, is let sleep on it until a socket is
 * ready. One that computes between two questions never sleeps.
 *
 * In MPI_Finalize a rank of MPICH 4.0 waits for the launcher once it has said good-bye to all others,
 * and answers none of them meanwhile: one that still waits for an answer waits for ever, and runs in
 * which ranks are slow to end seldom do. So a rank that waits for the launcher goes on answering. */
#define _GNU_SOURCE
#include "first.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>

enum {
  LONGEST_MS = 1,  /* what does not come through a socket is noticed then */
  PATIENCE = 8,    /* questions in vain */
  BETWEEN_NS = 20000 /* more than a question takes, less than what a program does between two */
};

static __thread int asked = -1;
static __thread int in_vain;
static __thread int64_t last;

static int64_t now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int epoll_wait(int set, struct epoll_event *events, int most, int timeout)
{
  static int (*real)(int, struct epoll_event *, int, int);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
  if (timeout != 0)
    return real(set, events, most, timeout);
  int again = set == asked && now() - last < BETWEEN_NS;
  in_vain = again ? in_vain + 1 : 0;
  asked = set;
  int ready = real(set, events, most, in_vain >= PATIENCE ? LONGEST_MS : 0);
  if (ready > 0)
    in_vain = 0;
  last = now();
  return ready;
}

static void *worker; /* of UCX; one a process */
static int ending;
static __thread int answering;

unsigned ucp_worker_progress(void *which)
{
  static unsigned (*real)(void *);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
  worker = which;
  answering++;
  unsigned done = real(which);
  answering--;
  return done;
}

void ucp_worker_destroy(void *which)
{
  void (*real)(void *);
  *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_destroy");
  worker = NULL;
  answering++;
  real(which);
  answering--;
}

ssize_t read(int file, void *into, size_t most)
{
  static ssize_t (*real)(int, void *, size_t);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "read");
  if (ending && worker && !answering) {
    struct pollfd launcher = {file, POLLIN, 0};
    while (poll(&launcher, 1, LONGEST_MS) == 0)
      ucp_worker_progress(worker);
  }
  return real(file, into, most);
}

int PMPI_Finalize(void)
{
  int (*real)(void);
  *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Finalize");
  ending = 1;
  int result = real();
  ending = 0;
  return result;
}

int MPI_Finalize(void)
{
  return PMPI_Finalize();
}
