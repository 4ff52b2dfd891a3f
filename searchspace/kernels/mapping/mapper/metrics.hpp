// Hops between the slots of a machine (cores that ranks may take), fast. Plain C++17.
//
// Each metric gives every slot a code; hops are a function of two codes. So what a search keeps for
// each rank is one number, and no table of all pairs is needed where the machine has a shape.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/mapper/flows.hpp"
#include "searchspace/kernels/graph/random.hpp"

namespace hamtune::mapper {

/// Slots near a slot, to try there: the closest ones, closest first.
class NearLists {
 public:
  NearLists() = default;
  NearLists(std::size_t slots, std::size_t length) : length_(length) {
    slots_.reserve(slots * length);
  }

  void push(Slot near) { slots_.push_back(near); }
  std::size_t length() const { return length_; }
  const Slot* begin(Slot slot) const { return slots_.data() + slot * length_; }
  const Slot* end(Slot slot) const { return begin(slot) + length_; }
  Slot pick(Slot slot, Random& random) const {
    return length_ == 0 ? slot : begin(slot)[random.below(static_cast<std::uint32_t>(length_))];
  }

 private:
  std::size_t length_ = 0;
  std::vector<Slot> slots_;
};

/// Leaves of a tree: the highest bit in which two codes differ tells the level of their parent.
class TreeMetric {
 public:
  /// `hops_by_bit[b]`: hops when bit b is the highest that differs, not falling.
  TreeMetric(std::vector<std::uint32_t> codes, const std::vector<std::uint32_t>& hops_by_bit)
      : codes_(std::move(codes)), hops_{0} {
    for (const std::uint32_t hops : hops_by_bit) hops_.push_back(static_cast<int>(hops));
    hops_.resize(33, hops_.back());
    ends_();
  }

  std::size_t slots() const { return codes_.size(); }
  std::uint32_t code(Slot slot) const { return codes_[slot]; }
  int hops(std::uint32_t a, std::uint32_t b) const {
    const std::uint64_t different = 2 * static_cast<std::uint64_t>(a ^ b) + 1;
    return hops_[63U - static_cast<unsigned>(__builtin_clzll(different))];
  }

  /// A slot below the same parent; with falling probability below higher ones.
  Slot near(Slot slot, Random& random) const {
    std::size_t level = 0;
    const std::uint64_t bits = random.next();
    while (level + 1 < levels_ && ((bits >> level) & 1U) != 0) ++level;
    const Range range = ranges_[level * codes_.size() + slot];
    return sorted_[range.begin + static_cast<std::uint32_t>(
                                     ((bits >> 32U) * (range.end - range.begin)) >> 32U)];
  }

  /// The most hops.
  int diameter() const { return hops(codes_[sorted_.front()], codes_[sorted_.back()]); }

  /// The fewest hops between two slots.
  int closest() const {
    int fewest = diameter();
    for (std::size_t at = 1; at < sorted_.size(); ++at)
      fewest = std::min(fewest, hops(codes_[sorted_[at - 1]], codes_[sorted_[at]]));
    return fewest;
  }

  /// Slots in the order of the leaves.
  const std::vector<Slot>& sorted() const { return sorted_; }
  /// The node above each slot at each level, from the leaves up, and the most hops below it.
  struct Group {
    std::vector<std::uint32_t> of;
    int hops;
  };
  std::vector<Group> groups() const {
    std::vector<Group> found;
    for (std::size_t level = 0; level < levels_; ++level) {
      const Range* ranges = ranges_.data() + level * codes_.size();
      Group group{std::vector<std::uint32_t>(codes_.size()), 0};
      std::uint32_t number = 0;
      for (std::size_t at = 0; at < sorted_.size(); ++at) {
        const Range& range = ranges[sorted_[at]];
        if (at > 0 && range.begin == at) ++number;
        group.of[sorted_[at]] = number;
        group.hops = std::max(group.hops, hops(codes_[sorted_[at]], codes_[sorted_[range.end - 1]]));
      }
      found.push_back(std::move(group));
    }
    return found;
  }

