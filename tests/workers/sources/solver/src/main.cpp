// Conjugate gradients in the build shape of a C++ benchmark: several files, a file of parameters,
// and a coarse level that every other rank smooths on a communicator of its own.
#include <cmath>
#include <fstream>
#include <iostream>

#include "grid.hpp"

// The level of half the points and half the ranks; no communicator on the ranks that sit out.
static Grid coarsened(const Grid& grid) {
  Grid coarse{grid.points / 2, 0, 0, MPI_COMM_NULL};
  const int color = grid.rank % 2 == 0 ? 0 : MPI_UNDEFINED;
  MPI_Comm_split(grid.comm, color, grid.rank, &coarse.comm);
  if (coarse.comm != MPI_COMM_NULL) {
    MPI_Comm_rank(coarse.comm, &coarse.rank);
    MPI_Comm_size(coarse.comm, &coarse.ranks);
  }
  return coarse;
}

static void smooth(const Grid& coarse, Vector& values, Vector& residual) {
  apply(coarse, values, residual);
  const double size = std::sqrt(dot(coarse, residual, residual)) + 1;
  for (double& value : values) value /= size;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Grid grid{0, 0, 0, MPI_COMM_WORLD};
  MPI_Comm_rank(grid.comm, &grid.rank);
  MPI_Comm_size(grid.comm, &grid.ranks);
  int parameters[2] = {0, 0};
  if (grid.rank == 0) std::ifstream(argv[1]) >> parameters[0] >> parameters[1];
  MPI_Bcast(parameters, 2, MPI_INT, 0, grid.comm);
  if (parameters[0] < 1) MPI_Abort(grid.comm, 3);
  grid.points = parameters[0];

  const std::size_t room = static_cast<std::size_t>(grid.size() + 2 * grid.plane());
  Vector x(room), r(room), q(room);
  for (int at = grid.plane(); at < grid.plane() + grid.size(); ++at) r[at] = 1;
  Vector p = r;
  Grid coarse = coarsened(grid);
  const std::size_t less = static_cast<std::size_t>(coarse.size() + 2 * coarse.plane());
  Vector y(less, 1.0), s(less);
  double rho = dot(grid, r, r);
  for (int iteration = 0; iteration < parameters[1]; ++iteration) {
    if (coarse.comm != MPI_COMM_NULL) smooth(coarse, y, s);
    apply(grid, p, q);
    const double alpha = rho / dot(grid, p, q);
    for (int at = grid.plane(); at < grid.plane() + grid.size(); ++at) {
      x[at] += alpha * p[at];
      r[at] -= alpha * q[at];
    }
    const double next = dot(grid, r, r);
    for (std::size_t at = 0; at < room; ++at) p[at] = r[at] + next / rho * p[at];
    rho = next;
  }
  if (grid.rank == 0) std::cout << "residual " << std::sqrt(rho) << std::endl;
  if (coarse.comm != MPI_COMM_NULL) MPI_Comm_free(&coarse.comm);
  MPI_Finalize();
}
