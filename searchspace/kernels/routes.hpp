// Minimal-hop routes under a tie rule. Header only, plain C++17: the one implementation, used by
// the simulator and, through nanobind, by Python.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph.hpp"

namespace hamtune {

/// A cable crossed by a route. `forward` is the direction u -> v of the edge (u < v).
struct Hop {
  std::uint32_t edge;
  bool forward;
};

inline bool operator==(const Hop& a, const Hop& b) {
  return a.edge == b.edge && a.forward == b.forward;
}

/// Which of several shortest paths is the route.
enum class TieRule { kLowestId, kSpread };

/// Throws std::invalid_argument when there is no such rule.
inline TieRule tie_rule(const std::string& name) {
  if (name == "lowest-id") return TieRule::kLowestId;
  if (name == "spread") return TieRule::kSpread;
  throw std::invalid_argument("must be \"lowest-id\" or \"spread\"");
}

/// The routes between all hosts of a network: the nodes 0 to hosts - 1. Where there are other nodes
/// (switches), hosts do not forward.
///
/// Under "lowest-id" the route s -> t, s < t, is the path from s to t in the breadth-first tree
/// rooted at s whose search visits neighbours in increasing id (a node's parent is its first
/// discoverer). Under "spread" the route is walked from t to s: where k neighbours in increasing
/// id are closer to s, it takes number q mod k and goes on with q / k, beginning with q = s. In a
/// fat tree that is D-mod-k routing: the hosts of a switch are reached over different
/// spines. The route t -> s is the route s -> t backwards. Ties between shortest paths move
/// simulated times by several percent, so the rule is part of a machine's identity.
///
///     hamtune::Routes routes(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
///     routes.path(0, 2);  // {{edge 0, forward}, {edge 1, forward}}: 0 -> 1 -> 2
///     routes.path(2, 0);  // {{edge 1, backward}, {edge 0, backward}}
///
/// Memory: 4 bytes a node, and time O(edges), for each host whose routes to larger ones are asked
/// for: found at the first question, so one object is for one thread.
class Routes {
 public:
  /// Throws std::invalid_argument when the edges are not those of a simple connected graph.
  Routes(std::size_t nodes, std::vector<Edge> edges)
      : Routes(nodes, std::move(edges), nodes, TieRule::kLowestId) {}

  Routes(std::size_t nodes, std::vector<Edge> edges, std::size_t hosts, TieRule rule)
      : nodes_(nodes),
        hosts_(hosts),
        rule_(rule),
        edges_(std::move(edges)),
        adjacency_(nodes_, edges_),
        rows_(hosts) {
    if (hosts > nodes) throw std::invalid_argument("there are more hosts than nodes");
    // Where hosts do not forward, one of several switches may see nodes that others do not.
    const std::size_t roots = one_tells_all() ? std::min<std::size_t>(hosts_, 1) : hosts_;
    for (Node root = 0; root < roots; ++root) row(root);
  }

  std::size_t nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }

  /// The hops from source to target, both hosts, in travel order; none when they are the same.
  std::vector<Hop> path(Node source, Node target) const {
    std::vector<Hop> hops;
    path(source, target, hops);
    return hops;
  }

  /// The same, in place of what `hops` holds.
  void path(Node source, Node target, std::vector<Hop>& hops) const {
    hops.clear();
    const Node root = std::min(source, target);
    std::size_t ties = root;
    for (Node node = std::max(source, target); node != root;) {
      const std::uint32_t index = rule_ == TieRule::kLowestId ? row(root)[node] : closer(root, node, ties);
      const Edge& edge = edges_[index];
      hops.push_back({index, node == edge.u});  // climbing: out of `node`, towards the root
      node = node == edge.u ? edge.v : edge.u;
    }
    if (source == root) {
      std::reverse(hops.begin(), hops.end());
      for (Hop& hop : hops) hop.forward = !hop.forward;
    }
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  const std::uint32_t* row(Node root) const {
    if (rows_[root].empty()) search(root);
    return rows_[root].data();
  }

  /// True when all hosts reach all nodes if the first one does.
  bool one_tells_all() const {
    if (hosts_ == nodes_ || hosts_ == 0) return true;
    for (Node host = 0; host < hosts_; ++host)
      if (adjacency_.end(host) - adjacency_.begin(host) > 1) return false;
    return true;
  }

  bool forwards(Node node) const { return hosts_ == nodes_ || node >= hosts_; }

  /// The edge from a node to one of the neighbours that are closer to the root.
  std::uint32_t closer(Node root, Node node, std::size_t& ties) const {
    const std::uint32_t* const hops = row(root);
    const auto leads = [&](const Neighbor& next) {
      return hops[next.node] + 1 == hops[node] && (next.node == root || forwards(next.node));
    };
    const auto choices = static_cast<std::size_t>(
        std::count_if(adjacency_.begin(node), adjacency_.end(node), leads));
    std::size_t skip = ties % choices;
    ties /= choices;
    const Neighbor* next = std::find_if(adjacency_.begin(node), adjacency_.end(node), leads);
    for (; skip > 0; --skip) next = std::find_if(next + 1, adjacency_.end(node), leads);
    return next->edge;
  }

  /// Fills the row of `root`: for every other node, the edge by which it was discovered (lowest-id)
  /// or how many hops away it is (spread).
  void search(Node root) const {
    std::vector<std::uint32_t>& found = rows_[root];
    found.assign(nodes_, kNone);
    queue_.resize(nodes_);
    const bool counts = rule_ == TieRule::kSpread;
    if (counts) found[root] = 0;
    std::size_t head = 0;
    std::size_t tail = 0;
    queue_[tail++] = root;
    while (head < tail) {
      const Node node = queue_[head++];
      if (node != root && !forwards(node)) continue;
      for (const Neighbor* next = adjacency_.begin(node); next != adjacency_.end(node); ++next) {
        if (next->node == root || found[next->node] != kNone) continue;
        found[next->node] = counts ? found[node] + 1 : next->edge;
        queue_[tail++] = next->node;
      }
    }
    if (tail != nodes_)
      throw std::invalid_argument("the network is not connected: " + std::to_string(tail) + " of " +
                                  std::to_string(nodes_) + " nodes are reached from node " +
                                  std::to_string(root));
  }

  std::size_t nodes_;
  std::size_t hosts_;
  TieRule rule_;
  std::vector<Edge> edges_;
  Adjacency adjacency_;
  mutable std::vector<std::vector<std::uint32_t>> rows_;  // [root][node], see search; when asked for
  mutable std::vector<Node> queue_;
};

}  // namespace hamtune
