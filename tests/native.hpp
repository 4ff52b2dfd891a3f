// What tests in C++ share.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"
#include "searchspace/kernels/graph/random.hpp"

namespace hamtune::tests {

/// The edges of a random connected simple network: a random tree and `more` edges, as far as they fit.
inline std::vector<Edge> random_network(std::uint32_t nodes, std::uint32_t more, Random& random) {
  std::vector<Edge> edges;
  std::vector<bool> joined(std::size_t{nodes} * nodes, false);
  const auto join = [&](Node u, Node v) {
    if (u > v) std::swap(u, v);
    if (u == v || joined[std::size_t{u} * nodes + v]) return;
    joined[std::size_t{u} * nodes + v] = true;
    edges.push_back({u, v});
  };
  for (Node node = 1; node < nodes; ++node) join(random.below(node), node);
  for (std::uint32_t edge = 0; edge < more; ++edge) join(random.below(nodes), random.below(nodes));
  return edges;
}

/// The numbers below `count` in random order.
inline std::vector<std::uint32_t> random_order(std::uint32_t count, Random& random) {
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t at = 0; at < count; ++at) order[at] = at;
  for (std::uint32_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace hamtune::tests
