#include "grid.hpp"

void apply(const Grid& grid, Vector& values, Vector& result) {
  exchange(grid, values);
  const int plane = grid.plane();
  for (int at = plane; at < plane + grid.size(); ++at)
    result[at] = 2.5 * values[at] - values[at - plane] - values[at + plane];
}

double dot(const Grid& grid, const Vector& left, const Vector& right) {
  double sum = 0, whole = 0;
  for (int at = grid.plane(); at < grid.plane() + grid.size(); ++at) sum += left[at] * right[at];
  MPI_Allreduce(&sum, &whole, 1, MPI_DOUBLE, MPI_SUM, grid.comm);
  return whole;
}
