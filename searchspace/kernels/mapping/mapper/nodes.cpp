#include "searchspace/kernels/mapping/mapper/nodes.hpp"

#include <cstdint>
#include <limits>
#include <numeric>

namespace hamtune::mapper {
namespace {

constexpr Rank kNone = std::numeric_limits<Rank>::max();
constexpr std::size_t kNear = 12;  ///< close nodes listed for each

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> found(count);
  std::iota(found.begin(), found.end(), 0U);
  return found;
}

}  // namespace

Flows flows_between(const Flows& flows, const std::vector<Slot>& slots, std::size_t count,
                    std::size_t each) {
  std::vector<Rank> at(count * each, kNone);
  for (Rank rank = 0; rank < slots.size(); ++rank) at[slots[rank]] = rank;
  std::vector<std::int64_t> first{0}, weight, place(count, -1);
  std::vector<std::uint32_t> partner;
  for (std::size_t node = 0; node < count; ++node) {
    for (std::size_t slot = node * each; slot < (node + 1) * each; ++slot) {
      if (at[slot] == kNone) continue;
      for (const Arc* arc = flows.begin(at[slot]); arc != flows.end(at[slot]); ++arc) {
        const std::size_t to = slots[arc->to] / each;
        if (to == node) continue;
        if (place[to] < first.back()) {
          place[to] = static_cast<std::int64_t>(partner.size());
          partner.push_back(static_cast<std::uint32_t>(to));
          weight.push_back(0);
        }
        weight[static_cast<std::size_t>(place[to])] += arc->weight;
      }
    }
    first.push_back(static_cast<std::int64_t>(partner.size()));
  }
  return {first.data(), count, partner.data(), weight.data()};
}

Nodes<GridMetric>::Nodes(const GridMetric& slots)
    : metric(numbers(slots.slots() / slots.cores_each()), slots.extents(), slots.wrapped(),
             slots.climb(), kNear) {}

Nodes<TableMetric>::Nodes(const TableMetric& slots)
    : metric(numbers(slots.classes()), slots.classes(), slots.table(), kNear) {}

}  // namespace hamtune::mapper
