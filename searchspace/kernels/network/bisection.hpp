// Small cuts into two halves: Fiduccia-Mattheyses from many starts. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/flat_graph.hpp"
#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/graph/waiting_nodes.hpp"

namespace hamtune {

/// The half that each node is in, 0 or 1.
using Sides = std::vector<std::uint8_t>;

inline std::size_t cut_width(const FlatGraph& graph, const Sides& sides) {
  std::size_t twice = 0;
  for (Node node = 0; node < graph.nodes(); ++node)
    for (const Node* n = graph.begin(node); n != graph.end(node); ++n)
      twice += sides[node] != sides[*n];
  return twice / 2;
}

/// Improves splits into halves that differ by at most one node.
///
/// Fiduccia and Mattheyses, "A linear-time heuristic for improving network partitions" (1982): move
/// the free node of the largest gain, always out of the larger half, until all have moved, and go
/// back to the narrowest balanced state; repeat while that narrows the cut. The graph may change
/// between calls as long as the degrees stay.
///
/// Only the first `counted` nodes may have to be halved: hosts, when switches without hosts follow
/// them. The others may lie anywhere, so they move whenever their gain is the largest.
class Bisector {
 public:
  explicit Bisector(const FlatGraph& graph) : Bisector(graph, graph.nodes()) {}
  Bisector(const FlatGraph& graph, std::size_t counted)
      : graph_(graph),
        counted_(counted),
        reach_(static_cast<int>(graph.largest_degree())),
        few_(graph.nodes() <= kFewNodes && buckets() <= WaitingBits::kMostBuckets),
        gain_(graph.nodes()),
        bits_(few_ ? graph.nodes() : 0, kQueues, buckets()),
        lists_(few_ ? 0 : graph.nodes(), kQueues, buckets()) {}

  /// Narrows a split whose halves differ by at most one node; returns the edges it cuts.
  std::size_t improve(Sides& sides) {
    return few_ ? improve(bits_, sides) : improve(lists_, sides);
  }

  /// Draws a split uniformly; every half of the counted nodes is as likely.
  Sides random_split(Random& random) {
    order_.resize(counted_);
    for (std::size_t node = 0; node < counted_; ++node) order_[node] = static_cast<Node>(node);
    Sides sides(graph_.nodes(), 1);
    for (std::size_t place = 0; place < counted_ / 2; ++place) {
      const auto rest = static_cast<std::uint32_t>(counted_ - place);
      std::swap(order_[place], order_[place + random.below(rest)]);
      sides[order_[place]] = 0;
    }
    for (std::size_t node = counted_; node < sides.size(); ++node)
      sides[node] = random.below(2) != 0;
    return sides;
  }

  /// Exchanges `pairs` random pairs of counted nodes of different halves.
  void disturb(Sides& sides, std::size_t pairs, Random& random) const {
    const auto nodes = static_cast<std::uint32_t>(counted_);
    if (nodes < 2) return;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      Node from = random.below(nodes);
      Node to = random.below(nodes);
      while (sides[from] != 0) from = random.below(nodes);
      while (sides[to] != 1) to = random.below(nodes);
      std::swap(sides[from], sides[to]);
    }
  }

 private:
  static constexpr std::size_t kUncounted = 2;
  static constexpr std::size_t kQueues = 3;
  static constexpr std::size_t kFewNodes = 1024;

  std::size_t buckets() const { return 2 * static_cast<std::size_t>(reach_) + 1; }
  std::size_t bucket_of(Node node) const {
    return static_cast<std::size_t>(gain_[node] + reach_);
  }

  /// Counted nodes wait by the half they are in, the others apart.
  std::size_t queue_of(Node node, std::uint8_t side) const {
    return node < counted_ ? side : kUncounted;
  }

  template <class Waiting>
  std::size_t improve(Waiting& waiting, Sides& sides) {
    std::size_t width = survey(sides);
    while (width > 0) {
      const std::size_t narrower = pass(waiting, sides, width);
      if (narrower == width) break;
      width = narrower;
    }
    return width;
  }

  /// Counts the gain of all nodes and the size of the halves; returns the edges cut.
  std::size_t survey(const Sides& sides) {
    size_[0] = size_[1] = 0;
    std::size_t twice = 0;
    for (Node node = 0; node < graph_.nodes(); ++node) {
      int across = 0;
      for (const Node* n = graph_.begin(node); n != graph_.end(node); ++n)
        across += sides[*n] ^ sides[node];
      gain_[node] = 2 * across - static_cast<int>(graph_.degree(node));
      twice += static_cast<std::size_t>(across);
      if (node < counted_) ++size_[sides[node]];
    }
    return twice / 2;
  }

