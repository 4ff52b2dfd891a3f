// What a lattice must cost at least, wherever its ranks go. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/mapper/flows.hpp"
#include "searchspace/kernels/mapping/mapper/lattice.hpp"
#include "searchspace/kernels/mapping/mapper/metrics.hpp"

namespace hamtune::mapper {

/// Slots in units of one size, nested: those of a node, of a subtree.
struct Shell {
  std::size_t slots;  ///< of a unit
  int more;           ///< hops that a flow which leaves its unit takes at least, beside those within
};

/// From the smallest units up; a unit of one slot where hops begin there.
std::vector<Shell> shells(const TreeMetric& metric);
std::vector<Shell> shells(const GridMetric& metric);
std::vector<Shell> shells(const TableMetric& metric);

template <typename Hosts>
std::vector<Shell> shells(const HierarchicalMetric<Hosts>& metric) {
  return shells(metric.hosts());
}

/// The cost, in units of the flows, below which no mapping of a traffic goes whose flows, or some of
/// them, are that lattice; 0 where nothing is known.
///
/// A set of n points whose projections along the axes have p_1, ..., p_d points has at most
/// n - p_a neighbours along axis a (one more for each line that is full and closed), and
/// p_1 ... p_d >= n^(d-1) (Loomis and Whitney 1949): so much stays within a unit, and the rest leaves.
std::int64_t least_cost(const Lattice& lattice, const Flows& flows, std::size_t slots,
                        const std::vector<Shell>& shells);

}  // namespace hamtune::mapper
