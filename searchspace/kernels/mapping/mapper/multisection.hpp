// Lattices cut along the axes of a box into parts of equal numbers. Plain C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/mapper/grid_embedding.hpp"
#include "searchspace/kernels/mapping/mapper/lattice.hpp"

namespace hamtune::mapper {

/// Multisection (as by coordinates in Deveci et al., "Exploiting geometric partitioning in task mapping
/// for parallel computers", 2014): the first axis of the box cuts the ranks, in the order of an axis of
/// the lattice, into as many parts as it has nodes, the second one cuts each part across another axis of
/// the lattice, and so on. Where extents do not divide each other, the planes have steps; no part has
/// more ranks than a node has cores.
///
/// Returns the core of each rank, numbered node by node, for every way to give each axis of the box an
/// axis of the lattice of its own; nothing when the box has more axes than the lattice.
std::vector<std::vector<std::uint32_t>> multisections(const Lattice& lattice, const Box& box);

}  // namespace hamtune::mapper
