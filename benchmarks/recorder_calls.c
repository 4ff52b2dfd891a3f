/* Makes a number of calls of one kind and says what CPU time one takes and how much memory the
 * process had at most: recorder_calls KIND CALLS. One rank, so that nobody is waited for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  if (argc != 3)
    MPI_Abort(MPI_COMM_WORLD, 2);
  const long calls = atol(argv[2]);
  double sent = 1, received = 0;
  const double start = cpu_seconds();
  if (strcmp(argv[1], "allreduce") == 0)
    for (long i = 0; i < calls; i++)
      MPI_Allreduce(&sent, &received, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  else if (strcmp(argv[1], "sendrecv") == 0)
    for (long i = 0; i < calls; i++)
      MPI_Sendrecv(&sent, 1, MPI_DOUBLE, 0, 1, &received, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF,
                   MPI_STATUS_IGNORE);
  else /* three calls: two requests and their completion */
    for (long i = 0; i + 2 < calls; i += 3) {
      MPI_Request requests[2];
      MPI_Irecv(&received, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[0]);
      MPI_Isend(&sent, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  const double seconds = cpu_seconds() - start;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%.3f %ld\n", 1e9 * seconds / (double)calls, usage.ru_maxrss);
  MPI_Finalize();
  return 0;
}
