/* Sends a column of a matrix, and two elements, by persistent requests whose types are freed at once. */
#include <mpi.h>
#include <stdio.h>

enum { ROWS = 5, COLUMNS = 7, TIMES = 3 };

int main(int argc, char **argv)
{
  int matrix[ROWS][COLUMNS], got[ROWS], rank, wrong = 0;
  MPI_Datatype column, pair;
  MPI_Request request[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Type_indexed(2, (int[]){1, 1}, (int[]){0, COLUMNS + 1}, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int at = 0; at < ROWS * COLUMNS; at++)
    matrix[at / COLUMNS][at % COLUMNS] = at;
  if (rank == 0) {
    MPI_Send_init(&matrix[0][2], 1, column, 1, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Send_init(matrix, 1, pair, 1, 1, MPI_COMM_WORLD, &request[1]);
  } else {
    MPI_Recv_init(got, ROWS, MPI_INT, 0, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(matrix[0], 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &request[1]);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&pair);
  for (int time = 0; time < TIMES; time++) {
    MPI_Startall(2, request);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int row = 0; rank == 1 && row < ROWS; row++)
      wrong += got[row] != row * COLUMNS + 2;
    wrong += rank == 1 && (matrix[0][0] != 0 || matrix[0][1] != COLUMNS + 1);
  }
  MPI_Request_free(&request[0]);
  MPI_Request_free(&request[1]);
  if (wrong)
    fprintf(stderr, "%d wrong\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
