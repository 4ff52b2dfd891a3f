// Annealing of a placement of ranks on hosts by swaps. Plain C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

/// What two ranks exchange.
struct Flow {
  Node from;
  Node to;
  std::int64_t weight;
};

/// What `anneal_swaps` works on.
struct PlacementProblem {
  std::size_t ranks;
  std::vector<Flow> flows;         ///< each pair once
  const Adjacency& network;        ///< its nodes are the hosts
  std::vector<std::uint16_t> price;  ///< of one unit between two hosts, hosts x hosts, symmetric
};

struct Placement {
  std::vector<Node> hosts;  ///< of each rank, all distinct
  std::int64_t cost;        ///< sum over the flows of weight x price
};

/// Lowers the sum over all flows of weight x price, one rank a host.
///
/// A move takes a rank to a host beside that of a rank it exchanges with (now and then to any host);
/// who is there changes places with it. The temperature falls from the mean weight of a rank's flows
/// to a hundredth of it over `moves` moves; a cost of 0 ends the search. Returns the best placement.
Placement anneal_swaps(const PlacementProblem& problem, std::vector<Node> start,
                       std::uint64_t moves, std::uint64_t seed);

}  // namespace hamtune
