/* Asks for a level of threads, and lets a second thread call MPI where it is told to. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *call(void *name)
{
  int rank, data = 0;
  if (strcmp(name, "MPI_Comm_rank") == 0)
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(name, "MPI_Bcast") == 0)
    MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char **argv)
{
  const int asked = atoi(argv[1]);
  int provided = -1, queried = -1, mine = 0;
  MPI_Init_thread(&argc, &argv, asked, &provided);
  MPI_Query_thread(&queried);
  MPI_Is_thread_main(&mine);
  if (provided != asked || queried != asked || !mine)
    return 3;
  if (argc > 2) {
    pthread_t thread;
    pthread_create(&thread, NULL, call, argv[2]);
    pthread_join(thread, NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
