// Dual recursive bisection: the machine and the traffic are halved together. Plain C++17.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

#include "searchspace/kernels/mapper/bisection.hpp"
#include "searchspace/kernels/mapper/flows.hpp"
#include "searchspace/kernels/mapper/metrics.hpp"
#include "searchspace/kernels/random.hpp"

namespace hamtune::mapper {

/// Reorders slots so that the first so many are one half of them, close together, and the others
/// the other; 0 when all are at the same distance from each other.
std::size_t halve(const TreeMetric& metric, Slot* begin, Slot* end);
std::size_t halve(const GridMetric& metric, Slot* begin, Slot* end);
std::size_t halve(const TableMetric& metric, Slot* begin, Slot* end);

/// Halves slots below a node of a tree between two of its children, as close to the middle as can be.
template <typename Code, typename Hops>
std::size_t halve_codes(Slot* begin, Slot* end, const Code& code, const Hops& hops) {
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
std::size_t halve(const InsideMetric<Hosts>& metric, Slot* begin, Slot* end) {
  const std::size_t hosts = halve(metric.hosts(), begin, end);
  if (hosts != 0) return hosts;
  return halve_codes(begin, end, [&](Slot slot) { return metric.inside(slot); },
                     [&](std::uint32_t a, std::uint32_t b) { return metric.hops_inside(a, b); });
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
struct Middles<InsideMetric<Hosts>> {
  using Middle = typename Middles<Hosts>::Middle;
  static constexpr int kPerHop = Middles<Hosts>::kPerHop;
  static Middle of(const InsideMetric<Hosts>& metric, const Slot* begin, const Slot* end) {
    return Middles<Hosts>::of(metric.hosts(), begin, end);
  }
  static int apart(const InsideMetric<Hosts>& metric, const Middle& a, const Middle& b) {
    return Middles<Hosts>::apart(metric.hosts(), a, b);
  }
};

/// Splits the ranks among both halves of the machine, and so on down to single slots, as Scotch
/// does (Pellegrini and Roman 1996): what ranks exchange with ranks outside pulls them to the half
/// that is closer. Where slots are to spare, halves take what suits the traffic.
///
/// Returns the slot of each rank.
template <typename Metric>
std::vector<Slot> halve_together(const Flows& flows, const Metric& metric, Random& random) {
  struct Region {
    std::vector<Rank> ranks;
    std::size_t begin, end;
  };
  const std::size_t slots = metric.slots();
  std::vector<Slot> order(slots), result(flows.ranks());
  std::iota(order.begin(), order.end(), 0U);
  using Middle = typename Middles<Metric>::Middle;
  const auto middle = [&](std::size_t begin, std::size_t end) {
    return Middles<Metric>::of(metric, order.data() + begin, order.data() + end);
  };
  const auto apart_of = [&](const Middle& a, const Middle& b) {
    return Middles<Metric>::apart(metric, a, b);
  };
  std::vector<Middle> centre(flows.ranks(), middle(0, slots));
  std::vector<std::uint32_t> local(flows.ranks(), 0), owner(flows.ranks(), 0);
  std::uint32_t owners = 0;

  std::deque<Region> queue(1);
  queue.front().ranks.resize(flows.ranks());
  std::iota(queue.front().ranks.begin(), queue.front().ranks.end(), 0U);
  queue.front().begin = 0;
  queue.front().end = slots;
  while (!queue.empty()) {
    Region region = std::move(queue.front());
    queue.pop_front();
    if (region.ranks.empty()) continue;
    Slot* const from = order.data() + region.begin;
    Slot* const to = order.data() + region.end;
    const std::size_t left = to - from == 1 ? 0 : halve(metric, from, to);
    if (left == 0) {
      for (std::size_t at = 0; at < region.ranks.size(); ++at)
        result[region.ranks[at]] = from[at];
      continue;
    }
    const std::size_t half = region.begin + left;
    const Middle sides[2] = {middle(region.begin, half), middle(half, region.end)};

    ++owners;
    for (std::uint32_t at = 0; at < region.ranks.size(); ++at) {
      local[region.ranks[at]] = at;
      owner[region.ranks[at]] = owners;
    }
    const int apart = std::max(apart_of(sides[0], sides[1]), 1);
    std::int64_t sum = 1;
    for (const Rank rank : region.ranks)
      for (const Arc* arc = flows.begin(rank); arc != flows.end(rank); ++arc) sum += arc->weight;
    const double scale =
        std::min(1.0, 0x1p29 / (static_cast<double>(sum) * std::max(metric.diameter() * Middles<Metric>::kPerHop, 1)));
    PartGraph graph;
    graph.first.reserve(region.ranks.size() + 1);
    graph.first.push_back(0);
    graph.size.assign(region.ranks.size(), 1);
    graph.pull.reserve(region.ranks.size());
    for (const Rank rank : region.ranks) {
      std::int64_t pull = 0;
      for (const Arc* arc = flows.begin(rank); arc != flows.end(rank); ++arc) {
        const std::int64_t weight = arc->weight;
        if (owner[arc->to] == owners)
          graph.arcs.push_back({local[arc->to], static_cast<std::int32_t>(
                                                    static_cast<double>(weight * apart) * scale)});
        else
          pull += weight * (apart_of(centre[arc->to], sides[1]) - apart_of(centre[arc->to], sides[0]));
      }
      graph.pull.push_back(static_cast<std::int32_t>(static_cast<double>(pull) * scale));
      graph.first.push_back(static_cast<std::uint32_t>(graph.arcs.size()));
    }
    const std::size_t count = region.ranks.size(), right = region.end - half;
    const std::vector<std::uint8_t> parts =
        split_graph(std::move(graph), static_cast<std::int32_t>(count > right ? count - right : 0),
                    static_cast<std::int32_t>(std::min(left, count)), random);

    Region low{{}, region.begin, half}, high{{}, half, region.end};
    for (std::size_t at = 0; at < count; ++at) {
      const Rank rank = region.ranks[at];
      (parts[at] == 0 ? low : high).ranks.push_back(rank);
      centre[rank] = sides[parts[at]];
    }
    queue.push_back(std::move(low));
    queue.push_back(std::move(high));
  }
  return result;
}

}  // namespace hamtune::mapper
