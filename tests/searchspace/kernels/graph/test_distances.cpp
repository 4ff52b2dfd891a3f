// Hop distances, Hamiltonian cycles, and the random numbers below all.
#include "searchspace/kernels/graph/distances.hpp"

#include <set>

#include "searchspace/kernels/graph/hamiltonian.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

std::vector<std::uint16_t> floyd_warshall(std::size_t nodes, const std::vector<Edge>& edges) {
  std::vector<std::uint32_t> hops(nodes * nodes, kUnreachable);
  for (std::size_t node = 0; node < nodes; ++node) hops[node * nodes + node] = 0;
  for (const Edge& edge : edges) hops[edge.u * nodes + edge.v] = hops[edge.v * nodes + edge.u] = 1;
  for (std::size_t by = 0; by < nodes; ++by)
    for (std::size_t from = 0; from < nodes; ++from)
      for (std::size_t to = 0; to < nodes; ++to)
        hops[from * nodes + to] =
            std::min(hops[from * nodes + to], hops[from * nodes + by] + hops[by * nodes + to]);
  return {hops.begin(), hops.end()};
}

TEST_CASE("distances are those of Floyd and Warshall, in batches of every width") {
  // 64, 128, 256 and 512 sources at once, with a last batch that is not full.
  for (const std::uint32_t nodes : {1U, 2U, 63U, 64U, 65U, 128U, 130U, 257U, 300U}) {
    CAPTURE(nodes);
    Random random(nodes);
    std::vector<Edge> edges = tests::random_network(nodes, nodes / 4, random);
    if (nodes > 100) edges.erase(edges.begin() + 40);  // most likely two pieces
    const Adjacency network(nodes, edges);
    const std::vector<std::uint16_t> hops = hop_distances(network);
    CHECK(hops == floyd_warshall(nodes, edges));
    std::uint64_t sum = 0, pairs = 0;
    unsigned longest = 0;
    for (const std::uint16_t one : hops) {
      if (one == 0 || one == kUnreachable) continue;
      sum += one;
      ++pairs;
      longest = std::max<unsigned>(longest, one);
    }
    const DistanceSummary summary = summarize_distances(network);
    CHECK(summary.sum == sum);
    CHECK(summary.pairs == pairs);
    CHECK(summary.diameter == longest);
  }
}

TEST_CASE("a Hamiltonian cycle is closed and visits each node once") {
  // A cube has one; so have random networks with a ring in them.
  const std::vector<Edge> cube{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                               {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Adjacency network(8, cube);
    const std::vector<Node> walk = hamiltonian_walk(network, seed, 100);
    REQUIRE(walk.size() == 8);
    CHECK(std::set<Node>(walk.begin(), walk.end()).size() == 8);
    for (std::size_t at = 0; at < 8; ++at) {
      const Node next = walk[(at + 1) % 8];
      CHECK(std::any_of(network.begin(walk[at]), network.end(walk[at]),
                        [next](const Neighbor& n) { return n.node == next; }));
    }
  }
}

TEST_CASE("where there is no Hamiltonian cycle the longest path found is told") {
  // A star of three rays: at most three nodes stand on a path.
  const std::vector<Node> walk = hamiltonian_walk(Adjacency(4, {{0, 1}, {0, 2}, {0, 3}}), 1, 20);
  CHECK(walk.size() == 3);
  CHECK(hamiltonian_walk(Adjacency(1, {}), 1, 3) == std::vector<Node>{0});
}

TEST_CASE("random numbers are those of xoshiro256** after SplitMix64") {
  // Vigna's reference: SplitMix64 from 0 gives these four words of state; the first number is
  // rotl(state[1] * 5, 7) * 9.
  const std::uint64_t word = 0x6e789e6aa1b965f4U * 5;
  Random random(0);
  CHECK(random.next() == ((word << 7U) | (word >> 57U)) * 9);
}

TEST_CASE("numbers below a limit stay below it and take all values; units lie in [0, 1)") {
  Random random(3);
  for (const std::uint32_t limit : {1U, 2U, 7U, 0xFFFFFFFFU}) {
    std::set<std::uint32_t> seen;
    for (int draw = 0; draw < 300; ++draw) {
      const std::uint32_t drawn = random.below(limit);
      REQUIRE(drawn < limit);
      seen.insert(drawn);
    }
    CHECK(seen.size() >= std::min<std::size_t>(limit, 7));
  }
  for (int draw = 0; draw < 1000; ++draw) {
    const double unit = random.unit();
    REQUIRE(unit >= 0);
    REQUIRE(unit < 1);
  }
}

}  // namespace
}  // namespace hamtune
