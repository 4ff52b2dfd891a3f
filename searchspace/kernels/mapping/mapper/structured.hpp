// Mappings of stencils and rings made from their structure and the machine's. Plain C++17.
#pragma once

#include <optional>
#include <vector>

#include "searchspace/kernels/mapping/mapper/flows.hpp"
#include "searchspace/kernels/mapping/mapper/lattice.hpp"
#include "searchspace/kernels/mapping/mapper/metrics.hpp"

namespace hamtune::mapper {

/// The lattice that the traffic is, or that its heavier flows are; nothing when there is none.
std::optional<Lattice> find_lattice(const Flows& flows);

/// The slot of each rank when the lattice suits the machine, else nothing.
std::optional<std::vector<Slot>> place_lattice(const Lattice& lattice, const TreeMetric& metric);
std::optional<std::vector<Slot>> place_lattice(const Lattice& lattice, const GridMetric& metric);
std::optional<std::vector<Slot>> place_lattice(const Lattice& lattice, const TableMetric& metric);

/// Other placements of the lattice, where it does not fit without gaps or turns; often none.
std::vector<std::vector<Slot>> cut_lattice(const Lattice& lattice, const GridMetric& metric);

template <typename Metric>
std::vector<std::vector<Slot>> cut_lattice(const Lattice&, const Metric&) {
  return {};
}

template <typename Hosts>
std::optional<std::vector<Slot>> place_lattice(const Lattice& lattice,
                                               const HierarchicalMetric<Hosts>& metric) {
  return place_lattice(lattice, metric.hosts());
}

template <typename Hosts>
std::vector<std::vector<Slot>> cut_lattice(const Lattice& lattice, const HierarchicalMetric<Hosts>& metric) {
  return cut_lattice(lattice, metric.hosts());
}

}  // namespace hamtune::mapper
