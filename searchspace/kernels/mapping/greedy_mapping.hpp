// Placements that are built or improved rank by rank. Plain C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

/// The greedy heuristic of Hoefler and Snir ("Generic topology mapping strategies for large-scale
/// parallel architectures", ICS 2011): the rank with the most traffic goes to the first free place;
/// then, along the heaviest pair of a placed and another rank, that other one goes to the free place
/// closest to its partner. Returns the place of each rank. O(ranks x places).
std::vector<std::uint32_t> greedy_mapping(const TrafficView& traffic, const CoreHops& cores);

/// Exchanges the places of two ranks, or takes a rank to a free place, as long as hop-bytes fall: for
/// each rank in turn the best exchange, until a whole round finds none.
void descend_by_swaps(const TrafficView& traffic, const CoreHops& cores,
                      std::vector<std::uint32_t>& places);

/// Moves ranks out of hosts that have more than they hold, each time the rank and the free host that
/// cost the fewest hop-bytes between hosts.
void relieve_hosts(const TrafficView& traffic, const HostHops& hops,
                   const std::vector<std::size_t>& holds, std::vector<std::uint32_t>& host_of);

}  // namespace hamtune
