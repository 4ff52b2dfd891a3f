// Recursive bisection of ranks and network together. Plain C++17 over METIS.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"
#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

/// The recursive heuristic of Hoefler and Snir ("Generic topology mapping strategies for large-scale
/// parallel architectures", ICS 2011): cuts the network in two of about as many places, the ranks in
/// two that fit, and goes on in each half until one host is left. `holds` says how many places the
/// hosts, the first nodes of the network, have; `widths` how many cables each edge stands for.
/// Returns the host of each rank.
std::vector<std::uint32_t> bisect_both(const TrafficView& traffic, const Adjacency& network,
                                       const std::vector<std::int64_t>& widths,
                                       const std::vector<std::size_t>& holds, std::int32_t seed);

}  // namespace hamtune
