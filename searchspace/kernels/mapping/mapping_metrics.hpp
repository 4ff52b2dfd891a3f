// How good a placement is. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"
#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

/// Bytes by how many hops they go: entry h is what pairs of ranks h hops apart exchange. Its last
/// entry is that of the longest distance of a pair that communicates.
std::vector<std::int64_t> bytes_by_hops(const TrafficView& traffic, const CoreHops& hops,
                                        const std::vector<std::uint32_t>& placed);

/// Bytes over each edge of a network, both ways together, when every message between the hosts s < t
/// takes the path in the breadth-first tree from s that visits neighbours in increasing id (the
/// routes of tie rule lowest-id). `host` is that of each rank; the first `hosts` nodes are hosts and,
/// where there are other nodes, do not forward.
std::vector<std::int64_t> edge_loads(const TrafficView& traffic, const std::vector<Node>& host,
                                     const Adjacency& network, std::size_t hosts,
                                     std::size_t edges);

}  // namespace hamtune
