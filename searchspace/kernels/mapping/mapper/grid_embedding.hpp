// Lattices embedded in grids, and cut into blocks for trees. Plain C++17.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "searchspace/kernels/mapping/mapper/lattice.hpp"

namespace hamtune::mapper {

/// The machine as a box of nodes, row by row, each with as many cores.
struct Box {
  std::vector<std::int32_t> extents;
  bool wrapped;
  std::int32_t cores = 1;  ///< of a node; between them there are no hops
  std::int32_t climb = 0;  ///< hops between different nodes beside those along the axes
};

/// Embeds a lattice in a mesh or torus, the box: each of its axes becomes a mixed-radix number in reflected
/// (Gray) order, whose digits run along axes of the box, or along the cores of its nodes, up and down by
/// turns, so that most steps along it are one hop at most (dilation 1). All ways to split the axes into
/// digits are priced exactly (up to a limit), the cheapest is taken, and of those that cost the same the one
/// whose busiest cable carries least; a single ring becomes a closed tour. Returns the core of each rank,
/// numbered node by node; nothing when the lattice does not fit without gaps.
std::optional<std::vector<std::uint32_t>> embed_in_grid(const Lattice& lattice, const Box& box);

/// Cuts a lattice into blocks for the subtrees of a tree, and these into blocks for theirs: at each
/// level the way with the least weight between blocks, weighted by hops, over all levels (exact
/// over all even cuts). `arity` from the root, `hops` between leaves that part at each level.
/// Returns the leaf of each rank; nothing when the blocks do not fit.
std::optional<std::vector<std::uint32_t>> cut_for_tree(const Lattice& lattice,
                                                       const std::vector<std::uint32_t>& arity,
                                                       const std::vector<int>& hops);

}  // namespace hamtune::mapper