  /// Slots below a node of each level and hops among them, from the leaves up; where nodes of a
  /// level have different numbers of slots, nothing.
  struct Level {
    std::uint32_t slots;
    int hops;
  };
  std::vector<Level> levels() const {
    std::vector<Level> found;
    for (std::size_t level = 0; level < levels_; ++level) {
      const Range* ranges = ranges_.data() + level * codes_.size();
      const std::uint32_t size = ranges[sorted_[0]].end - ranges[sorted_[0]].begin;
      for (std::size_t slot = 0; slot < codes_.size(); ++slot)
        if (ranges[slot].end - ranges[slot].begin != size) return {};
      found.push_back({size, hops(codes_[sorted_[0]], codes_[sorted_[size - 1]])});
    }
    return found;
  }

 private:
  struct Range {
    std::uint32_t begin, end;
  };

  void ends_() {
    const auto count = static_cast<std::uint32_t>(codes_.size());
    sorted_.resize(count);
    for (Slot slot = 0; slot < count; ++slot) sorted_[slot] = slot;
    std::sort(sorted_.begin(), sorted_.end(), [this](Slot a, Slot b) {
      return codes_[a] != codes_[b] ? codes_[a] < codes_[b] : a < b;
    });
    std::vector<int> steps(hops_.begin(), hops_.end());
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    for (const int most : steps) {
      std::vector<Range> level(count);
      bool useful = false;
      for (std::uint32_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && hops(codes_[sorted_[begin]], codes_[sorted_[end]]) <= most) ++end;
        useful |= end - begin > 1;
        for (std::uint32_t at = begin; at < end; ++at) level[sorted_[at]] = {begin, end};
      }
      if (!useful) continue;
      ranges_.insert(ranges_.end(), level.begin(), level.end());
      ++levels_;
      if (level[sorted_[0]].end == count) break;
    }
    if (levels_ == 0) {
      ranges_.assign(count, {0, count});
      levels_ = 1;
    }
  }

  std::vector<std::uint32_t> codes_;
  std::vector<int> hops_;  ///< by 1 + the highest bit that differs; 0 when none does
  std::vector<Slot> sorted_;
  std::vector<Range> ranges_;  ///< levels x slots: the slots below the same node, in `sorted_`
  std::size_t levels_ = 0;
};

/// Nodes of a torus or mesh, possibly not all of them, each with one or more cores.
///
/// A code is the coordinates in a number system whose digits have room for a sum; the difference of
/// two codes is then unique to a displacement, and hops are one look-up.
class GridMetric {
 public:
  /// `node` of each slot, numbered row by row. `climb` hops are added between different nodes.
  GridMetric(const std::vector<std::uint32_t>& node, std::vector<std::int32_t> extents,
             bool wrapped, std::uint32_t climb, std::size_t near);
  GridMetric(const GridMetric&) = delete;
  GridMetric& operator=(const GridMetric&) = delete;

  std::size_t slots() const { return codes_.size(); }
  std::uint32_t code(Slot slot) const { return codes_[slot]; }
  int hops(std::uint32_t a, std::uint32_t b) const { return centre_[static_cast<std::ptrdiff_t>(a) - static_cast<std::ptrdiff_t>(b)]; }
  Slot near(Slot slot, Random& random) const { return near_.pick(slot, random); }
  const NearLists& near_lists() const { return near_; }
  int diameter() const { return diameter_; }
  int closest() const { return closest_; }

  const std::vector<std::int32_t>& extents() const { return extents_; }
  bool wrapped() const { return wrapped_; }
  /// Hops between different nodes beside those along the axes.
  std::uint32_t climb() const { return climb_; }
  /// The cores of each node where all have as many and slots are numbered node by node; else 0.
  std::size_t cores_each() const { return cores_each_; }
  std::int32_t coordinate(Slot slot, std::size_t axis) const {
    return place_[slot * extents_.size() + axis];
  }

