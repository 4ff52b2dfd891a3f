// Dual recursive bisection: the machine and the traffic are bisected together. Plain C++17.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "searchspace/kernels/mapping/mapper/bisection.hpp"
#include "searchspace/kernels/mapping/mapper/lattice_bisection.hpp"
#include "searchspace/kernels/mapping/mapper/flows.hpp"
#include "searchspace/kernels/mapping/mapper/metrics.hpp"
#include "searchspace/kernels/mapping/mapper/part_exchange.hpp"
#include "searchspace/kernels/graph/random.hpp"

namespace hamtune::mapper {

/// Reorders slots so that the first so many are one half of them, close together, and the others
/// the other; 0 when all are at the same distance from each other.
std::size_t bisect(const TreeMetric& metric, Slot* begin, Slot* end);
std::size_t bisect(const GridMetric& metric, Slot* begin, Slot* end);
std::size_t bisect(const TableMetric& metric, Slot* begin, Slot* end);

/// Bisects the slots below a node of a tree between two of its children, as close to the middle as can be.
template <typename Code, typename Hops>
std::size_t bisect_codes(Slot* begin, Slot* end, const Code& code, const Hops& hops) {
  const auto before = [&](Slot a, Slot b) { return code(a) < code(b); };
  if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
  const auto count = static_cast<std::size_t>(end - begin);
  const auto most = hops(code(*begin), code(end[-1]));
  std::size_t best = 0, distance = count;
  bool deeper = false;
  for (std::size_t at = 1; at < count; ++at) {
    if (hops(code(begin[at - 1]), code(begin[at])) < most) {
      deeper = true;
      continue;
    }
    const std::size_t off = 2 * at > count ? 2 * at - count : count - 2 * at;
    if (off >= distance) continue;
    distance = off;
    best = at;
  }
  return deeper ? best : 0;
}

template <typename Hosts>
std::size_t bisect(const HierarchicalMetric<Hosts>& metric, Slot* begin, Slot* end) {
  const std::size_t hosts = bisect(metric.hosts(), begin, end);
  if (hosts != 0) return hosts;
  return bisect_codes(
      begin, end, [&](Slot slot) { return metric.core(slot); },
      [&](std::uint32_t a, std::uint32_t b) { return metric.hops_in_host(a, b); });
}

/// The middle of some slots, and hops between middles in units of which `kPerHop` make one.
template <typename Metric>
struct Middles {
  using Middle = std::uint32_t;
  static constexpr int kPerHop = 1;
  static Middle of(const Metric& metric, const Slot* begin, const Slot* end) {
    return metric.code(begin[(end - begin) / 2]);
  }
  static int apart(const Metric& metric, const Middle& a, const Middle& b) {
    return metric.hops(a, b);
  }
};

/// The middle of a box may lie between nodes: coordinates are doubled.
template <>
struct Middles<GridMetric> {
  using Middle = std::array<std::int32_t, 8>;
  static constexpr int kPerHop = 2;
  static Middle of(const GridMetric& metric, const Slot* begin, const Slot* end);
  static int apart(const GridMetric& metric, const Middle& a, const Middle& b);
};

template <typename Hosts>
struct Middles<HierarchicalMetric<Hosts>> {
  using Middle = typename Middles<Hosts>::Middle;
  static constexpr int kPerHop = Middles<Hosts>::kPerHop;
  static Middle of(const HierarchicalMetric<Hosts>& metric, const Slot* begin, const Slot* end) {
    return Middles<Hosts>::of(metric.hosts(), begin, end);
  }
  static int apart(const HierarchicalMetric<Hosts>& metric, const Middle& a, const Middle& b) {
    return Middles<Hosts>::apart(metric.hosts(), a, b);
  }
};

/// Where slots form families (children of a node of a tree): sets that are all equally far from
/// each other and from everything else.
template <typename Metric>
struct Families {
  static constexpr bool kKnown = false;
};

template <>
struct Families<TreeMetric> {
  static constexpr bool kKnown = true;
  /// The most hops between slots that stand in the order of the leaves.
  static int span(const TreeMetric& metric, const Slot* begin, const Slot* end) {
    return metric.hops(metric.code(*begin), metric.code(end[-1]));
  }
};

/// How often `dual_recursive_bisection` tries; the best is kept.
struct Tries {
  std::size_t split = 1;   ///< each bisection of a graph
  std::size_t family = 1;  ///< each division of a set of ranks among the children of a node
  /// Cuts the lattice that the traffic is, instead of bisecting a graph; each try another way.
  const LatticeBisection* lattice_bisection = nullptr;
};

/// Splits the ranks among both halves of the machine, and so on down to single slots, as Scotch
/// does (Pellegrini and Roman 1996): what ranks exchange with ranks outside pulls them to the half
/// that is closer. Where slots are to spare, halves take what suits the traffic. In a tree, the
/// children of a node exchange ranks before they are split themselves.
template <typename Metric>
class DualBisection {
 public:
  DualBisection(const Flows& flows, const Metric& metric, const Tries& tries, Random& random)
      : flows_(flows),
        metric_(metric),
        tries_(tries),
        random_(random),
        order_(metric.slots()),
        local_(flows.ranks(), 0),
        owner_(flows.ranks(), 0) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  /// The slot of each rank.
  std::vector<Slot> run() {
    std::vector<Slot> result(flows_.ranks());
    std::deque<Region> queue(1);
    queue.front().ranks.resize(flows_.ranks());
    std::iota(queue.front().ranks.begin(), queue.front().ranks.end(), 0U);
    queue.front().end = order_.size();
    centre_.assign(flows_.ranks(), middle(queue.front()));
    while (!queue.empty()) {
      const Region region = std::move(queue.front());
      queue.pop_front();
      if (region.ranks.empty()) continue;
      const std::size_t left = bisect_region(region);
      if (left == 0) {
        for (std::size_t at = 0; at < region.ranks.size(); ++at)
          result[region.ranks[at]] = order_[region.begin + at];
        continue;
      }
      if constexpr (Families<Metric>::kKnown) {
        for (Region& child : divide(region)) queue.push_back(std::move(child));
      } else {
        auto [low, high] = split(region, left);
        queue.push_back(std::move(low));
        queue.push_back(std::move(high));
      }
    }
    return result;
  }

