/* What the recorder must know of SMPI: the program is a library that SMPI opens once a rank, so
 * references inside it find the recorder first, and dlsym(RTLD_NEXT) finds libsimgrid. */
#include "recorder.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#undef sleep
#undef usleep
#undef nanosleep
#undef gettimeofday
#undef clock_gettime
#undef exit

void smpi_execute_flops_(double *flops);

extern int mpi_in_place_, mpi_status_ignore_, mpi_statuses_ignore_;

struct fortran_layout hamtune_fortran(void)
{
  return (struct fortran_layout){
      .in_place = &mpi_in_place_,
      .status_ignore = &mpi_status_ignore_,
      .statuses_ignore = &mpi_statuses_ignore_,
      .status_size = MPI_STATUS_SIZE,
  };
}

/* All ranks are one process. */
void hamtune_abort(void)
{
  _Exit(EXIT_FAILURE);
}

/* The capture that started the run knows all about it. */
void hamtune_describe_run(const char *directory, int rank, double speed)
{
  (void)directory;
  (void)rank;
  (void)speed;
}

/* Under SMPI every rank has one. */
bool hamtune_my_thread(void)
{
  return true;
}

#define NEXT(NAME, TYPE, PARAMETERS)              \
  static TYPE(*next) PARAMETERS;                  \
  if (next == NULL)                               \
    *(void **)&next = dlsym(RTLD_NEXT, #NAME);    \
  hamtune_enter();

/* Under SMPI a program declares its computation by executing it, so this is where it is recorded;
 * hamtune_record_flops only tells that the program has declared. */

void smpi_execute_flops(double flops)
{
  NEXT(smpi_execute_flops, void, (double))
  next(flops);
  if (hamtune_recording("smpi_execute_flops", MPI_SUCCESS))
    put_computation(flops);
  else
    hamtune_add_flops(flops);
  hamtune_leave();
}

void smpi_execute_flops_(double *flops)
{
  smpi_execute_flops(*flops);
}

void hamtune_record_flops(double flops)
{
  (void)flops;
  if (hamtune_measures())
    hamtune_refuse("the program declares its flops; they must not be measured as well");
}

/* SMPI's clocks and sleeps let other ranks run: their computation must not count as this rank's.
 * Reading a clock costs what MPI_Wtime costs; sleeping is not computation and is not recorded. */

static void record_clock(void)
{
  if (hamtune_recording("a clock", MPI_SUCCESS))
    put_operation(WTIME);
}

int smpi_gettimeofday(struct timeval *now, struct timezone *zone)
{
  NEXT(smpi_gettimeofday, int, (struct timeval *, struct timezone *))
  record_clock();
  const int result = next(now, zone);
  hamtune_leave();
  return result;
}

int smpi_clock_gettime(clockid_t clock, struct timespec *now)
{
  NEXT(smpi_clock_gettime, int, (clockid_t, struct timespec *))
  record_clock();
  const int result = next(clock, now);
  hamtune_leave();
  return result;
}

unsigned int smpi_sleep(unsigned int seconds)
{
  NEXT(smpi_sleep, unsigned int, (unsigned int))
  const unsigned int result = next(seconds);
  hamtune_leave();
  return result;
}

int smpi_usleep(useconds_t microseconds)
{
  NEXT(smpi_usleep, int, (useconds_t))
  const int result = next(microseconds);
  hamtune_leave();
  return result;
}

int smpi_nanosleep(const struct timespec *wanted, struct timespec *left)
{
  NEXT(smpi_nanosleep, int, (const struct timespec *, struct timespec *))
  const int result = next(wanted, left);
  hamtune_leave();
  return result;
}
