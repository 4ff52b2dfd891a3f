/* All clocks of C say what the rank computed; waiting is in the wall's and not in the processor's; and a loop
 * that paces itself by one comes to its end. */
#include "clocks.h"

#include <mpi.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

enum { WTIME, GETTIMEOFDAY, MONOTONIC, PROCESS, RUSAGE, CLOCK, TIMES, CLOCKS };
static const char *const names[] = {"MPI_Wtime", "gettimeofday", "CLOCK_MONOTONIC", "CLOCK_PROCESS_CPUTIME_ID",
                                    "getrusage", "clock",        "times"};

static void read_all(double *now)
{
  struct timeval day;
  struct timespec monotonic, process;
  struct rusage used;
  struct tms ticks;
  now[WTIME] = MPI_Wtime();
  gettimeofday(&day, NULL);
  now[GETTIMEOFDAY] = (double)day.tv_sec + 1e-6 * (double)day.tv_usec;
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  now[MONOTONIC] = (double)monotonic.tv_sec + 1e-9 * (double)monotonic.tv_nsec;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process);
  now[PROCESS] = (double)process.tv_sec + 1e-9 * (double)process.tv_nsec;
  getrusage(RUSAGE_SELF, &used);
  now[RUSAGE] = (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
  now[CLOCK] = (double)clock() / CLOCKS_PER_SEC;
  now[TIMES] = (double)times(&ticks) / (double)sysconf(_SC_CLK_TCK);
}

int main(int argc, char **argv)
{
  int rank;
  struct timeval day;
  gettimeofday(&day, NULL);
  const double first = (double)day.tv_sec + 1e-6 * (double)day.tv_usec;
  const double before = work(0.05);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  double begin[CLOCKS], end[CLOCKS];
  read_all(begin);
  expect("gettimeofday across MPI_Init", begin[GETTIMEOFDAY] - first, before);
  const double spent = work(0.1);
  read_all(end);
  for (int clock = 0; clock < CLOCKS; clock++)
    expect(names[clock], end[clock] - begin[clock], spent);

  MPI_Barrier(MPI_COMM_WORLD);
  read_all(begin);
  const double mine = rank == 0 ? work(0.1) : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  read_all(end);
  expect("MPI_Wtime around a wait", end[WTIME] - begin[WTIME], rank == 0 ? mine : 0.1);
  expect("getrusage around a wait", end[RUSAGE] - begin[RUSAGE], mine);

  const double start = MPI_Wtime();
  double paced = 0;
  while (MPI_Wtime() - start < 0.05)
    paced += work(0.001);
  expect("a paced loop", paced, 0.05);
  for (const time_t now = time(NULL); time(NULL) < now + 1;)
    work(0.05);
  MPI_Finalize();
  return 0;
}
