// Neighbour lists.
#include "searchspace/kernels/graph/graph.hpp"

#include "searchspace/kernels/graph/flat_graph.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

std::vector<Node> neighbors(const Adjacency& network, Node node) {
  std::vector<Node> found;
  for (const Neighbor* n = network.begin(node); n != network.end(node); ++n)
    found.push_back(n->node);
  return found;
}

TEST_CASE("neighbours stand in increasing id with the edge that leads there") {
  const Adjacency square(4, {{2, 3}, {0, 3}, {0, 1}, {1, 2}});
  CHECK(neighbors(square, 0) == std::vector<Node>{1, 3});
  CHECK(neighbors(square, 3) == std::vector<Node>{0, 2});
  CHECK(square.begin(3)->edge == 1);
}

TEST_CASE("edges that are no simple network are refused by name") {
  const auto network = [](std::vector<Edge> edges) { return Adjacency(3, edges); };
  CHECK_THROWS_WITH(network({{1, 1}}), "edge (1, 1) is not u < v < 3");
  CHECK_THROWS_WITH(network({{1, 0}}), "edge (1, 0) is not u < v < 3");
  CHECK_THROWS_WITH(network({{0, 3}}), "edge (0, 3) is not u < v < 3");
  CHECK_THROWS_WITH(network({{0, 2}, {0, 1}, {0, 2}}), "edge (0, 2) occurs twice");
}

TEST_CASE("nodes of a class become one, with the edges of one of them") {
  // A ring of six whose opposite nodes are a class: a ring of three.
  const FlatGraph ring(Adjacency(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 5}}));
  const FlatGraph half(ring, {0, 1, 2, 0, 1, 2});
  REQUIRE(half.nodes() == 3);
  for (Node node = 0; node < 3; ++node) {
    CHECK(half.degree(node) == 2);
    CHECK_FALSE(half.joined(node, node));
  }
  // Neighbours in pairs: the edge within a class goes, the two to the next classes stay.
  const FlatGraph pairs(ring, {0, 0, 1, 1, 2, 2});
  CHECK(pairs.degree(0) == 1);
}

TEST_CASE("a neighbour is replaced on one side only") {
  FlatGraph path(2, {1, 2, 0, 2, 0, 1});
  path.replace(0, 2, 7);
  CHECK(path.joined(0, 7));
  CHECK(path.joined(2, 0));
  CHECK(path.largest_degree() == 2);
}

}  // namespace
}  // namespace hamtune
