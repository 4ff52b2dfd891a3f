// A simple undirected graph as sorted neighbour lists. Plain C++17, shared with the simulator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace hamtune {

using Node = std::uint32_t;

/// A cable between two nodes, u < v.
struct Edge {
  Node u;
  Node v;
};

/// A way out of a node: the node at the other end and the index of the edge that leads there.
struct Neighbor {
  Node node;
  std::uint32_t edge;
};

/// Neighbours of every node in increasing id, in one array (compressed sparse rows).
class Adjacency {
 public:
  /// Throws std::invalid_argument when an edge is not u < v < nodes or occurs twice.
  Adjacency(std::size_t nodes, const std::vector<Edge>& edges) : first_(nodes + 1, 0) {
    for (const Edge& edge : edges) {
      if (edge.u >= edge.v || edge.v >= nodes)
        throw std::invalid_argument("edge " + name(edge) + " is not u < v < " + std::to_string(nodes));
      ++first_[edge.u + 1];
      ++first_[edge.v + 1];
    }
    for (std::size_t node = 0; node < nodes; ++node) first_[node + 1] += first_[node];

    neighbors_.resize(2 * edges.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t index = 0; index < edges.size(); ++index) {
      const auto [u, v] = edges[index];
      neighbors_[next[u]++] = {v, static_cast<std::uint32_t>(index)};
      neighbors_[next[v]++] = {u, static_cast<std::uint32_t>(index)};
    }
    for (Node node = 0; node < nodes; ++node) sort_and_check(node);
  }

  std::size_t nodes() const { return first_.size() - 1; }
  const Neighbor* begin(Node node) const { return neighbors_.data() + first_[node]; }
  const Neighbor* end(Node node) const { return neighbors_.data() + first_[node + 1]; }

 private:
  static std::string name(const Edge& edge) {
    return "(" + std::to_string(edge.u) + ", " + std::to_string(edge.v) + ")";
  }

  void sort_and_check(Node node) {
    auto* const from = neighbors_.data() + first_[node];
    auto* const to = neighbors_.data() + first_[node + 1];
    std::sort(from, to, [](const Neighbor& a, const Neighbor& b) { return a.node < b.node; });
    const auto* twice = std::adjacent_find(
        from, to, [](const Neighbor& a, const Neighbor& b) { return a.node == b.node; });
    if (twice != to)
      throw std::invalid_argument(
          "edge " + name({std::min(node, twice->node), std::max(node, twice->node)}) + " occurs twice");
  }

  std::vector<std::size_t> first_;
  std::vector<Neighbor> neighbors_;
};

}  // namespace hamtune
