// Hops by the shape of a machine, held against searches in its network.
#include "searchspace/kernels/mapping/hops.hpp"

#include <cstdlib>

#include "searchspace/kernels/graph/distances.hpp"
#include "searchspace/kernels/graph/routes.hpp"
#include "searchspace/kernels/mapping/mapping_metrics.hpp"
#include "tests/searchspace/kernels/mapping/mappings.hpp"

namespace hamtune {
namespace {

TEST_CASE("leaves of a tree are twice the levels up to the node above both apart") {
  const TreeHops tree({3, 5, 2});  // no powers of two: codes have gaps
  REQUIRE(tree.leaves() == 30);
  for (std::uint32_t a = 0; a < 30; ++a)
    for (std::uint32_t b = 0; b < 30; ++b) {
      const std::uint32_t hops = a == b ? 0 : a / 2 == b / 2 ? 2 : a / 10 == b / 10 ? 4 : 6;
      REQUIRE(tree(a, b) == hops);
    }
  // A level of one child adds hops but no leaves.
  CHECK(TreeHops({2, 1})(0, 1) == 4);
  CHECK(TreeHops({1}).leaves() == 1);
}

TEST_CASE("trees of too many leaves are refused before they are made") {
  CHECK_THROWS_AS(TreeHops({0}), std::invalid_argument);
  CHECK_THROWS_AS(TreeHops({4096, 4097}), std::invalid_argument);
  CHECK_THROWS_AS(TreeHops({0xFFFFFFFF}), std::invalid_argument);
  // Levels of one child need no bits; 33 bits are too many whatever the leaves.
  CHECK_NOTHROW(TreeHops(std::vector<std::uint32_t>(40, 1)));
}

TEST_CASE("tori and meshes are as far across as their networks") {
  const std::vector<std::vector<std::int32_t>> shapes{{5}, {2}, {1, 4}, {4, 3}, {2, 3, 4}};
  for (const bool wrapped : {false, true})
    for (const std::vector<std::int32_t>& extents : shapes) {
      const GridHops grid(extents, wrapped);
      std::size_t nodes = 1;
      for (const std::int32_t extent : extents) nodes *= static_cast<std::size_t>(extent);
      std::vector<Edge> edges;
      for (Node a = 0; a < nodes; ++a)
        for (Node b = a + 1; b < nodes; ++b) {
          int axes_apart = 0, steps = 0;
          for (std::size_t axis = 0; axis < extents.size(); ++axis) {
            const int apart = std::abs(grid.place(a)[axis] - grid.place(b)[axis]);
            axes_apart += apart > 0 ? 1 : 0;
            steps += wrapped && apart == extents[axis] - 1 && apart > 0 ? 1 : apart;
          }
          if (axes_apart == 1 && steps == 1) edges.push_back({a, b});
        }
      const std::vector<std::uint16_t> hops = hop_distances(Adjacency(nodes, edges));
      for (Node a = 0; a < nodes; ++a)
        for (Node b = 0; b < nodes; ++b) REQUIRE(grid(a, b) == hops[a * nodes + b]);
    }
}

TEST_CASE("routers of a dragonfly are at most three hops apart, as a search says") {
  const std::pair<std::size_t, std::size_t> shapes[] = {{1, 3}, {2, 1}, {3, 2}, {5, 4}, {9, 4}, {6, 2}};
  for (const auto& shape : shapes) {
    const std::size_t groups = shape.first, routers = shape.second;
    CAPTURE(groups);
    std::vector<Edge> edges;
    for (std::size_t group = 0; group < groups; ++group)
      for (std::size_t a = 0; a < routers; ++a)
        for (std::size_t b = a + 1; b < routers; ++b)
          edges.push_back({static_cast<Node>(group * routers + a), static_cast<Node>(group * routers + b)});
    for (std::size_t x = 0; x < groups; ++x)
      for (std::size_t y = x + 1; y < groups; ++y)
        edges.push_back({static_cast<Node>(x * routers + (y - 1) % routers),
                         static_cast<Node>(y * routers + x % routers)});
    CHECK(dragonfly_hops(groups, routers) == hop_distances(Adjacency(groups * routers, edges)));
  }
}

TEST_CASE("tables have the hops of a network whose hosts forward, or do not") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const std::uint32_t switches = 3 + random.below(90), hosts = 2 + random.below(40);
    std::vector<Edge> edges;
    for (const Edge& edge : tests::random_network(switches, 3, random))
      edges.push_back({edge.u + hosts, edge.v + hosts});
    for (Node host = 0; host < hosts; ++host) edges.push_back({host, hosts + random.below(switches)});
    const Adjacency network(hosts + switches, edges);
    const HostHops hops = host_hops(network, hosts);
    const Routes routes(hosts + switches, edges, hosts, TieRule::kLowestId);
    for (Node a = 0; a < hosts; ++a)
      for (Node b = 0; b < hosts; ++b)
        REQUIRE(std::visit([=](const auto& between) { return between(a, b); }, hops) ==
                routes.path(a, b).size());
  }
}

