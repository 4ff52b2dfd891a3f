#include "searchspace/kernels/mapping/mapper/candidates.hpp"

#include <algorithm>
#include <cstdint>

#include "searchspace/kernels/graph/random.hpp"

namespace hamtune::mapper {
namespace {

/// The closest slots among those that `pool_of` lists for each slot.
template <typename Metric, typename PoolOf>
std::vector<Slot> closest_of(const Metric& metric, std::size_t count, const PoolOf& pool_of) {
  struct Candidate {
    int hops;
    std::uint32_t chance;
    Slot slot;
  };
  Random random(1);
  std::vector<Slot> found;
  std::vector<Candidate> sorted;
  for (Slot slot = 0; slot < metric.slots(); ++slot) {
    sorted.clear();
    std::vector<Slot> pool = pool_of(slot);
    std::sort(pool.begin(), pool.end());
    pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
    for (const Slot other : pool) {
      if (other == slot) continue;
      const auto chance = static_cast<std::uint32_t>(random.next() >> 32U);
      sorted.push_back({metric.hops(metric.code(slot), metric.code(other)), chance, other});
    }
    if (sorted.empty()) sorted.push_back({0, 0, slot});
    const std::size_t kept = std::min(count, sorted.size());
    std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept),
                      sorted.end(), [](const Candidate& a, const Candidate& b) {
                        return a.hops != b.hops ? a.hops < b.hops : a.chance < b.chance;
                      });
    for (std::size_t at = 0; at < count; ++at) found.push_back(sorted[at % kept].slot);
  }
  return found;
}

/// The slots near a slot, and those near these.
struct NearOfNear {
  const NearLists& near;
  std::vector<Slot> operator()(Slot slot) const {
    std::vector<Slot> pool;
    for (const Slot* one = near.begin(slot); one != near.end(slot); ++one) {
      pool.push_back(*one);
      pool.insert(pool.end(), near.begin(*one), near.end(*one));
    }
    return pool;
  }
};

}  // namespace

std::vector<Slot> close_slots(const TreeMetric& metric, std::size_t count) {
  // Whoever is close stands close by in the order of the leaves.
  const std::vector<Slot>& sorted = metric.sorted();
  const std::size_t slots = sorted.size(), reach = std::min(4 * count, slots);
  std::vector<std::size_t> at(slots);
  for (std::size_t place = 0; place < slots; ++place) at[sorted[place]] = place;
  return closest_of(metric, count, [&](Slot slot) {
    const std::size_t begin = std::min(at[slot] - std::min(at[slot], reach / 2), slots - reach);
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::vector<Slot>(first, first + static_cast<std::ptrdiff_t>(reach));
  });
}

std::vector<Slot> close_slots(const GridMetric& metric, std::size_t count) {
  return closest_of(metric, count, NearOfNear{metric.near_lists()});
}

std::vector<Slot> close_slots(const TableMetric& metric, std::size_t count) {
  return closest_of(metric, count, NearOfNear{metric.near_lists()});
}

}  // namespace hamtune::mapper
