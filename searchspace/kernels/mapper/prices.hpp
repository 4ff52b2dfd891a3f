// What every rank would cost everywhere, kept up to date: changes are read off. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "searchspace/kernels/mapper/flows.hpp"
#include "searchspace/kernels/mapper/parts.hpp"

namespace hamtune::mapper {

/// For each rank and each class of the parts, what the rank's flows cost there while their other
/// ends stay where they are (less a constant). A proposal costs a few look-ups whatever the degree,
/// a move a row for each partner: worth it where most proposals are turned down.
class Prices {
 public:
  /// Whether prices are far from the limits of 32 bits.
  static bool hold(const Flows& flows, int diameter) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 8;
    for (Rank rank = 0; rank < flows.ranks(); ++rank) {
      std::int64_t sum = 0;
      for (const Arc* arc = flows.begin(rank); arc != flows.end(rank); ++arc) sum += arc->weight;
      if (sum * diameter > kMost) return false;
    }
    return true;
  }

  Prices(const Flows& flows, Parts parts)
      : flows_(flows),
        parts_(std::move(parts)),
        count_(parts_.parts.size()),
        width_((parts_.width + kLanes - 1) / kLanes * kLanes) {}

  void reset(const std::vector<Slot>& slots) {
    rows_.assign(flows_.ranks() * width_, 0);
    for (Rank rank = 0; rank < flows_.ranks(); ++rank) {
      std::int32_t* row = rows_.data() + rank * width_;
      for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
        const std::uint16_t* there = parts_.of(slots[arc->to]);
        const auto weight = static_cast<std::int32_t>(arc->weight);
        for (std::size_t at = 0; at < count_; ++at) {
          const Parts::Part& part = parts_.parts[at];
          const std::size_t mine = there[at] - part.offset;
          if (part.hops.empty()) row[there[at]] += weight * part.same;
          for (std::size_t one = 0; !part.hops.empty() && one < part.classes; ++one)
            row[part.offset + one] += weight * part.at(mine, one);
        }
      }
    }
  }

  /// Whether it makes no difference who is at which of the two.
  bool alike(Slot one, Slot other) const {
    const std::uint16_t* a = parts_.of(one);
    const std::uint16_t* b = parts_.of(other);
    for (std::size_t at = 0; at < count_; ++at)
      if (a[at] != b[at]) return false;
    return true;
  }

  /// How the cost changes when a rank goes from one slot to another and `other`, unless it is
  /// `nobody`, takes its place; as if the two exchanged nothing.
  std::int32_t change(Rank rank, Rank other, Rank nobody, Slot from, Slot to) const {
    const std::uint16_t* left = parts_.of(from);
    const std::uint16_t* there = parts_.of(to);
    const std::int32_t* row = rows_.data() + rank * width_;
    std::int32_t change = 0;
    if (other == nobody) {
      for (std::size_t at = 0; at < count_; ++at) change += row[there[at]] - row[left[at]];
      return change;
    }
    const std::int32_t* its = rows_.data() + other * width_;
    for (std::size_t at = 0; at < count_; ++at)
      change += row[there[at]] - row[left[at]] + its[left[at]] - its[there[at]];
    return change;
  }

  /// What is to be added to the change for what the two exchange; never negative.
  std::int32_t between(Rank rank, Rank other, Slot from, Slot to) const {
    for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc)
      if (arc->to == other) return static_cast<std::int32_t>(arc->weight) * detour(from, to);
    return 0;
  }

  /// Brings the prices of its partners up to date.
  void moved(Rank rank, Slot from, Slot to) {
    const std::uint16_t* left = parts_.of(from);
    const std::uint16_t* there = parts_.of(to);
    for (std::size_t at = 0; at < count_; ++at) {
      if (left[at] == there[at]) continue;
      const Parts::Part& part = parts_.parts[at];
      if (part.hops.empty()) {
        for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
          std::int32_t* row = rows_.data() + arc->to * width_;
          const std::int32_t change = static_cast<std::int32_t>(arc->weight) * part.same;
          row[left[at]] -= change;
          row[there[at]] += change;
        }
        continue;
      }
      const std::int32_t* before = part.hops.data() + (left[at] - part.offset) * part.classes;
      const std::int32_t* after = part.hops.data() + (there[at] - part.offset) * part.classes;
      for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
        std::int32_t* row = rows_.data() + arc->to * width_ + part.offset;
        const auto weight = static_cast<std::int32_t>(arc->weight);
        for (std::size_t one = 0; one < part.classes; ++one)
          row[one] += weight * (after[one] - before[one]);
      }
    }
  }

 private:
  static constexpr std::size_t kLanes = 4;

  /// Both slots' hops to themselves, which `change` took for those between the two, from these.
  std::int32_t detour(Slot from, Slot to) const {
    const std::uint16_t* left = parts_.of(from);
    const std::uint16_t* there = parts_.of(to);
    std::int32_t sum = 0;
    for (std::size_t at = 0; at < count_; ++at) {
      const Parts::Part& part = parts_.parts[at];
      const std::size_t one = left[at] - part.offset, other = there[at] - part.offset;
      sum += 2 * part.at(one, other) - part.at(one, one) - part.at(other, other);
    }
    return sum;
  }

  const Flows& flows_;
  Parts parts_;
  std::size_t count_, width_;
  std::vector<std::int32_t> rows_;  ///< ranks x width
};

}  // namespace hamtune::mapper
