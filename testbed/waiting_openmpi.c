/* Lets ranks of Open MPI that wait sleep until a socket has something for them; preloaded.
 *
 * A rank that waits asks its sockets again and again and yields in between. Where there is
 * a core for each rank that is the fastest way to wait; where sixteen ranks share two cores, those that
 * wait take the time of those that have work, and what is measured is the scheduler. So a yield sleeps
 * here: on the very set of sockets that the thread asked last (`opal_event_include epoll`), until one is
 * ready. Open MPI also yields after it has read a message and before it looks whether that was the one
 * that it waits for; then a yield does nothing. */
#define _GNU_SOURCE
#include "first.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>

enum { LONGEST_MS = 1 }; /* what does not come through a socket is noticed then */

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
