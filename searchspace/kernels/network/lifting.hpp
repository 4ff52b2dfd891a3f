// Small multigraphs with group elements on their edges, and the networks they stand for. C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"
#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/network/rotation_graph.hpp"
#include "searchspace/kernels/network/solvable_group.hpp"

namespace hamtune {

/// A base edge with its element: it joins (x, i) with (x element, j) for all x of the group.
struct Lift {
  std::uint32_t i;
  std::uint32_t j;
  SolvableGroup::Element element;
};

/// Draws and changes base graphs of one group: a group element for each of a few base nodes is a
/// node of the network (Gross and Tucker, "Topological graph theory", 1987, chapter 2). Element x
/// of base node i is node x * bases + i.
class Lifting {
 public:
  static constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

  Lifting(SolvableGroup group, std::uint32_t bases, std::uint32_t degree)
      : group_(std::move(group)),
        bases_(bases),
        degree_(degree),
        target_(std::size_t{group_.order()} * bases * degree),
        arms_(bases),
        reached_((target_.size() / degree + 7) / 8 * 8),
        next_(reached_.size()) {
    for (std::uint32_t element = 1; element < group_.order(); ++element)
      if (group_.inverse(element) == element)
        involutions_.push_back(static_cast<Element>(element));
  }

  const SolvableGroup& group() const { return group_; }
  std::uint32_t bases() const { return bases_; }
  std::uint32_t degree() const { return degree_; }

  /// A random base graph with random elements that give a simple network; none if not found.
  std::vector<Lift> draw(Random& random) const {
    std::vector<std::uint32_t> ends;
    for (std::uint32_t base = 0; base < bases_; ++base) ends.insert(ends.end(), degree_, base);
    std::vector<Lift> lifts;
    for (unsigned tried = 0; tried < kDraws; ++tried, lifts.clear())
      if (join(ends, random, lifts)) return lifts;
    return {};
  }

  /// The same with one or two base edges drawn anew; none if not found.
  std::vector<Lift> change(std::vector<Lift> lifts, Random& random) const {
    std::vector<std::uint32_t> ends;
    for (std::uint32_t removed = random.below(2) + 1; removed > 0 && !lifts.empty(); --removed) {
      std::swap(lifts[random.below(static_cast<std::uint32_t>(lifts.size()))], lifts.back());
      const Lift gone = lifts.back();
      lifts.pop_back();
      ends.push_back(gone.i);
      if (!self_paired(gone)) ends.push_back(gone.j);
    }
    if (!join(ends, random, lifts)) lifts.clear();
    return lifts;
  }

  /// Hops from an element of each base node to all nodes, scaled to the same number of sources;
  /// kFar when some node is out of reach, or as soon as they are sure to be `limit` or more.
  ///
  /// A breadth-first search from all of them at once: of each node, the sources that reach it.
  std::size_t hops(const std::vector<Lift>& lifts, std::size_t limit) {
    find_arms(lifts);
    const std::size_t order = group_.order();
    const std::size_t all = order * bases_ * bases_;
    const std::size_t scale = kSources / bases_;
    std::fill(reached_.begin(), reached_.end(), std::uint8_t{0});
    for (std::uint32_t base = 0; base < bases_; ++base)
      reached_[base * order] = static_cast<std::uint8_t>(1U << base);
    std::size_t reached = bases_;
    std::size_t sum = 0;
    while (reached < all) {
      const bool first = sum == 0;
      sum += all - reached;  // all others are one hop farther away
      if (sum * scale >= limit) return kFar;
      if (first) {
        reach_neighbours();
      } else {
        for (std::uint32_t base = 0; base < bases_; ++base) spread(base);
        reached_.swap(next_);
      }
      const std::size_t now = count_reached();
      if (now == reached) return kFar;
      reached = now;
    }
    return sum * scale;
  }

  /// The neighbours of all nodes, node by node.
  const std::vector<Node>& targets(const std::vector<Lift>& lifts) {
    lay_out(lifts);
    return target_;
  }

  /// The classes of nodes that multiplying by powers of an element from the left maps onto each
  /// other, numbered from 0, by node. All are as large as the order of the element.
  std::vector<Node> classes(SolvableGroup::Element element) const {
    const std::size_t order = group_.order();
    std::vector<Node> number(order * bases_);
    std::vector<bool> known(order, false);
    Node next = 0;
    for (std::size_t begin = 0; begin < order; ++begin) {
      if (known[begin]) continue;
      for (std::size_t x = begin; !known[x]; x = group_.product(element, x)) {
        known[x] = true;
        for (std::uint32_t base = 0; base < bases_; ++base)
          number[x * bases_ + base] = next + base;
      }
      next += bases_;
    }
    return number;
  }

