// A box of a three-dimensional grid that ranks share along its first axis.
#pragma once

#include <mpi.h>

#include <vector>

struct Grid {
  int points;  // along each axis, of one rank's box
  int rank, ranks;
  MPI_Comm comm;

  int plane() const { return points * points; }
  int size() const { return points * plane(); }
};

using Vector = std::vector<double>;  // a box with a plane of its neighbours on both sides

void exchange(const Grid& grid, Vector& values);
void apply(const Grid& grid, Vector& values, Vector& result);
double dot(const Grid& grid, const Vector& left, const Vector& right);