  /// Where the node waits that moves next.
  template <class Waiting>
  std::size_t queue_to_leave(Waiting& waiting) {
    std::size_t side = 0;
    if (size_[0] != size_[1])
      side = size_[0] > size_[1] ? 0 : 1;
    else
      side = waiting.highest(0) >= waiting.highest(1) ? 0 : 1;
    if (counted_ == graph_.nodes()) return side;
    return waiting.highest(kUncounted) > waiting.highest(side) ? kUncounted : side;
  }

  /// Moves a node to the other half; `told` hears of each neighbour with its gain before.
  template <class Told>
  void move(Node node, Sides& sides, Told told) {
    const std::uint8_t from = sides[node];
    sides[node] = from ^ 1U;
    gain_[node] = -gain_[node];
    if (node < counted_) {
      --size_[from];
      ++size_[from ^ 1U];
    }
    for (const Node* n = graph_.begin(node); n != graph_.end(node); ++n) {
      const std::size_t before = bucket_of(*n);
      gain_[*n] += sides[*n] == from ? 2 : -2;
      told(*n, before);
    }
  }

  template <class Waiting>
  std::size_t pass(Waiting& waiting, Sides& sides, std::size_t width) {
    waiting.clear();
    for (Node node = 0; node < graph_.nodes(); ++node)
      waiting.put(queue_of(node, sides[node]), bucket_of(node), node);
    moved_.clear();
    auto now = static_cast<std::int64_t>(width);
    std::int64_t best = now;
    std::size_t kept = 0;
    // A pass that goes on for longer finds more, but less than further passes in the same time.
    const std::size_t patience = graph_.nodes() / 6 + 20;
    const std::size_t oddness = counted_ % 2;
    while (moved_.size() - kept < patience) {
      const std::size_t queue = queue_to_leave(waiting);
      const int highest = waiting.highest(queue);
      if (highest < 0) break;
      const auto bucket = static_cast<std::size_t>(highest);
      const Node node = waiting.first(queue, bucket);
      waiting.take(queue, bucket, node);
      now -= gain_[node];
      move(node, sides, [&](Node other, std::size_t before) {
        waiting.shift(queue_of(other, sides[other]), before, bucket_of(other), other);
      });
      moved_.push_back(node);
      const std::size_t difference =
          size_[0] > size_[1] ? size_[0] - size_[1] : size_[1] - size_[0];
      if (difference <= oddness && now < best) {
        best = now;
        kept = moved_.size();
      }
    }
    for (std::size_t index = moved_.size(); index-- > kept;)
      move(moved_[index], sides, [](Node, std::size_t) {});
    return static_cast<std::size_t>(best);
  }

  const FlatGraph& graph_;
  std::size_t counted_;
  int reach_;  // gains are from -reach_ to reach_
  bool few_;
  std::vector<int> gain_;
  WaitingBits bits_;
  WaitingLists lists_;
  std::vector<Node> order_;
  std::vector<Node> moved_;
  std::size_t size_[2] = {0, 0};
};

/// Moves those of the first `counted` nodes whose leaving costs least out of the larger half until
/// they are halved.
inline void balance(const FlatGraph& graph, Sides& sides, std::size_t counted) {
  const auto last = sides.begin() + static_cast<std::ptrdiff_t>(counted);
  const std::int64_t ones = std::count(sides.begin(), last, std::uint8_t{1});
  std::int64_t excess = 2 * ones - static_cast<std::int64_t>(counted);
  const std::uint8_t large = excess > 0 ? 1 : 0;
  for (excess = std::abs(excess); excess > 1; excess -= 2) {
    Node cheapest = 0;
    std::int64_t best_gain = std::numeric_limits<std::int64_t>::min();
    for (Node node = 0; node < counted; ++node) {
      if (sides[node] != large) continue;
      std::int64_t gain = 0;
      for (const Node* n = graph.begin(node); n != graph.end(node); ++n)
        gain += sides[*n] != large ? 1 : -1;
      if (gain > best_gain) {
        best_gain = gain;
        cheapest = node;
      }
    }
    sides[cheapest] = large ^ 1U;
  }
}

struct Bisection {
  Sides sides;
  std::size_t width = 0;
};

/// The narrowest of `starts` >= 1 splits. Of each twenty the first one comes from a random split,
/// any other from the narrowest of them after a disturbance of a sixteenth of the nodes.
inline Bisection bisect(Bisector& bisector, std::size_t nodes, std::size_t starts, Random& random) {
  constexpr std::size_t chain = 20;
  Bisection best;
  Bisection now;
  for (std::size_t start = 0; start < starts; ++start) {
    Sides sides = now.sides;
    if (start % chain == 0)
      sides = bisector.random_split(random);
    else
      bisector.disturb(sides, nodes / 16 + 1, random);
    const std::size_t width = bisector.improve(sides);
    // Among equals the newer one, so that the disturbances wander.
    if (start % chain == 0 || width <= now.width) now = {std::move(sides), width};
    if (start == 0 || now.width < best.width) best = now;
    if (best.width == 0) break;
  }
  return best;
}

}  // namespace hamtune