TEST_CASE("a path of more than 255 hops takes the wider table") {
  std::vector<Edge> path;
  for (Node node = 0; node + 1 < 300; ++node) path.push_back({node, node + 1});
  const HostHops hops = host_hops(Adjacency(300, path), 300);
  REQUIRE(std::holds_alternative<TableHops<std::uint16_t>>(hops));
  CHECK(std::get<TableHops<std::uint16_t>>(hops)(0, 299) == 299);
  path.erase(path.begin() + 100);
  CHECK_THROWS_AS(host_hops(Adjacency(300, path), 300), std::invalid_argument);
}

TEST_CASE("cores of a host are apart by the tree inside it, others climb out and in") {
  const CoreHops cores = tests::machine(GridHops({3}, false), 3, 4, {2, 2});
  CHECK(cores(0, 0) == 0);
  CHECK(cores(0, 1) == 2);
  CHECK(cores(0, 3) == 4);
  CHECK(cores(0, 4) == 4 + 1);
  CHECK(cores(3, 8) == 4 + 2);
  CHECK(tests::machine(GridHops({3}, false), 3, 2)(0, 1) == 0);  // no tree: no distance
  CHECK_THROWS_AS(CoreHops(GridHops({2}, false), {0, 1}, {0}, {}), std::invalid_argument);
  CHECK_THROWS_AS(CoreHops(GridHops({2}, false), {0, 1}, {0, 4}, {2, 2}), std::invalid_argument);
}

TEST_CASE("bytes by hops and loads of edges are those of the routes") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const std::uint32_t nodes = 4 + random.below(20);
    const std::vector<Edge> edges = tests::random_network(nodes, nodes, random);
    const Adjacency network(nodes, edges);
    const CoreHops cores = tests::machine(host_hops(network, nodes), nodes, 1);
    const std::uint32_t ranks = 2 + random.below(nodes - 1);
    const tests::Traffic traffic = tests::random_traffic(ranks, 3 * ranks, random);
    const std::vector<std::uint32_t> places = tests::random_mapping(ranks, nodes, random);
    const Routes routes(nodes, edges);
    std::vector<std::int64_t> by_hops, loads(edges.size(), 0);
    const TrafficView view = traffic.view();
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (std::size_t at = view.begin(rank); at < view.end(rank); ++at) {
        if (view.partner[at] < rank) continue;
        const std::vector<Hop> path = routes.path(places[rank], places[view.partner[at]]);
        by_hops.resize(std::max(by_hops.size(), path.size() + 1), 0);
        by_hops[path.size()] += view.size[at];
        for (const Hop& hop : path) loads[hop.edge] += view.size[at];
      }
    std::vector<std::int64_t> found = bytes_by_hops(view, cores, places);
    if (by_hops.empty()) continue;  // nobody spoke to anybody
    CHECK(found == by_hops);
    CHECK(edge_loads(view, places, network, nodes, edges.size()) == loads);
  }
}

}  // namespace
}  // namespace hamtune
