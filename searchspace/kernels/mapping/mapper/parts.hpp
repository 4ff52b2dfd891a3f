// Hops as a sum of parts, each a function of the classes of two slots. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "searchspace/kernels/mapping/mapper/metrics.hpp"

namespace hamtune::mapper {

/// Hops between different slots are `constant` + the sum over parts of what the classes of both
/// slots there give: one part an axis in a grid, a level in a tree; one only from a table.
struct Parts {
  struct Part {
    std::size_t offset = 0;   ///< of its classes among those of all parts
    std::size_t classes = 0;
    std::int32_t same = 0;    ///< where `hops` is empty: what equal classes give; others give 0
    std::vector<std::int32_t> hops;  ///< classes x classes
    std::int32_t at(std::size_t one, std::size_t other) const {
      return hops.empty() ? (one == other ? same : 0) : hops[one * classes + other];
    }
  };
  std::vector<Part> parts;
  std::vector<std::uint16_t> places;  ///< slots x parts: the class, counted over all parts
  std::size_t width = 0;              ///< classes of all parts together

  const std::uint16_t* of(Slot slot) const { return places.data() + slot * parts.size(); }
};

/// Nothing where the hops are no such sum, or of too many classes to be worth it.
std::optional<Parts> parts_of(const TreeMetric& metric);
std::optional<Parts> parts_of(const GridMetric& metric);
std::optional<Parts> parts_of(const TableMetric& metric);

template <typename Hosts>
std::optional<Parts> parts_of(const HierarchicalMetric<Hosts>&) {
  return std::nullopt;
}

}  // namespace hamtune::mapper
