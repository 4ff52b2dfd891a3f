// Mapping between hosts, then within each. Plain C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/topology_tree.hpp"
#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

/// Places ranks on the cores of a machine along a tree of its hosts (Wu, Xiong and Lan 2015, section
/// 3): ranks are partitioned into groups, one a host; the groups go along the tree to hosts; and with
/// `within`, the ranks of a host along the tree inside it to its cores, else in increasing order.
///
/// `inside` is the arity of that tree. Where hosts hold different numbers of cores, ranks go along
/// the tree singly. Returns the place of each rank.
std::vector<std::uint32_t> map_hierarchically(const TrafficView& traffic, const CoreHops& cores,
                                              const TopologyTree& hosts,
                                              const std::vector<std::uint32_t>& inside, bool within,
                                              std::int32_t seed);

/// Turns the host of each rank into a place: within a host along the tree inside it, or in increasing
/// order. No host has more ranks than places.
std::vector<std::uint32_t> settle_within(const TrafficView& traffic, const CoreHops& cores,
                                         const std::vector<std::uint32_t>& host_of,
                                         const std::vector<std::uint32_t>& inside, bool within,
                                         std::int32_t seed);

/// How many places each host has.
std::vector<std::size_t> places_of_hosts(const CoreHops& cores);

}  // namespace hamtune