 private:
  std::vector<std::int32_t> extents_;
  bool wrapped_;
  std::uint32_t climb_;
  std::size_t cores_each_ = 0;
  std::vector<std::int32_t> place_;
  std::vector<std::uint32_t> codes_;
  std::vector<std::uint16_t> table_;  ///< hops by displacement
  const std::uint16_t* centre_;       ///< of displacement 0, in `table_`
  int diameter_ = 0, closest_ = 0;
  NearLists near_;
};

/// Slots in classes (cores of a host, hosts of a router) with a table of hops between classes.
class TableMetric {
 public:
  /// `table[a * classes + b]`: hops between slots of classes a and b; on the diagonal those between
  /// two different slots of a class.
  TableMetric(std::vector<std::uint32_t> classes, std::size_t count,
              std::vector<std::uint16_t> table, std::size_t near);

  std::size_t slots() const { return codes_.size(); }
  std::uint32_t code(Slot slot) const { return codes_[slot]; }
  int hops(std::uint32_t a, std::uint32_t b) const { return table_[a * count_ + b]; }
  Slot near(Slot slot, Random& random) const { return near_.pick(slot, random); }
  const NearLists& near_lists() const { return near_; }
  int diameter() const { return diameter_; }
  int closest() const { return closest_; }
  std::size_t classes() const { return count_; }
  /// Hops between classes, classes x classes.
  const std::vector<std::uint16_t>& table() const { return table_; }

  /// The slots of each class, which are numbered class by class; 0 where they are not, or differ.
  std::size_t slots_each() const;

  /// Slots in units of equal size that are close to each other, units of these, and so on: from the
  /// slots of a class (where it has several) up to all; nothing where `slots_each` is 0.
  struct Level {
    std::size_t slots;  ///< of a unit
    int hops;           ///< in the mean between the smaller units in it
    int fewest;         ///< between any of the smaller units
  };
  std::vector<Level> levels() const;

 private:
  std::vector<std::uint32_t> codes_;
  std::size_t count_;
  std::vector<std::uint16_t> table_;
  int diameter_ = 0, closest_ = 0;
  NearLists near_;
};

/// The metric of a hierarchical machine: that of the hosts, and within each host that of a tree of its cores.
template <typename Hosts>
class HierarchicalMetric {
 public:
  /// `core`: the place of each slot in its host's tree, fewer than 2^12 places.
  HierarchicalMetric(const Hosts& hosts, std::vector<std::uint32_t> core,
                     const std::vector<std::uint32_t>& hops_by_bit)
      : hosts_(hosts), core_(std::move(core)), hops_{0} {
    for (const std::uint32_t hops : hops_by_bit) hops_.push_back(static_cast<int>(hops));
  }

  std::size_t slots() const { return core_.size(); }
  std::uint32_t code(Slot slot) const { return slot; }
  int hops(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t host_a = hosts_.code(a), host_b = hosts_.code(b);
    if (host_a != host_b) return hosts_.hops(host_a, host_b);
    return hops_in_host(core_[a], core_[b]);
  }
  int hops_in_host(std::uint32_t a, std::uint32_t b) const {
    return hops_[31U - static_cast<unsigned>(__builtin_clz(2 * (a ^ b) + 1))];
  }
  const Hosts& hosts() const { return hosts_; }
  std::uint32_t core(Slot slot) const { return core_[slot]; }
  Slot near(Slot slot, Random& random) const { return hosts_.near(slot, random); }
  int diameter() const { return std::max(hosts_.diameter(), hops_.back()); }
  int closest() const { return std::min(hosts_.diameter(), 1); }

 private:
  const Hosts& hosts_;
  std::vector<std::uint32_t> core_;
  std::vector<int> hops_;
};

}  // namespace hamtune::mapper
