// Regular covers of small multigraphs, Cayley networks among them, with wide bisections. C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/bisection.hpp"
#include "searchspace/kernels/flat_graph.hpp"
#include "searchspace/kernels/orbit_moves.hpp"
#include "searchspace/kernels/random.hpp"
#include "searchspace/kernels/solvable_group.hpp"

namespace hamtune {

/// What a cover is drawn from: how many base nodes, and the seed of its group.
struct CoverSource {
  std::uint32_t bases = 0;  // 0: none
  std::uint64_t group = 0;
};

/// A network: orbits of edges under a rotation of its group, and its narrowest known cut.
struct Cover {
  CoverSource source;
  std::uint32_t symmetry = 1;
  std::vector<Orbit> orbits;
  std::size_t width = 0;
};

/// Draws covers: a group element for each of a few base nodes is a node, and a base edge (i, j)
/// with the element g joins (x, i) with (x g, j) for all x (Gross and Tucker, "Topological graph
/// theory", 1987, chapter 2). With one base node they are the Cayley networks of the group.
///
/// They look the same from every element, so they have no weak spots, and many expand well. Nearly
/// all that have wide bisections are among the few in a thousand with the least distances, which
/// cost far less than a search for a narrow cut: so of many networks drawn only the closest is
/// searched.
class CoverSurvey {
 public:
  /// Only networks that a rotation of an order divisible by `unit` maps onto themselves.
  CoverSurvey(std::uint32_t nodes, std::uint32_t degree, std::uint32_t unit)
      : nodes_(nodes), degree_(degree), unit_(unit) {
    if (unit == 0 || nodes % unit != 0)
      throw std::invalid_argument("the symmetry must divide the number of nodes");
    for (std::uint32_t bases = 1; bases <= kMostBases; ++bases)
      if (nodes % bases == 0 && nodes / bases % unit == 0 &&
          nodes / bases <= SolvableGroup::kLargestOrder)
        bases_.push_back(bases);
    if (bases_.empty()) throw std::invalid_argument("the network is too large to be drawn");
  }

  /// Draws networks for about that many searches for a cut; returns the last one of those that
  /// withstood a close look for a cut of `aim` edges or fewer (the aim rises with each), or one
  /// without orbits. A third of the groups is the favourite, and another third has its base nodes.
  Cover run(std::uint64_t searches, std::size_t aim, const CoverSource& favourite,
            std::uint64_t seed) const {
    Random random(seed);
    Cover best;
    for (std::uint64_t done = 0; done < searches;) {
      std::optional<Candidate> closest;
      std::size_t hops = kFar;
      for (unsigned groups = 0; groups < kGroups; ++groups, ++done) {
        const CoverSource source = choose(favourite, random);
        Random group_random(source.group);
        const SolvableGroup group(nodes_ / source.bases, group_random);
        if (unit_ > 1 && !widest_rotation(group)) continue;
        for (unsigned drawn = 0; drawn < kNetworks; ++drawn) {
          if (drawn % kDrawsASearch == 0) ++done;
          std::vector<Lift> lifts = draw(group, source.bases, random);
          if (lifts.empty()) continue;
          std::vector<Node> target = targets(group, source.bases, lifts);
          const std::size_t found = mean_hops(target, source.bases, hops);
          if (found >= hops) continue;
          hops = found;
          closest = {source, std::move(lifts), std::move(target)};
        }
      }
      if (!closest) continue;
      const std::size_t width =
          look(FlatGraph(degree_, std::move(closest->target)), aim, random, done);
      if (width <= aim) continue;
      Random group_random(closest->source.group);
      const SolvableGroup group(nodes_ / closest->source.bases, group_random);
      const std::optional<Rotation> rotation = widest_rotation(group);
      if (!rotation) continue;
      aim = width;
      best = {closest->source, rotation->order,
              orbits_of(group, closest->source.bases, closest->lifts, *rotation), width};
    }
    return best;
  }

 private:
  using Element = SolvableGroup::Element;

  static constexpr std::uint32_t kMostBases = 4;
  static constexpr unsigned kGroups = 8;        // of which one network is searched
  static constexpr unsigned kNetworks = 32;     // drawn of a group
  static constexpr unsigned kDrawsASearch = 8;  // take about as long as a search
  static constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kSources = 12;  // divisible by all numbers of base nodes
  static constexpr std::uint16_t kUnreached = 0xFFFF;
  static constexpr unsigned kCloseSearches = 1500;
  static constexpr unsigned kDraws = 20;  // of an element, and of a network
  static constexpr unsigned kLoopsEvery = 8;

