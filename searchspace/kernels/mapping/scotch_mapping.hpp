// Mapping by Scotch. Plain C++17 over libscotch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"
#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

/// A target of Scotch: one of its own architectures, or any network.
struct ScotchTarget {
  enum class Kind { kTree, kTorus, kMesh, kNetwork };

  Kind kind;
  std::vector<std::int32_t> extents;  ///< arity from the root to the leaves, or sides of a grid
  const Adjacency* network;           ///< where the kind is kNetwork
  std::vector<std::size_t> holds;     ///< ranks that each of its first nodes takes; 0 for none
};

/// Maps by dual recursive bipartitioning (Pellegrini, SHPCC 1994), as libscotch does by default or
/// with a strategy of its flags (SCOTCH_STRATQUALITY, ...). Returns the target of each rank; now and
/// then one gets more ranks than it takes. Throws std::runtime_error when Scotch fails.
std::vector<std::uint32_t> scotch_mapping(const TrafficView& traffic, const ScotchTarget& target,
                                          std::int32_t strategy, std::int32_t seed);

}  // namespace hamtune
