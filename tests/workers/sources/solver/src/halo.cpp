#include "grid.hpp"

void exchange(const Grid& grid, Vector& values) {
  const int plane = grid.plane();
  double* const first = values.data();
  double* const last = first + plane + grid.size();
  const int below = grid.rank > 0 ? grid.rank - 1 : MPI_PROC_NULL;
  const int above = grid.rank + 1 < grid.ranks ? grid.rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[4];
  MPI_Irecv(first, plane, MPI_DOUBLE, below, 1, grid.comm, &requests[0]);
  MPI_Irecv(last, plane, MPI_DOUBLE, above, 2, grid.comm, &requests[1]);
  MPI_Isend(first + plane, plane, MPI_DOUBLE, below, 2, grid.comm, &requests[2]);
  MPI_Isend(last - plane, plane, MPI_DOUBLE, above, 1, grid.comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}