 private:
  using Middle = typename Middles<Metric>::Middle;
  struct Region {
    std::vector<Rank> ranks;
    std::size_t begin = 0, end = 0;
  };

  Middle middle(const Region& region) const {
    return Middles<Metric>::of(metric_, order_.data() + region.begin, order_.data() + region.end);
  }
  int apart(const Middle& a, const Middle& b) const { return Middles<Metric>::apart(metric_, a, b); }

  std::size_t bisect_region(const Region& region) {
    if (region.end - region.begin == 1) return 0;
    return bisect(metric_, order_.data() + region.begin, order_.data() + region.end);
  }

  /// Numbers the ranks of a region; afterwards `in_region` knows them.
  void own(const Region& region) {
    ++owners_;
    for (std::uint32_t at = 0; at < region.ranks.size(); ++at) {
      local_[region.ranks[at]] = at;
      owner_[region.ranks[at]] = owners_;
    }
  }
  bool in_region(Rank rank) const { return owner_[rank] == owners_; }

  std::int64_t weight_of(const Region& region) const {
    std::int64_t sum = 1;
    for (const Rank rank : region.ranks)
      for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) sum += arc->weight;
    return sum;
  }

  /// The ranks of a region, which is owned, what they exchange times `factor`, and their pulls.
  template <typename Pull>
  PartGraph graph_of(const Region& region, double factor, const Pull& pull_of) const {
    PartGraph graph;
    graph.first.reserve(region.ranks.size() + 1);
    graph.first.push_back(0);
    graph.size.assign(region.ranks.size(), 1);
    graph.pull.reserve(region.ranks.size());
    for (const Rank rank : region.ranks) {
      double pull = 0;
      for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
        if (in_region(arc->to))
          graph.arcs.push_back({local_[arc->to], static_cast<std::int32_t>(
                                                     static_cast<double>(arc->weight) * factor)});
        else
          pull += pull_of(*arc);
      }
      graph.pull.push_back(static_cast<std::int32_t>(pull));
      graph.first.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
    }
    return graph;
  }

  /// Among the first `left` slots and the others.
  std::pair<Region, Region> split(const Region& region, std::size_t left) {
    Region low{{}, region.begin, region.begin + left}, high{{}, region.begin + left, region.end};
    const Middle sides[2] = {middle(low), middle(high)};
    own(region);
    const int between = std::max(apart(sides[0], sides[1]), 1);
    const double scale = std::min(
        1.0, 0x1p29 / (static_cast<double>(weight_of(region)) *
                       std::max(metric_.diameter() * Middles<Metric>::kPerHop, 1)));
    const PartGraph graph = graph_of(region, between * scale, [&](const Arc& arc) {
      return static_cast<double>(arc.weight) *
             (apart(centre_[arc.to], sides[1]) - apart(centre_[arc.to], sides[0])) * scale;
    });
    const std::size_t count = region.ranks.size(), right = region.end - high.begin;
    const auto least = static_cast<std::int32_t>(count > right ? count - right : 0);
    const auto most = static_cast<std::int32_t>(std::min(left, count));
    const std::vector<std::uint8_t> parts =
        tries_.lattice_bisection != nullptr
            ? tries_.lattice_bisection->split(graph, region.ranks, least, most, try_)
            : split_graph(graph, least, most, tries_.split, random_);
    for (std::size_t at = 0; at < count; ++at) {
      const Rank rank = region.ranks[at];
      (parts[at] == 0 ? low : high).ranks.push_back(rank);
      centre_[rank] = sides[parts[at]];
    }
    return {std::move(low), std::move(high)};
  }

  /// Among the children of the node below which the slots are, which are in order.
  std::vector<Region> divide(const Region& region) {
    std::vector<Region> best;
    std::int64_t least = 0;
    PartGraph graph;
    for (std::size_t attempt = 0; attempt < tries_.family; ++attempt) {
      const Middle whole = middle(region);
      for (const Rank rank : region.ranks) centre_[rank] = whole;
      std::vector<Region> children;
      try_ = attempt;
      gather(region, span(region), children);
      own(region);
      if (attempt == 0) {
        const double scale = std::min(1.0, 0x1p29 / static_cast<double>(weight_of(region)));
        graph = graph_of(region, scale, [](const Arc&) { return 0.0; });
      }
      std::vector<std::uint32_t> part = parts_of(region, children);
      // Exchanges save a few per cent, seldom more: what is far behind before them stays behind.
      if (!best.empty() && cut_of(graph, part) > least + least / kBehind) continue;
      const std::int64_t cut = exchange(region, graph, part, children);
      if (!best.empty() && cut >= least) continue;
      best = std::move(children);
      least = cut;
    }
    for (const Region& child : best) {
      const Middle here = middle(child);
      for (const Rank rank : child.ranks) centre_[rank] = here;
    }
    return best;
  }

  int span(const Region& region) const {
    return Families<Metric>::span(metric_, order_.data() + region.begin, order_.data() + region.end);
  }

  /// Bisects a region until no part spans as many hops as all.
  void gather(const Region& region, int most, std::vector<Region>& children) {
    const std::size_t left = span(region) == most ? bisect_region(region) : 0;
    if (left == 0) {
      children.push_back(region);
      return;
    }
    const auto [low, high] = split(region, left);
    gather(low, most, children);
    gather(high, most, children);
  }

  /// The child of each rank of a region, which is owned.
  std::vector<std::uint32_t> parts_of(const Region& region, const std::vector<Region>& children) const {
    std::vector<std::uint32_t> part(region.ranks.size());
    for (std::uint32_t child = 0; child < children.size(); ++child)
      for (const Rank rank : children[child].ranks) part[local_[rank]] = child;
    return part;
  }

  static std::int64_t cut_of(const PartGraph& graph, const std::vector<std::uint32_t>& part) {
    std::int64_t twice = 0;
    for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex)
      for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at)
        twice += part[graph.arcs[at].to] == part[vertex] ? 0 : graph.arcs[at].weight;
    return twice / 2;
  }

  /// Returns what is cut between the children in the end.
  std::int64_t exchange(const Region& region, const PartGraph& graph,
                        std::vector<std::uint32_t>& part, std::vector<Region>& children) const {
    std::vector<std::size_t> room;
    for (Region& child : children) {
      room.push_back(child.end - child.begin);
      child.ranks.clear();
    }
    const std::int64_t cut = exchange_siblings(graph, room, part);
    for (std::size_t at = 0; at < part.size(); ++at)
      children[part[at]].ranks.push_back(region.ranks[at]);
    return cut;
  }

  static constexpr std::int64_t kBehind = 16;

  const Flows& flows_;
  const Metric& metric_;
  const Tries tries_;
  Random& random_;
  std::vector<Slot> order_;
  std::vector<Middle> centre_;
  std::vector<std::uint32_t> local_, owner_;
  std::uint32_t owners_ = 0;
  std::size_t try_ = 0;  ///< of the division among children that is under way
};

template <typename Metric>
std::vector<Slot> dual_recursive_bisection(const Flows& flows, const Metric& metric, const Tries& tries,
                                           Random& random) {
  return DualBisection<Metric>(flows, metric, tries, random).run();
}

}  // namespace hamtune::mapper
