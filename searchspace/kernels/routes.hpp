// Minimal-hop routes under the tie rule "lowest-id". Header only, plain C++17: the one
// implementation, used by the simulator and, through nanobind, by Python.
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

/// All routes of a network.
///
/// For s < t the route is the path from s to t in the breadth-first tree rooted at s whose search
/// visits neighbours in increasing id (a node's parent is its first discoverer); the route t -> s
/// is the same path backwards. Ties between shortest paths move simulated times by several
/// percent, so this rule is part of a machine's identity.
///
///     hamtune::Routes routes(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
///     routes.path(0, 2);  // {{edge 0, forward}, {edge 1, forward}}: 0 -> 1 -> 2
///     routes.path(2, 0);  // {{edge 1, backward}, {edge 0, backward}}
///
/// Memory: 4 bytes a pair of nodes. Time: O(nodes x edges).
class Routes {
 public:
  /// Throws std::invalid_argument when the edges are not those of a simple connected graph.
  Routes(std::size_t nodes, std::vector<Edge> edges)
      : nodes_(nodes), edges_(std::move(edges)), parent_edge_(nodes * nodes, kNone) {
    const Adjacency adjacency(nodes_, edges_);
    std::vector<Node> queue(nodes_);
    for (Node root = 0; root < nodes_; ++root) search(adjacency, root, queue);
  }

  std::size_t nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }

  /// The hops from source to target in travel order; none when they are the same node.
  std::vector<Hop> path(Node source, Node target) const {
    std::vector<Hop> hops;
    const Node root = std::min(source, target);
    const std::uint32_t* const parent_edge = parent_edge_.data() + root * nodes_;
    for (Node node = std::max(source, target); node != root;) {
      const std::uint32_t index = parent_edge[node];
      const Edge& edge = edges_[index];
      hops.push_back({index, node == edge.u});  // climbing: out of `node`, towards the root
      node = node == edge.u ? edge.v : edge.u;
    }
    if (source == root) {
      std::reverse(hops.begin(), hops.end());
      for (Hop& hop : hops) hop.forward = !hop.forward;
    }
    return hops;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// Fills the row of `root`: the edge by which every other node was discovered.
  void search(const Adjacency& adjacency, Node root, std::vector<Node>& queue) {
    std::uint32_t* const parent_edge = parent_edge_.data() + root * nodes_;
    std::size_t head = 0;
    std::size_t tail = 0;
    queue[tail++] = root;
    while (head < tail) {
      const Node node = queue[head++];
      for (const Neighbor* next = adjacency.begin(node); next != adjacency.end(node); ++next) {
        if (next->node == root || parent_edge[next->node] != kNone) continue;
        parent_edge[next->node] = next->edge;
        queue[tail++] = next->node;
      }
    }
    if (tail != nodes_)
      throw std::invalid_argument("the network is not connected: " + std::to_string(tail) + " of " +
                                  std::to_string(nodes_) + " nodes are reached from node " +
                                  std::to_string(root));
  }

  std::size_t nodes_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> parent_edge_;  // [root * nodes_ + node]
};

}  // namespace hamtune