  /// A base edge with its element.
  struct Lift {
    std::uint32_t i;
    std::uint32_t j;
    Element element;
  };

  struct Candidate {
    CoverSource source;
    std::vector<Lift> lifts;
    std::vector<Node> target;
  };

  /// Every element as a power of one, its turn, times the first one of its coset.
  struct Rotation {
    std::uint32_t order = 0;
    std::vector<Element> first;
    std::vector<std::uint32_t> coset;
    std::vector<std::uint32_t> turn;
  };

  CoverSource choose(const CoverSource& favourite, Random& random) const {
    CoverSource source{bases_[random.below(static_cast<std::uint32_t>(bases_.size()))],
                       random.next()};
    if (favourite.bases != 0) {
      const std::uint32_t third = random.below(3);
      if (third == 0) source = favourite;
      if (third == 1) source.bases = favourite.bases;
    }
    return source;
  }

  /// Hops from an element of each base node to all nodes, scaled to the same number of sources;
  /// kFar when some node is out of reach, or as soon as they are sure to be `limit` or more.
  std::size_t mean_hops(const std::vector<Node>& target, std::uint32_t bases,
                        std::size_t limit) const {
    std::vector<std::uint16_t> level(nodes_);
    std::vector<Node> reached;
    std::size_t sum = 0;
    const std::size_t scale = kSources / bases;
    for (Node source = 0; source < bases; ++source) {
      std::fill(level.begin(), level.end(), kUnreached);
      reached.assign(1, source);
      level[source] = 0;
      for (std::size_t at = 0; at < reached.size(); ++at) {
        const Node* const arms = target.data() + std::size_t{reached[at]} * degree_;
        const auto next = static_cast<std::uint16_t>(level[reached[at]] + 1);
        for (const Node* other = arms; other != arms + degree_; ++other) {
          if (level[*other] != kUnreached) continue;
          level[*other] = next;
          reached.push_back(*other);
          sum += next;
        }
      }
      if (reached.size() < nodes_ || sum * scale >= limit) return kFar;
    }
    return sum * scale;
  }

  /// The rotation by an element of the largest order that the unit divides.
  std::optional<Rotation> widest_rotation(const SolvableGroup& group) const {
    Element turner = 0;
    std::uint32_t order = 0;
    for (std::uint32_t element = 0; element < group.order(); ++element) {
      const std::uint32_t own = group.order_of(static_cast<Element>(element));
      if (own % unit_ != 0 || own <= order) continue;
      order = own;
      turner = static_cast<Element>(element);
    }
    if (order == 0) return std::nullopt;
    Rotation rotation{order, {}, std::vector<std::uint32_t>(group.order()),
                      std::vector<std::uint32_t>(group.order())};
    std::vector<bool> placed(group.order(), false);
    for (std::uint32_t first = 0; first < group.order(); ++first) {
      if (placed[first]) continue;
      auto element = static_cast<Element>(first);
      for (std::uint32_t turn = 0; turn < order; ++turn) {
        placed[element] = true;
        rotation.coset[element] = static_cast<std::uint32_t>(rotation.first.size());
        rotation.turn[element] = turn;
        element = group.product(turner, element);
      }
      rotation.first.push_back(static_cast<Element>(first));
    }
    return rotation;
  }

  /// A random base graph with random elements that give a simple network; none if not found.
  std::vector<Lift> draw(const SolvableGroup& group, std::uint32_t bases, Random& random) const {
    std::vector<std::uint32_t> ends;
    for (std::uint32_t base = 0; base < bases; ++base) ends.insert(ends.end(), degree_, base);
    for (unsigned tried = 0; tried < kDraws; ++tried) {
      for (std::size_t left = ends.size(); left > 1; --left)
        std::swap(ends[left - 1], ends[random.below(static_cast<std::uint32_t>(left))]);
      std::vector<Lift> lifts;
      bool complete = true;
      for (std::size_t end = 0; end < ends.size() && complete; end += 2) {
        const bool single = end + 1 == ends.size();
        if (single || random.below(kLoopsEvery) == 0)
          complete = add_involution(group, ends[end], random, lifts) &&
                     (single || add_involution(group, ends[end + 1], random, lifts));
        else
          complete = add_edge(group, ends[end], ends[end + 1], random, lifts);
      }
      if (complete) return lifts;
    }
    return {};
  }

