// Orbits of edges as Python passes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/network/rotation_graph.hpp"

namespace hamtune {

/// An array of rows (i, j, turn).
using OrbitArray = nanobind::ndarray<const std::uint32_t, nanobind::shape<-1, 3>,
                                     nanobind::c_contig, nanobind::device::cpu>;

inline std::vector<Orbit> to_orbits(const OrbitArray& array) {
  const auto view = array.view();
  std::vector<Orbit> orbits;
  for (std::size_t row = 0; row < view.shape(0); ++row)
    orbits.push_back({view(row, 0), view(row, 1), view(row, 2)});
  return orbits;
}

inline nanobind::ndarray<nanobind::numpy, std::uint32_t> from_orbits(
    const std::vector<Orbit>& orbits) {
  std::vector<std::uint32_t> values;
  for (const Orbit& orbit : orbits)
    values.insert(values.end(), {orbit.i, orbit.j, orbit.turn});
  return to_numpy(std::move(values), {orbits.size(), 3});
}

}  // namespace hamtune
