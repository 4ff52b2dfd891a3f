/* Has the recorder take what a rank computes by the clock on the wall; preloaded.
 *
 * The recorder asks for the CPU time of a thread, for on a cluster a rank has a core. Where sixteen
 * hosts are played by two cores, a rank that computes while others do takes longer, and what it takes is
 * what counts for the time of the program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
  static int (*real)(clockid_t, struct timespec *);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
  return real(clock == CLOCK_THREAD_CPUTIME_ID ? CLOCK_MONOTONIC : clock, now);
}
