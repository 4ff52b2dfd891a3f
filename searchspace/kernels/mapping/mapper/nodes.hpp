// Nodes of a machine as wholes: what their ranks exchange, and the hops between them. Plain C++17.
#pragma once

#include <cstddef>
#include <vector>

#include "searchspace/kernels/mapping/mapper/flows.hpp"
#include "searchspace/kernels/mapping/mapper/metrics.hpp"

namespace hamtune::mapper {

/// What all ranks on a node exchange with those on others: one rank a node, of which `count` have
/// `each` slots, numbered node by node.
Flows flows_between(const Flows& flows, const std::vector<Slot>& slots, std::size_t count,
                    std::size_t each);

/// Nodes that each have the same number of slots (several), numbered node by node; a swap of two
/// slots' ranks then has a counterpart, the swap of all ranks of two nodes.
template <typename Metric>
struct Nodes {
  static constexpr bool kKnown = false;
};

template <>
struct Nodes<GridMetric> {
  static constexpr bool kKnown = true;
  /// The slots of each node; 0 when they differ.
  static std::size_t each(const GridMetric& metric) { return metric.cores_each(); }
  /// Of one slot a node.
  GridMetric metric;
  explicit Nodes(const GridMetric& slots);
};

template <>
struct Nodes<TableMetric> {
  static constexpr bool kKnown = true;
  static std::size_t each(const TableMetric& metric) { return metric.slots_each(); }
  TableMetric metric;
  explicit Nodes(const TableMetric& slots);
};

template <typename Hosts>
struct Nodes<HierarchicalMetric<Hosts>> : Nodes<Hosts> {
  static std::size_t each(const HierarchicalMetric<Hosts>& metric) {
    return Nodes<Hosts>::each(metric.hosts());
  }
  explicit Nodes(const HierarchicalMetric<Hosts>& slots) : Nodes<Hosts>(slots.hosts()) {}
};

}  // namespace hamtune::mapper