  /// The largest order of an element that the unit divides, and the orbits of edges under it; an
  /// order of 0 if there is none.
  std::pair<std::uint32_t, std::vector<Orbit>> orbits(const std::vector<Lift>& lifts,
                                                      std::uint32_t unit) const {
    const auto [order, turner] = widest_turn(unit);
    if (order == 0) return {0, {}};
    // Every element as a power of that one, its turn, times the first one of its coset.
    std::vector<Element> first;
    std::vector<std::uint32_t> coset(group_.order());
    std::vector<std::uint32_t> turn(group_.order());
    std::vector<bool> placed(group_.order(), false);
    for (std::uint32_t begin = 0; begin < group_.order(); ++begin) {
      if (placed[begin]) continue;
      auto element = static_cast<Element>(begin);
      for (std::uint32_t turns = 0; turns < order; ++turns) {
        placed[element] = true;
        coset[element] = static_cast<std::uint32_t>(first.size());
        turn[element] = turns;
        element = group_.product(turner, element);
      }
      first.push_back(static_cast<Element>(begin));
    }
    std::vector<Orbit> orbits;
    for (const Lift& lift : lifts)
      for (std::uint32_t from = 0; from < first.size(); ++from) {
        const Element target = group_.product(first[from], lift.element);
        if (self_paired(lift) && coset[target] < from) continue;  // seen from the other end
        orbits.push_back(
            {from * bases_ + lift.i, coset[target] * bases_ + lift.j, turn[target]});
      }
    return {order, std::move(orbits)};
  }

  /// Whether these stand for a network without loops and double edges that has the degree.
  bool fits(const std::vector<Lift>& lifts) const {
    std::vector<std::uint32_t> used(bases_, 0);
    std::vector<Lift> checked;
    for (const Lift& lift : lifts) {
      if (lift.i >= bases_ || lift.j >= bases_ || lift.element >= group_.order() ||
          !add(lift, checked))
        return false;
      ++used[lift.i];
      if (!self_paired(lift)) ++used[lift.j];
    }
    return std::all_of(used.begin(), used.end(),
                       [this](std::uint32_t ends) { return ends == degree_; });
  }

  /// Whether some element has an order that the unit divides.
  bool turns(std::uint32_t unit) const { return widest_turn(unit).first != 0; }

 private:
  using Element = SolvableGroup::Element;

  static constexpr std::size_t kSources = 12;  // divisible by all numbers of base nodes
  static constexpr unsigned kDraws = 20;  // of an element, and of a base graph
  static constexpr unsigned kLoopsEvery = 8;

  bool self_paired(const Lift& lift) const {
    return lift.i == lift.j && group_.inverse(lift.element) == lift.element;
  }

  std::pair<std::uint32_t, Element> widest_turn(std::uint32_t unit) const {
    std::pair<std::uint32_t, Element> widest{0, 0};
    for (std::uint32_t element = 0; element < group_.order(); ++element) {
      const std::uint32_t order = group_.order_of(static_cast<Element>(element));
      if (order % unit == 0 && order > widest.first)
        widest = {order, static_cast<Element>(element)};
    }
    return widest;
  }

  /// Joins ends of base nodes in pairs at random; false when no fitting element was found.
  bool join(std::vector<std::uint32_t>& ends, Random& random, std::vector<Lift>& lifts) const {
    for (std::size_t left = ends.size(); left > 1; --left)
      std::swap(ends[left - 1], ends[random.below(static_cast<std::uint32_t>(left))]);
    for (std::size_t end = 0; end < ends.size(); end += 2) {
      const bool single = end + 1 == ends.size();
      const bool joined =
          single || random.below(kLoopsEvery) == 0
              ? add_involution(ends[end], random, lifts) &&
                    (single || add_involution(ends[end + 1], random, lifts))
              : add_edge(ends[end], ends[end + 1], random, lifts);
      if (!joined) return false;
    }
    return true;
  }

  /// Gives the nodes of a base node one more edge each.
  bool add_involution(std::uint32_t base, Random& random, std::vector<Lift>& lifts) const {
    const auto count = static_cast<std::uint32_t>(involutions_.size());
    for (unsigned drawn = 0; drawn < kDraws && count > 0; ++drawn)
      if (add({base, base, involutions_[random.below(count)]}, lifts)) return true;
    return false;
  }

