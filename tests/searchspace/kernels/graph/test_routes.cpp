// Minimal-hop routes, held against Bellman-Ford and against their own definition.
#include "searchspace/kernels/graph/routes.hpp"

#include <limits>
#include <utility>

#include "tests/native.hpp"

namespace hamtune {
namespace {

constexpr int kFar = std::numeric_limits<int>::max() / 2;

/// Hops from a node to all, by relaxing all edges until nothing changes. Hosts do not forward where there
/// are other nodes.
std::vector<int> bellman_ford(std::size_t nodes, const std::vector<Edge>& edges, std::size_t hosts,
                              Node root) {
  std::vector<int> hops(nodes, kFar);
  hops[root] = 0;
  const auto forwards = [&](Node node) { return node == root || hosts == nodes || node >= hosts; };
  for (bool changed = true; std::exchange(changed, false);)
    for (const Edge& edge : edges)
      for (const auto& [from, to] : {std::pair{edge.u, edge.v}, std::pair{edge.v, edge.u}})
        if (forwards(from) && hops[from] + 1 < hops[to]) {
          hops[to] = hops[from] + 1;
          changed = true;
        }
  return hops;
}

/// The nodes that a route visits.
std::vector<Node> nodes_of(const Routes& routes, Node source, Node target) {
  std::vector<Node> visited{source};
  for (const Hop& hop : routes.path(source, target)) {
    const Edge& edge = routes.edges()[hop.edge];
    REQUIRE(visited.back() == (hop.forward ? edge.u : edge.v));
    visited.push_back(hop.forward ? edge.v : edge.u);
  }
  REQUIRE(visited.back() == target);
  return visited;
}

/// Of all shortest paths the first one in the order of dictionaries, found by walking from the root to where
/// hops to the target fall.
std::vector<Node> least_path(std::size_t nodes, const std::vector<Edge>& edges, std::size_t hosts,
                             Node root, Node target) {
  const Adjacency network(nodes, edges);
  const std::vector<int> left = bellman_ford(nodes, edges, hosts, target);
  std::vector<Node> path{root};
  while (path.back() != target)
    for (const Neighbor* n = network.begin(path.back());; ++n)
      if (left[n->node] + 1 == left[path.back()] &&
          (n->node == target || hosts == nodes || n->node >= hosts)) {
        path.push_back(n->node);
        break;
      }
  return path;
}

/// Hosts on one or two switches each of a random network of switches.
std::vector<Edge> on_switches(std::uint32_t hosts, std::uint32_t switches, Random& random) {
  std::vector<Edge> edges;
  for (const Edge& edge : tests::random_network(switches, switches, random))
    edges.push_back({edge.u + hosts, edge.v + hosts});
  for (Node host = 0; host < hosts; ++host) {
    const std::uint32_t one = random.below(switches);
    edges.push_back({host, hosts + one});
    if (random.below(2) == 0) edges.push_back({host, hosts + (one + 1) % switches});
  }
  return edges;
}

TEST_CASE("routes of a square go by the lowest ids, and back the same way") {
  const Routes routes(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  CHECK(nodes_of(routes, 0, 2) == std::vector<Node>{0, 1, 2});
  CHECK(nodes_of(routes, 2, 0) == std::vector<Node>{2, 1, 0});
  CHECK(nodes_of(routes, 1, 3) == std::vector<Node>{1, 0, 3});
  CHECK(routes.path(2, 2).empty());
}

TEST_CASE("in a fat tree routes of the rule spread are D-mod-k") {
  // Hosts 0 to 3 on leaves 4 and 5, two hosts each; spines 6 and 7.
  const std::vector<Edge> edges{{0, 4}, {1, 4}, {2, 5}, {3, 5}, {4, 6}, {4, 7}, {5, 6}, {5, 7}};
  const Routes routes(8, edges, 4, TieRule::kSpread);
  CHECK(nodes_of(routes, 0, 2) == std::vector<Node>{0, 4, 6, 5, 2});  // 0 mod 2: the first spine
  CHECK(nodes_of(routes, 1, 2) == std::vector<Node>{1, 4, 7, 5, 2});
  CHECK(nodes_of(routes, 1, 3) == std::vector<Node>{1, 4, 7, 5, 3});
  CHECK(nodes_of(routes, 3, 1) == std::vector<Node>{3, 5, 7, 4, 1});
}

TEST_CASE("routes are as short as Bellman-Ford says, under both rules, with and without switches") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const bool switched = random.below(2) == 0;
    const std::uint32_t hosts = 2 + random.below(12);
    const std::uint32_t switches = switched ? 3 + random.below(6) : 0;
    const std::vector<Edge> edges = switched ? on_switches(hosts, switches, random)
                                             : tests::random_network(hosts, random.below(20), random);
    const std::size_t nodes = hosts + switches;
    for (const TieRule rule : {TieRule::kLowestId, TieRule::kSpread}) {
      const Routes routes(nodes, edges, hosts, rule);
      for (Node source = 0; source < hosts; ++source) {
        const std::vector<int> hops = bellman_ford(nodes, edges, hosts, source);
        for (Node target = 0; target < hosts; ++target) {
          const std::vector<Node> there = nodes_of(routes, source, target);
          CHECK(static_cast<int>(there.size()) == hops[target] + 1);
          const std::vector<Node> back = nodes_of(routes, target, source);
          CHECK(std::equal(there.begin(), there.end(), back.rbegin(), back.rend()));
          for (std::size_t at = 1; switched && at + 1 < there.size(); ++at) CHECK(there[at] >= hosts);
          if (rule == TieRule::kLowestId && source < target)
            CHECK(there == least_path(nodes, edges, hosts, source, target));
        }
      }
    }
  }
}

TEST_CASE("in large networks the first routes of a host, found from both ends, are those of its tree") {
  // Above 512 nodes the first 32 routes of a root are searched singly, later ones read off its row.
  for (const bool switched : {false, true}) {
    CAPTURE(switched);
    Random random(7);
    const std::uint32_t hosts = switched ? 400 : 600;
    const std::vector<Edge> edges = switched ? on_switches(hosts, 200, random)
                                             : tests::random_network(hosts, 900, random);
    const std::size_t nodes = switched ? 600 : 600;
    const Routes routes(nodes, edges, hosts, TieRule::kLowestId);
    for (Node source = 0; source < 12; ++source)
      for (std::uint32_t asked = 0; asked < 40; ++asked) {
        const Node target = random.below(hosts);
        const Node root = std::min(source, target);
        const Node end = std::max(source, target);
        CHECK(nodes_of(routes, root, end) == least_path(nodes, edges, hosts, root, end));
        CHECK(nodes_of(routes, end, root).size() == nodes_of(routes, root, end).size());
      }
  }
}

TEST_CASE("networks in which hosts do not reach each other are refused") {
  CHECK_THROWS_WITH(Routes(4, {{0, 1}, {2, 3}}),
                    "the network is not connected: 2 of 4 nodes are reached from node 0");
  // Host 1 stands between the others and does not forward.
  CHECK_THROWS_AS(Routes(5, {{0, 3}, {1, 3}, {1, 4}, {2, 4}}, 3, TieRule::kLowestId),
                  std::invalid_argument);
  CHECK_THROWS_WITH(Routes(1, {}, 2, TieRule::kSpread), "there are more hosts than nodes");
  CHECK_THROWS_AS(tie_rule("random"), std::invalid_argument);
  CHECK(tie_rule("spread") == TieRule::kSpread);
}

}  // namespace
}  // namespace hamtune
