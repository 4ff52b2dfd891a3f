/* The clocks of a program under SMPI. SMPI's know of simulated communication only; a program that paces
 * itself by the clock, or says how fast it was, asks for its computation too (smpi_run.c).
 *
 * smpi_gettimeofday and its like are what SMPI's header makes of the calls of C and C++. The others are
 * functions of libraries, which the program's own references find here first; nobody else sees them, for
 * a library is shared by all ranks and would ask the recorder of the first. Who defines a function of such
 * a name himself has his own. */
#include "recorder.h"

#include <dlfcn.h>
#include <simgrid/engine.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#undef sleep
#undef usleep
#undef nanosleep
#undef gettimeofday
#undef clock_gettime
#undef exit

#define OF_LIBRARY __attribute__((weak, visibility("hidden")))

static const double kMicro = 1e-6, kNano = 1e-9;

static bool inside(void)
{
  int begun = 0, over = 0;
  PMPI_Initialized(&begun);
  PMPI_Finalized(&over);
  return begun && !over;
}

/* Simulated time, with what the rank computed. */
static double wall(const char *function, bool recorded)
{
  if (!inside()) {
    hamtune_enter_outside();
    hamtune_leave_outside();
    return hamtune_wtime();
  }
  hamtune_enter_clock(function);
  if (recorded && hamtune_recording(function, MPI_SUCCESS))
    put_operation(WTIME);
  const double now = hamtune_wtime();
  hamtune_leave();
  return now;
}

/* What the rank computed; where it declares that, time is all there is. */
static double cpu(const char *function)
{
  if (!inside() || !hamtune_measures())
    return wall(function, false);
  hamtune_enter_clock(function);
  const double spent = hamtune_computed_seconds();
  hamtune_leave();
  return spent;
}

static struct timespec as_timespec(double seconds)
{
  const time_t whole = (time_t)seconds;
  return (struct timespec){whole, (long)((seconds - (double)whole) / kNano)};
}

static struct timeval as_timeval(double seconds)
{
  const time_t whole = (time_t)seconds;
  return (struct timeval){whole, (suseconds_t)((seconds - (double)whole) / kMicro)};
}

/* C and C++. SMPI gives the first two the cost of MPI_Wtime, so they are recorded as it. */

int smpi_gettimeofday(struct timeval *now, struct timezone *zone)
{
  (void)zone;
  const double seconds = wall("gettimeofday", true);
  if (now != NULL)
    *now = as_timeval(seconds);
  return 0;
}

int smpi_clock_gettime(clockid_t clock, struct timespec *now)
{
  const bool of_processor = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  const double seconds =
      of_processor ? cpu("clock_gettime") : wall("clock_gettime", true);
  if (now == NULL)
    return -1;
  *now = as_timespec(seconds);
  return 0;
}

OF_LIBRARY time_t time(time_t *now)
{
  const time_t seconds = (time_t)wall("time", false);
  if (now != NULL)
    *now = seconds;
  return seconds;
}

OF_LIBRARY clock_t clock(void)
{
  return (clock_t)(cpu("clock") * CLOCKS_PER_SEC);
}

OF_LIBRARY clock_t times(struct tms *used)
{
  const double ticks = (double)sysconf(_SC_CLK_TCK);
  if (used != NULL)
    *used = (struct tms){.tms_utime = (clock_t)(cpu("times") * ticks)};
  return (clock_t)(wall("times", false) * ticks);
}

OF_LIBRARY int getrusage(__rusage_who_t who, struct rusage *usage)
{
  int (*next)(__rusage_who_t, struct rusage *);
  *(void **)&next = dlsym(RTLD_NEXT, "getrusage");
  const int result = next(who, usage);
  if (result == 0 && who != RUSAGE_CHILDREN) {
    usage->ru_utime = as_timeval(cpu("getrusage"));
    usage->ru_stime = (struct timeval){0};
  }
  return result;
}

OF_LIBRARY int64_t hamtune_steady_clock(void) __asm__("_ZNSt6chrono3_V212steady_clock3nowEv");
OF_LIBRARY int64_t hamtune_steady_clock(void)
{
  return (int64_t)(wall("steady_clock::now", false) / kNano);
}

OF_LIBRARY int64_t hamtune_system_clock(void) __asm__("_ZNSt6chrono3_V212system_clock3nowEv");
OF_LIBRARY int64_t hamtune_system_clock(void)
{
  return (int64_t)(wall("system_clock::now", false) / kNano);
}

double omp_get_wtime(void);
double omp_get_wtime_(void);

OF_LIBRARY double omp_get_wtime(void)
{
  return wall("omp_get_wtime", false);
}

OF_LIBRARY double omp_get_wtime_(void)
{
  return omp_get_wtime();
}

/* Fortran's intrinsic procedures, as gfortran calls them. */

static const int64_t kPerSecond[] = {1000, 1000000000};

static int64_t system_clock(int wide)
{
  return (int64_t)(wall("system_clock", false) * (double)kPerSecond[wide]);
}

void _gfortran_system_clock_4(int32_t *count, int32_t *rate, int32_t *most);
OF_LIBRARY void _gfortran_system_clock_4(int32_t *count, int32_t *rate, int32_t *most)
{
  if (count != NULL)
    *count = (int32_t)(system_clock(0) & INT32_MAX);
  if (rate != NULL)
    *rate = (int32_t)kPerSecond[0];
  if (most != NULL)
    *most = INT32_MAX;
}

void _gfortran_system_clock_8(int64_t *count, int64_t *rate, int64_t *most);
OF_LIBRARY void _gfortran_system_clock_8(int64_t *count, int64_t *rate, int64_t *most)
{
  if (count != NULL)
    *count = system_clock(1);
  if (rate != NULL)
    *rate = kPerSecond[1];
  if (most != NULL)
    *most = INT64_MAX;
}

void _gfortran_cpu_time_4(float *seconds);
OF_LIBRARY void _gfortran_cpu_time_4(float *seconds)
{
  *seconds = (float)cpu("cpu_time");
}

void _gfortran_cpu_time_8(double *seconds);
OF_LIBRARY void _gfortran_cpu_time_8(double *seconds)
{
  *seconds = cpu("cpu_time");
}

void _gfortran_second_sub(float *seconds);
OF_LIBRARY void _gfortran_second_sub(float *seconds)
{
  *seconds = (float)cpu("second");
}

float _gfortran_second(void);
OF_LIBRARY float _gfortran_second(void)
{
  return (float)cpu("second");
}

float _gfortran_secnds(const float *since);
OF_LIBRARY float _gfortran_secnds(const float *since)
{
  return (float)wall("secnds", false) - *since;
}

int32_t _gfortran_time_func(void);
OF_LIBRARY int32_t _gfortran_time_func(void)
{
  return (int32_t)wall("time", false);
}

int64_t _gfortran_time8_func(void);
OF_LIBRARY int64_t _gfortran_time8_func(void)
{
  return (int64_t)wall("time", false);
}

/* Sleeping is not computation and is not recorded; meanwhile other ranks run. */

#define NEXT(NAME, TYPE, PARAMETERS)              \
  static TYPE(*next) PARAMETERS;                  \
  if (next == NULL)                               \
    *(void **)&next = dlsym(RTLD_NEXT, #NAME);    \
  hamtune_enter(#NAME);

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