  /// Gives the nodes of a base node one more edge each.
  static bool add_involution(const SolvableGroup& group, std::uint32_t base, Random& random,
                             std::vector<Lift>& lifts) {
    for (unsigned drawn = 0; drawn < kDraws; ++drawn) {
      const auto element = static_cast<Element>(random.below(group.order()));
      if (group.inverse(element) == element && add(group, {base, base, element}, lifts))
        return true;
    }
    return false;
  }

  static bool add_edge(const SolvableGroup& group, std::uint32_t i, std::uint32_t j,
                       Random& random, std::vector<Lift>& lifts) {
    for (unsigned drawn = 0; drawn < kDraws; ++drawn) {
      const auto element = static_cast<Element>(random.below(group.order()));
      if (i == j && group.inverse(element) == element) {
        // It gives one edge a node, so another one like it is needed.
        const std::size_t before = lifts.size();
        if (add(group, {i, i, element}, lifts) && add_involution(group, i, random, lifts))
          return true;
        lifts.resize(before);
        continue;
      }
      if (add(group, {i, j, element}, lifts)) return true;
    }
    return false;
  }

  /// False, and nothing is added, when it would join what is joined or a node with itself.
  static bool add(const SolvableGroup& group, const Lift& lift, std::vector<Lift>& lifts) {
    if (lift.i == lift.j && lift.element == 0) return false;
    const Element back = group.inverse(lift.element);
    for (const Lift& other : lifts)
      if ((other.i == lift.i && other.j == lift.j && other.element == lift.element) ||
          (other.i == lift.j && other.j == lift.i && other.element == back))
        return false;
    lifts.push_back(lift);
    return true;
  }

  /// The neighbours of all nodes; element x of base node i is node x * bases + i.
  std::vector<Node> targets(const SolvableGroup& group, std::uint32_t bases,
                            const std::vector<Lift>& lifts) const {
    std::vector<Node> target(std::size_t{nodes_} * degree_);
    std::vector<std::size_t> used(bases, 0);
    const auto lay = [&](std::uint32_t i, std::uint32_t j, Element element) {
      const std::size_t arm = used[i]++;
      for (std::size_t x = 0; x < group.order(); ++x)
        target[(x * bases + i) * degree_ + arm] = group.product(x, element) * bases + j;
    };
    for (const Lift& lift : lifts) {
      const Element back = group.inverse(lift.element);
      lay(lift.i, lift.j, lift.element);
      if (lift.i != lift.j || back != lift.element) lay(lift.j, lift.i, back);
    }
    return target;
  }

  static std::vector<Orbit> orbits_of(const SolvableGroup& group, std::uint32_t bases,
                                      const std::vector<Lift>& lifts, const Rotation& rotation) {
    std::vector<Orbit> orbits;
    for (const Lift& lift : lifts) {
      const bool involution =
          lift.i == lift.j && group.inverse(lift.element) == lift.element;
      for (std::uint32_t coset = 0; coset < rotation.first.size(); ++coset) {
        const Element target = group.product(rotation.first[coset], lift.element);
        if (involution && rotation.coset[target] < coset) continue;  // seen from the other end
        orbits.push_back({coset * bases + lift.i, rotation.coset[target] * bases + lift.j,
                          rotation.turn[target]});
      }
    }
    return orbits;
  }

  std::size_t look(const FlatGraph& graph, std::size_t aim, Random& random,
                   std::uint64_t& done) const {
    Bisector bisector(graph);
    Sides best;
    std::size_t width = graph.target.size();
    for (unsigned search = 0; search < kCloseSearches && width > aim; ++search, ++done) {
      Sides sides = best;
      if (search % 2 == 0)
        sides = bisector.random_split(random);
      else
        bisector.disturb(sides, nodes_ / 16 + 1, random);
      const std::size_t found = bisector.improve(sides);
      if (found <= width) {
        width = found;
        best = std::move(sides);
      }
    }
    return width;
  }

  std::uint32_t nodes_;
  std::uint32_t degree_;
  std::uint32_t unit_;
  std::vector<std::uint32_t> bases_;
};

}  // namespace hamtune
