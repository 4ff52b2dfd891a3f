// TreeMatch: grouping ranks from the leaves of a tree upwards. Plain C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

/// How groups that share no rank are picked from all that are possible (Jeannot and Mercier 2010,
/// section 4); a group's value is the traffic that leaves it.
enum class GroupChoice {
  kSmallestFirst,  ///< in increasing value
  kLargestLast,    ///< so that the last one picked has the least value; several beginnings are tried
  kDegreeFirst,  ///< in decreasing mean value of the groups that each rules out, over its own
};

/// Places ranks on the leaves of a balanced tree by algorithm 1 of Jeannot and Mercier ("Near-optimal
/// placement of MPI processes on hierarchical NUMA architectures", Euro-Par 2010).
///
/// `arity` goes from the root to the leaves. Where a level has more than `most_groups` possible
/// groups and `split` holds, it is treated as several levels of the prime factors of its arity; what
/// is still too much is chosen among groups that are grown from each rank by heaviest traffic.
/// Returns the leaf of each rank.
std::vector<std::uint32_t> tree_match(const TrafficView& traffic,
                                      const std::vector<std::uint32_t>& arity, GroupChoice choice,
                                      bool split, std::uint64_t most_groups);

}  // namespace hamtune
