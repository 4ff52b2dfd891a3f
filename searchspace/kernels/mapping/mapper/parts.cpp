#include "searchspace/kernels/mapping/mapper/parts.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace hamtune::mapper {
namespace {

/// Beyond so many classes it costs more to move a rank than is saved where none moves.
constexpr std::size_t kMostClasses = 300;
/// Of a tree's levels, a move costs the same whatever the number of nodes: only memory limits them.
constexpr std::size_t kMostNodes = 4096;

/// One table of the hops between the lowest nodes of a tree, where they are few.
std::optional<Parts> between_groups(const TreeMetric& metric, const TreeMetric::Group& lowest) {
  Parts found;
  Parts::Part part;
  part.classes = found.width = 1 + *std::max_element(lowest.of.begin(), lowest.of.end());
  if (part.classes > kMostClasses) return std::nullopt;
  std::vector<std::uint32_t> code(part.classes);  // of a slot below each node
  for (Slot slot = 0; slot < metric.slots(); ++slot) {
    code[lowest.of[slot]] = metric.code(slot);
    found.places.push_back(static_cast<std::uint16_t>(lowest.of[slot]));
  }
  for (std::size_t one = 0; one < part.classes; ++one)
    for (std::size_t other = 0; other < part.classes; ++other)
      part.hops.push_back(one == other ? lowest.hops : metric.hops(code[one], code[other]));
  found.parts.push_back(std::move(part));
  return found;
}

}  // namespace

std::optional<Parts> parts_of(const TreeMetric& metric) {
  const std::vector<TreeMetric::Group> groups = metric.groups();
  if (std::optional<Parts> table = between_groups(metric, groups.front())) return table;
  // From the diameter, each level that two slots have in common takes its share off.
  Parts found;
  int below = metric.diameter();
  const std::size_t slots = metric.slots();
  std::vector<std::vector<std::uint16_t>> places;
  for (std::size_t level = groups.size(); level-- > 0;) {
    const TreeMetric::Group& group = groups[level];
    if (group.hops >= below) continue;
    const std::size_t classes = 1 + *std::max_element(group.of.begin(), group.of.end());
    if (found.width + classes > kMostNodes) return std::nullopt;
    Parts::Part part;
    part.offset = found.width;
    part.classes = classes;
    part.same = group.hops - below;
    places.emplace_back();
    for (Slot slot = 0; slot < slots; ++slot)
      places.back().push_back(static_cast<std::uint16_t>(found.width + group.of[slot]));
    below = group.hops;
    found.width += classes;
    found.parts.push_back(std::move(part));
  }
  for (Slot slot = 0; slot < slots; ++slot)
    for (const auto& level : places) found.places.push_back(level[slot]);
  return found;
}

std::optional<Parts> parts_of(const GridMetric& metric) {
  if (metric.climb() > 0) return std::nullopt;
  std::size_t width = 0;
  for (const std::int32_t extent : metric.extents()) width += static_cast<std::size_t>(extent);
  if (width > kMostClasses) return std::nullopt;  // before tables of the square of an extent
  Parts found;
  const std::size_t axes = metric.extents().size();
  for (const std::int32_t extent : metric.extents()) {
    Parts::Part part;
    part.offset = found.width;
    part.classes = static_cast<std::size_t>(extent);
    for (std::int32_t one = 0; one < extent; ++one)
      for (std::int32_t other = 0; other < extent; ++other) {
        const std::int32_t straight = std::abs(one - other);
        part.hops.push_back(metric.wrapped() ? std::min(straight, extent - straight) : straight);
      }
    found.width += part.classes;
    found.parts.push_back(std::move(part));
  }
  for (Slot slot = 0; slot < metric.slots(); ++slot)
    for (std::size_t axis = 0; axis < axes; ++axis)
      found.places.push_back(static_cast<std::uint16_t>(
          found.parts[axis].offset + static_cast<std::size_t>(metric.coordinate(slot, axis))));
  return found;
}

std::optional<Parts> parts_of(const TableMetric& metric) {
  if (metric.classes() > kMostClasses) return std::nullopt;
  Parts found;
  Parts::Part part;
  part.classes = found.width = metric.classes();
  for (std::uint32_t one = 0; one < part.classes; ++one)
    for (std::uint32_t other = 0; other < part.classes; ++other)
      part.hops.push_back(metric.hops(one, other));
  found.parts.push_back(std::move(part));
  for (Slot slot = 0; slot < metric.slots(); ++slot)
    found.places.push_back(static_cast<std::uint16_t>(metric.code(slot)));
  return found;
}

}  // namespace hamtune::mapper
