// Neighbour lists without anything else, in one array, for searches that read little but them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

/// The neighbours of node v are target[first[v]] up to target[first[v + 1]].
struct FlatGraph {
  std::vector<std::size_t> first;
  std::vector<Node> target;

  explicit FlatGraph(const Adjacency& adjacency) : first(adjacency.nodes() + 1, 0) {
    for (Node node = 0; node < adjacency.nodes(); ++node) {
      for (const Neighbor* n = adjacency.begin(node); n != adjacency.end(node); ++n)
        target.push_back(n->node);
      first[node + 1] = target.size();
    }
  }

  /// A network of one degree by the neighbours of all nodes, node by node.
  FlatGraph(std::size_t degree, std::vector<Node> targets)
      : first(targets.size() / degree + 1), target(std::move(targets)) {
    for (std::size_t node = 0; node < first.size(); ++node) first[node] = node * degree;
  }

  /// What is left when all nodes of a class become one, with the edges of one of them: loops go,
  /// parallel edges stay. Classes are numbered from 0, have the same size, and look the same from all
  /// nodes in them; so a cut that divides none is as many times as wide as they are large.
  FlatGraph(const FlatGraph& whole, const std::vector<Node>& classes) : first(1, 0) {
    std::vector<Node> member(whole.nodes());
    Node count = 0;
    for (Node node = 0; node < whole.nodes(); ++node) {
      member[classes[node]] = node;
      count = std::max(count, classes[node] + 1);
    }
    for (Node one = 0; one < count; ++one) {
      for (const Node* n = whole.begin(member[one]); n != whole.end(member[one]); ++n)
        if (classes[*n] != one) target.push_back(classes[*n]);
      first.push_back(target.size());
    }
  }

  std::size_t nodes() const { return first.size() - 1; }
  const Node* begin(Node node) const { return target.data() + first[node]; }
  const Node* end(Node node) const { return target.data() + first[node + 1]; }
  std::size_t degree(Node node) const { return first[node + 1] - first[node]; }

  std::size_t largest_degree() const {
    std::size_t largest = 0;
    for (Node node = 0; node < nodes(); ++node) largest = std::max(largest, degree(node));
    return largest;
  }

  bool joined(Node u, Node v) const { return std::find(begin(u), end(u), v) != end(u); }

  /// Makes `now` a neighbour of `node` in the place of `before`, on this side only.
  void replace(Node node, Node before, Node now) {
    *std::find(target.data() + first[node], target.data() + first[node + 1], before) = now;
  }
};

}  // namespace hamtune
