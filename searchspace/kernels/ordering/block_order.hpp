// Numberings whose blocks of consecutive nodes are close together. Plain C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

/// What `block_order` looks for.
struct BlockGoal {
  std::vector<std::size_t> sizes;  ///< block sizes that count, each dividing the next
  double adjacent_share;           ///< least share of consecutive numbers that share a cable, if it can be had
  std::uint64_t moves;             ///< moves of the annealing
  std::uint64_t seed;
};

/// Anneals a numbering by swaps, shifts and reversals so that the mean hops within blocks of each
/// size are small, summed over the sizes, while the consecutive numbers stay adjacent as often as
/// the goal says.
///
/// `distances` are the hops between the old ids, nodes x nodes; `start` is the first order.
/// Returns the best order met: first by breaks above the number allowed, then by the sum of means.
std::vector<Node> block_order(const Adjacency& adjacency,
                              const std::vector<std::uint16_t>& distances, std::vector<Node> start,
                              const BlockGoal& goal);

}  // namespace hamtune
