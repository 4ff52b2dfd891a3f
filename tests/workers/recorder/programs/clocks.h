/* A block of work, and whether a clock that was read before and after agrees with the kernel on it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds_of_kernel(void)
{
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Keeps the processor busy for a while and returns how long it did. */
static double work(double seconds)
{
  const double begin = seconds_of_kernel();
  while (seconds_of_kernel() - begin < seconds)
    for (volatile int i = 0; i < 10000; i++)
      ;
  return seconds_of_kernel() - begin;
}

/* Within a fifth, and what a clock of ticks may be wrong by. */
static void expect(const char *clock, double said, double spent)
{
  if (fabs(said - spent) <= 0.2 * spent + 0.015)
    return;
  fprintf(stderr, "%s says %g s where %g s were computed\n", clock, said, spent);
  exit(3);
}