  bool add_edge(std::uint32_t i, std::uint32_t j, Random& random, std::vector<Lift>& lifts) const {
    for (unsigned drawn = 0; drawn < kDraws; ++drawn) {
      const Lift lift{i, j, static_cast<Element>(random.below(group_.order()))};
      const std::size_t before = lifts.size();
      // An involution gives one edge a node, so another one like it is needed.
      if (add(lift, lifts) && (!self_paired(lift) || add_involution(i, random, lifts)))
        return true;
      lifts.resize(before);
    }
    return false;
  }

  /// False, and nothing is added, when it would join what is joined or a node with itself.
  bool add(const Lift& lift, std::vector<Lift>& lifts) const {
    if (lift.i == lift.j && lift.element == 0) return false;
    const Element back = group_.inverse(lift.element);
    for (const Lift& other : lifts)
      if ((other.i == lift.i && other.j == lift.j && other.element == lift.element) ||
          (other.i == lift.j && other.j == lift.i && other.element == back))
        return false;
    lifts.push_back(lift);
    return true;
  }

  void lay_out(const std::vector<Lift>& lifts) {
    used_.assign(bases_, 0);
    for (const Lift& lift : lifts) {
      lay_out(lift.i, lift.j, lift.element);
      if (!self_paired(lift)) lay_out(lift.j, lift.i, group_.inverse(lift.element));
    }
  }

  void lay_out(std::uint32_t i, std::uint32_t j, Element element) {
    const std::size_t arm = used_[i]++;
    for (std::size_t x = 0; x < group_.order(); ++x)
      target_[(x * bases_ + i) * degree_ + arm] = group_.product(x, element) * bases_ + j;
  }

  /// An end of a base edge: element x of its base node is joined with element row[x] of `other`, and
  /// element `back` with the neutral one.
  struct Arm {
    std::uint32_t other;
    const Element* row;
    Element back;
  };

  void find_arms(const std::vector<Lift>& lifts) {
    for (std::vector<Arm>& arms : arms_) arms.clear();
    for (const Lift& lift : lifts) {
      const Element back = group_.inverse(lift.element);
      arms_[lift.i].push_back({lift.j, group_.times(lift.element), back});
      if (!self_paired(lift)) arms_[lift.j].push_back({lift.i, group_.times(back), lift.element});
    }
  }

  std::size_t count_reached() const {
    std::size_t count = 0;
    for (std::size_t first = 0; first < reached_.size(); first += sizeof(std::uint64_t)) {
      std::uint64_t sources = 0;
      std::memcpy(&sources, reached_.data() + first, sizeof sources);
      count += static_cast<std::size_t>(__builtin_popcountll(sources));
    }
    return count;
  }

  /// Lets the neutral elements, the sources, reach their neighbours.
  void reach_neighbours() {
    for (std::uint32_t base = 0; base < bases_; ++base)
      for (const Arm& arm : arms_[base])
        reached_[base * group_.order() + arm.back] |= static_cast<std::uint8_t>(1U << arm.other);
  }

  /// Lets the elements of a base node be reached by what reaches a neighbour; two arms at once, since
  /// what is written takes as long as what is read.
  void spread(std::uint32_t base) {
    const std::size_t order = group_.order();
    std::uint8_t* const next = next_.data() + base * order;
    const std::uint8_t* before = reached_.data() + base * order;
    const std::vector<Arm>& arms = arms_[base];
    for (std::size_t arm = 0; arm < arms.size(); arm += 2, before = next) {
      const Arm& one = arms[arm];
      const Arm& two = arms[std::min(arm + 1, arms.size() - 1)];
      const std::uint8_t* const from_one = reached_.data() + one.other * order;
      const std::uint8_t* const from_two = reached_.data() + two.other * order;
      const Element* const row_one = one.row;
      const Element* const row_two = two.row;
      for (std::size_t x = 0; x < order; ++x)
        next[x] = before[x] | from_one[row_one[x]] | from_two[row_two[x]];
    }
  }

  SolvableGroup group_;
  std::uint32_t bases_;
  std::uint32_t degree_;
  std::vector<Element> involutions_;
  std::vector<Node> target_;
  std::vector<std::size_t> used_;
  std::vector<std::vector<Arm>> arms_;  // by base node
  std::vector<std::uint8_t> reached_;   // by base node and element, a bit a source; whole words
  std::vector<std::uint8_t> next_;
};

}  // namespace hamtune
