/* Declares functions of the system by itself, as old programs do, and calls them. */
#include <mpi.h>
#include <stdio.h>
#include <sys/time.h>
extern int getopt(int argc, char *const argv[], const char *options);
extern char *optarg;
extern int optind;
unsigned int sleep(unsigned int seconds);
int usleep(useconds_t microseconds);
int gettimeofday();
struct timer { int sleep; };
int main(int argc, char **argv)
{
  int option, n = 0;
  struct timeval now;
  struct timer timer = {.sleep = 1};
  MPI_Init(&argc, &argv);
  while ((option = getopt(argc, argv, "n:")) != -1)
    sscanf(optarg, "%d", &n);
  sleep(timer.sleep);
  gettimeofday(&now, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return n == 7 && optind == 3 && now.tv_sec >= 1 ? 0 : 3;
}
