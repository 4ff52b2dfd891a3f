/* The CPU time of this thread without asking the kernel at every call.
 *
 * A look at CLOCK_THREAD_CPUTIME_ID is a system call; CLOCK_MONOTONIC is not. While the thread stays
 * on its processor both advance alike, so the second, from a moment at which both were read, stands
 * for the first. That nothing came between is seen by the area that Linux shares with each thread
 * for restartable sequences (rseq(2), Linux 4.18, registered by glibc 2.35): it clears the address
 * of the sequence whenever the thread has been off its processor, or a signal has come, and is not
 * within that sequence. Ours is never run. Where there is no such area, or it is not cleared (which
 * is tried once), each look is a system call.
 *
 * Under SMPI all ranks run in one thread and have copies of their own of what is kept here. The area
 * then holds the address of the rank that looked last: a rank that finds another's asks the kernel,
 * which is after the switch and so outside of what it measures. */
#include "recorder.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* SMPI's header puts simulated ones in their place. */
#undef clock_gettime
#undef nanosleep

#if defined __has_include
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#endif

static double seconds(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#ifdef RSEQ_SIG

/* Clocks are compared this often anyway: of time that a hypervisor takes, both do not know alike. */
static const double kLongest = 0.01;

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* The kernel wants to see the signature in front of where it would send the thread. */
static const uint32_t landing[2] = {RSEQ_SIG, 0};
static struct rseq_cs never;

static volatile uint64_t *watched; /* where the kernel looks for a sequence; null without an area */
static double cpu_then, time_then;

static char *thread_pointer(void)
{
#ifdef __x86_64__ /* where not every compiler has the built-in function */
  char *pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
#else
  return __builtin_thread_pointer();
#endif
}

static bool stayed(void)
{
  return *watched == (uintptr_t)&never;
}

static void watch(void)
{
  *watched = (uintptr_t)&never;
}

static bool is_cleared_by_kernel(void)
{
  const struct timespec moment = {.tv_nsec = 1};
  watch();
  nanosleep(&moment, NULL);
  return !stayed();
}

void hamtune_start_clock(void)
{
  if (&__rseq_size == NULL || &__rseq_offset == NULL || __rseq_size == 0)
    return;
  never.start_ip = (uintptr_t)&landing[0];
  never.post_commit_offset = 1;
  never.abort_ip = (uintptr_t)&landing[1];
  struct rseq *area = (struct rseq *)(thread_pointer() + __rseq_offset);
  watched = (volatile uint64_t *)&area->rseq_cs;
  if (!is_cleared_by_kernel())
    hamtune_stop_clock();
}

void hamtune_stop_clock(void)
{
  if (watched != NULL && stayed())
    *watched = 0;
  watched = NULL;
}

double hamtune_thread_seconds(void)
{
  if (watched == NULL)
    return seconds(CLOCK_THREAD_CPUTIME_ID);
  const double now = seconds(CLOCK_MONOTONIC);
  if (stayed() && now - time_then < kLongest)
    return cpu_then + (now - time_then);
  watch();
  cpu_then = seconds(CLOCK_THREAD_CPUTIME_ID);
  time_then = seconds(CLOCK_MONOTONIC);
  return cpu_then;
}

#else

void hamtune_start_clock(void)
{
}

void hamtune_stop_clock(void)
{
}

double hamtune_thread_seconds(void)
{
  return seconds(CLOCK_THREAD_CPUTIME_ID);
}

#endif
