// Partitions of a communication graph into parts of exact sizes. Plain C++17 over METIS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

/// A graph with weights on its edges, as compressed sparse rows; each edge stands in both rows.
struct WeightedGraph {
  std::vector<std::size_t> first{0};
  std::vector<std::uint32_t> target;
  std::vector<std::int64_t> weight;

  std::size_t nodes() const { return first.size() - 1; }
};

/// The traffic as a graph, with nodes that exchange nothing after the ranks up to `nodes`.
WeightedGraph padded_graph(const TrafficView& traffic, std::size_t nodes);

/// The subgraph of some nodes; `number` is a scratch array of as many entries as the graph has nodes.
WeightedGraph induced(const WeightedGraph& graph, const std::vector<std::uint32_t>& nodes,
                      std::vector<std::uint32_t>& number);

/// The graph whose nodes are the parts, with the weight between each two.
WeightedGraph contracted(const WeightedGraph& graph, const std::vector<std::uint32_t>& part,
                         std::size_t parts);

/// Splits the nodes into parts of exactly the sizes given (which add up to the nodes) so that little
/// weight is cut: METIS (Karypis and Kumar 1998), corrected as Wu, Xiong and Lan (2015, section 4) do
/// by moving, from parts that are too large to those too small, the node that costs least. Throws
/// std::runtime_error when METIS fails.
std::vector<std::uint32_t> partition(const WeightedGraph& graph,
                                     const std::vector<std::size_t>& sizes, std::int32_t seed);

/// Splits the nodes into two sides of about equal weight of nodes. As partition, uncorrected.
std::vector<std::uint32_t> bisect_weighted(const WeightedGraph& graph,
                                           const std::vector<std::int32_t>& node_weight,
                                           std::int32_t seed);

}  // namespace hamtune
