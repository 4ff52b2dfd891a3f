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

#include "searchspace/kernels/graph/graph.hpp"

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
/// Routes are found when they are asked for, so one object is for one thread. Memory: 4 bytes a node, and
/// time O(edges), for each host whose routes to larger ones are asked for. Of large networks single routes
/// under "lowest-id" are found by searches from both of their ends that meet, which remember nothing.
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
    if (is_single(root)) {
      between(source, target, hops);
      return;
    }
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

  /// Whether a route is to be found without the row of its root: the first few of large networks.
  bool is_single(Node root) const {
    if (rule_ != TieRule::kLowestId || nodes_ <= kSmall || !rows_[root].empty()) return false;
    if (asked_.empty()) asked_.assign(hosts_, 0);
    return ++asked_[root] <= kFew;
  }

  /// What a search from one end of a route has seen.
  struct Side {
    std::vector<std::uint32_t> depth;  // by node; of this search where `search` says so
    std::vector<std::uint32_t> search;
    std::vector<Node> seen;            // in order of depth
    std::size_t level = 0;             // where the deepest begin
    std::uint32_t deepest = 0;

    void begin(Node root, std::size_t nodes, std::uint32_t number) {
      depth.resize(nodes);
      search.resize(nodes, 0);
      seen.assign(1, root);
      level = 0;
      deepest = 0;
      depth[root] = 0;
      search[root] = number;
    }

    bool has(Node node, std::uint32_t number) const { return search[node] == number; }
  };

  /// The path of the breadth-first tree: of all shortest paths from the root, the one whose nodes come
  /// first in the order of dictionaries, since nodes of one level are visited in that order.
  void between(Node source, Node target, std::vector<Hop>& hops) const {
    if (source == target) return;
    const Node root = std::min(source, target);
    const Node end = std::max(source, target);
    const std::uint32_t number = ++searches_;
    from_root_.begin(root, nodes_, number);
    from_end_.begin(end, nodes_, number);
    std::vector<Node> meeting;
    while (meeting.empty()) {
      const bool grows_root = from_root_.seen.size() - from_root_.level <=
                              from_end_.seen.size() - from_end_.level;
      Side& grown = grows_root ? from_root_ : from_end_;
      const Side& other = grows_root ? from_end_ : from_root_;
      deepen(grown, grows_root ? root : end, number);
      for (std::size_t index = grown.level; index < grown.seen.size(); ++index) {
        const Node node = grown.seen[index];
        const bool passes = forwards(node) || node == root || node == end;
        if (passes && other.has(node, number) && other.depth[node] == other.deepest)
          meeting.push_back(node);
      }
    }
    lead_to(meeting, number);
    Node node = root;
    for (std::uint32_t depth = 1; node != end; ++depth) {
      const bool before_meeting = depth <= from_root_.deepest;
      const std::uint32_t left = from_root_.deepest + from_end_.deepest - depth;
      const Neighbor* next = adjacency_.begin(node);
      while (before_meeting
                 ? !(leads_[next->node] == number && from_root_.depth[next->node] == depth)
                 : !(from_end_.has(next->node, number) && from_end_.depth[next->node] == left &&
                     (next->node == end || forwards(next->node))))
        ++next;
      hops.push_back({next->edge, node == edges_[next->edge].u});
      node = next->node;
    }
    if (source == root) return;
    std::reverse(hops.begin(), hops.end());
    for (Hop& hop : hops) hop.forward = !hop.forward;
  }

  /// Sees the nodes one hop further.
  void deepen(Side& side, Node root, std::uint32_t number) const {
    const std::size_t end = side.seen.size();
    for (std::size_t index = side.level; index < end; ++index) {
      const Node node = side.seen[index];
      if (node != root && !forwards(node)) continue;
      for (const Neighbor* next = adjacency_.begin(node); next != adjacency_.end(node); ++next) {
        if (side.has(next->node, number)) continue;
        side.search[next->node] = number;
        side.depth[next->node] = side.deepest + 1;
        side.seen.push_back(next->node);
      }
    }
    side.level = end;
    ++side.deepest;
  }

  /// Notes which nodes on the root's side lie on shortest paths to these.
  void lead_to(std::vector<Node> nodes, std::uint32_t number) const {
    leads_.resize(nodes_, 0);
    for (const Node node : nodes) leads_[node] = number;
    for (std::uint32_t depth = from_root_.deepest; depth > 1; --depth) {
      std::vector<Node> closer;
      for (const Node node : nodes)
        for (const Neighbor* next = adjacency_.begin(node); next != adjacency_.end(node); ++next) {
          if (leads_[next->node] == number || !from_root_.has(next->node, number) ||
              from_root_.depth[next->node] + 1 != depth || !forwards(next->node))
            continue;
          leads_[next->node] = number;
          closer.push_back(next->node);
        }
      nodes.swap(closer);
    }
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

  // For single routes.
  static constexpr std::size_t kSmall = 512;   // nodes of a network where a row costs nothing
  static constexpr std::uint32_t kFew = 32;    // routes of a root that cost less than its row
  mutable std::vector<std::uint32_t> asked_;   // by root
  mutable std::uint32_t searches_ = 0;
  mutable Side from_root_;
  mutable Side from_end_;
  mutable std::vector<std::uint32_t> leads_;  // by node, the last search in which it led to the end
};

}  // namespace hamtune
