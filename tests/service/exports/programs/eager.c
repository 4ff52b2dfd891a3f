/* eager BYTES...: for each size, whether a message leaves its sender before anybody wants it.
 *
 * Rank 1 takes a note first and the message behind it; rank 0 sends the note when the message has
 * left, or after many looks at it. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOKS = 2000, MESSAGE = 1, NOTE = 2 };
static const struct timespec PAUSE = {0, 100000};

static int leaves(char *bytes, int size)
{
  MPI_Request request;
  int done = 0;
  MPI_Isend(bytes, size, MPI_CHAR, 1, MESSAGE, MPI_COMM_WORLD, &request);
  for (int look = 0; look < LOOKS && !done; look++) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done)
      nanosleep(&PAUSE, NULL);
  }
  MPI_Send(NULL, 0, MPI_CHAR, 1, NOTE, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return done;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; i++) {
    int size = atoi(argv[i]);
    char *bytes = calloc((size_t)size, 1);
    if (rank == 0)
      printf("message of %d bytes %s\n", size, leaves(bytes, size) ? "leaves" : "waits");
    if (rank == 1) {
      MPI_Recv(NULL, 0, MPI_CHAR, 0, NOTE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(bytes, size, MPI_CHAR, 0, MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
