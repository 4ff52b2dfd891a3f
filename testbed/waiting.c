/* Lets ranks that wait sleep until a socket has something for them; preloaded.
 *
 * A rank of Open MPI that waits asks its sockets again and again and yields in between. Where there is
 * a core for each rank that is the fastest way to wait; where sixteen ranks share two cores, those that
 * wait take the time of those that have work, and what is measured is the scheduler. So a yield sleeps
 * here: on the very set of sockets that the thread asked last (`opal_event_include epoll`), until one is
 * ready. Open MPI also yields after it has read a message and before it looks whether that was the one
 * that it waits for; then a yield does nothing.
 *
 * What else the machine does gives way: a rank that is woken runs at once, for short. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONGEST_MS = 1 }; /* what does not come through a socket is noticed then */

/* What the system call takes; the kernel's header for it does not go with that of the C library. */
typedef struct {
  uint32_t size, policy;
  uint64_t flags;
  int32_t niceness;
  uint32_t priority;
  uint64_t runtime, deadline, period;
} Attributes;

static const uint64_t SLICE_NS = 100000;
static const char NICENESS[] = "-10"; /* of the session, which schedulers share time out between */

static __thread int asked = -1;
static __thread int found;

int epoll_wait(int set, struct epoll_event *events, int most, int timeout)
{
  static int (*real)(int, struct epoll_event *, int, int);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "epoll_wait");
  asked = set;
  int ready = real(set, events, most, timeout);
  if (ready > 0)
    found = 1;
  return ready;
}

int sched_yield(void)
{
  struct pollfd set = {asked, POLLIN, 0};
  if (!found)
    poll(&set, asked >= 0, LONGEST_MS);
  found = 0;
  return 0;
}

__attribute__((constructor)) static void go_first(void)
{
  Attributes slice = {.size = sizeof slice, .policy = SCHED_OTHER, .niceness = -10};
  slice.runtime = SLICE_NS;
  if (syscall(SYS_sched_setattr, 0, &slice, 0) != 0)
    dprintf(STDERR_FILENO, "waiting.c: the slice cannot be set\n");
  int group = open("/proc/self/autogroup", O_WRONLY);
  if (group < 0)
    return;
  if (write(group, NICENESS, sizeof NICENESS - 1) < 0)
    dprintf(STDERR_FILENO, "waiting.c: the session's niceness cannot be set\n");
  close(group);
}
