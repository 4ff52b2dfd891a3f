// Candidate slots for the partners of whoever is at a slot. Plain C++17.
#pragma once

#include <cstddef>
#include <vector>

#include "searchspace/kernels/mapping/mapper/metrics.hpp"

namespace hamtune::mapper {

/// For each slot, `count` of the closest to it, closest first; of those that are equally far, any.
/// Some come several times where there are fewer.
std::vector<Slot> close_slots(const TreeMetric& metric, std::size_t count);
std::vector<Slot> close_slots(const GridMetric& metric, std::size_t count);
std::vector<Slot> close_slots(const TableMetric& metric, std::size_t count);

template <typename Hosts>
std::vector<Slot> close_slots(const HierarchicalMetric<Hosts>& metric, std::size_t count) {
  return close_slots(metric.hosts(), count);
}

}  // namespace hamtune::mapper
