// Canonical forms, counted against the known numbers of cubic networks.
#include "searchspace/kernels/network/small_graph.hpp"

#include <set>

#include "tests/native.hpp"

namespace hamtune {
namespace {

using Code = CanonicalForm::Code;

const CanonicalForm::Labels kAlike{};

SmallGraph network(unsigned nodes, const std::vector<Edge>& edges) {
  SmallGraph graph(nodes);
  for (const Edge& edge : edges) graph.flip(edge.u, edge.v);
  return graph;
}

SmallGraph renamed(const SmallGraph& graph, const std::vector<std::uint32_t>& name) {
  SmallGraph other(graph.nodes);
  for (unsigned u = 0; u < graph.nodes; ++u)
    for (NodeMask rest = graph.neighbors[u]; rest != 0; rest &= rest - 1)
      if (u < lowest(rest)) other.flip(name[u], name[lowest(rest)]);
  return other;
}

/// Adds edges until every node has three, in all ways; tells of each network.
template <typename Tell>
void each_cubic(SmallGraph& graph, Tell& tell) {
  unsigned node = 0;
  while (node < graph.nodes && graph.degree(node) == 3) ++node;
  if (node == graph.nodes) return tell(graph);
  // The free node of the least number takes its next neighbour above the last one, so none comes twice.
  const NodeMask above = graph.neighbors[node] >> node;
  const unsigned first = node + (above == 0 ? 1 : 64 - static_cast<unsigned>(__builtin_clzll(above)));
  for (unsigned other = first; other < graph.nodes; ++other) {
    if (graph.degree(other) == 3) continue;
    graph.flip(node, other);
    each_cubic(graph, tell);
    graph.flip(node, other);
  }
}

/// All cubic networks with named nodes, and how many differ but for the names.
std::pair<std::size_t, std::size_t> cubic_networks(unsigned nodes) {
  SmallGraph graph(nodes);
  CanonicalForm canonical;
  std::set<Code> different;
  std::size_t named = 0;
  auto tell = [&](const SmallGraph& found) {
    ++named;
    different.insert(canonical.of(found, kAlike));
  };
  each_cubic(graph, tell);
  return {named, different.size()};
}

TEST_CASE("there are 1, 2 and 6 cubic networks of 4, 6 and 8 nodes") {
  // OEIS A002829 (with names) and A005638 (without).
  CHECK(cubic_networks(4) == std::pair<std::size_t, std::size_t>{1, 1});
  CHECK(cubic_networks(6) == std::pair<std::size_t, std::size_t>{70, 2});
  CHECK(cubic_networks(8) == std::pair<std::size_t, std::size_t>{19355, 6});
}

TEST_CASE("the form does not depend on the names of the nodes") {
  Random random(5);
  CanonicalForm canonical;
  for (int each = 0; each < 60; ++each) {
    const unsigned nodes = 5 + random.below(20);
    std::vector<Edge> kept;
    std::vector<unsigned> degree(nodes, 0);
    for (const Edge& edge : tests::random_network(nodes, nodes, random)) {
      if (degree[edge.u] == 4 || degree[edge.v] == 4) continue;
      ++degree[edge.u];
      ++degree[edge.v];
      kept.push_back(edge);
    }
    const SmallGraph graph = network(nodes, kept);
    CanonicalForm::Labels labels{};
    for (unsigned node = 0; node < nodes; ++node) labels[node] = random.below(2);
    const std::vector<std::uint32_t> name = tests::random_order(nodes, random);
    CanonicalForm::Labels moved{};
    for (unsigned node = 0; node < nodes; ++node) moved[name[node]] = labels[node];
    CHECK(canonical.of(graph, labels) == canonical.of(renamed(graph, name), moved));
  }
}

TEST_CASE("symmetric networks, in which colours split nothing, have one form as well") {
  // A ring of 16, a torus of 4 x 4, the Petersen network.
  std::vector<Edge> ring, torus, petersen;
  for (Node node = 0; node < 16; ++node) {
    const Node next = (node + 1) % 16;
    ring.push_back({std::min(node, next), std::max(node, next)});
    const Node right = node / 4 * 4 + (node + 1) % 4, below = (node + 4) % 16;
    torus.push_back({std::min(node, right), std::max(node, right)});
    torus.push_back({std::min(node, below), std::max(node, below)});
  }
  for (Node node = 0; node < 5; ++node) {
    petersen.push_back({node, node + 5});
    const Node next = (node + 1) % 5, star = 5 + (node + 2) % 5;
    petersen.push_back({std::min(node, next), std::max(node, next)});
    petersen.push_back({std::min(node + 5, star), std::max(node + 5, star)});
  }
  Random random(2);
  CanonicalForm canonical;
  for (const auto& [nodes, edges] : {std::pair{16U, ring}, {16U, torus}, {10U, petersen}}) {
    const SmallGraph graph = network(nodes, edges);
    const Code form = canonical.of(graph, kAlike);
    for (int each = 0; each < 10; ++each)
      CHECK(canonical.of(renamed(graph, tests::random_order(nodes, random)), kAlike) == form);
  }
}

TEST_CASE("nodes within some hops of a node") {
  const SmallGraph path = network(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  CHECK(path.within(2, 0) == 0b00100);
  CHECK(path.within(2, 1) == 0b01110);
  CHECK(path.within(0, 9) == path.all());
  CHECK(path.beside(0b10001) == 0b01010);
  CHECK(SmallGraph(64).all() == ~NodeMask{0});
}

}  // namespace
}  // namespace hamtune
