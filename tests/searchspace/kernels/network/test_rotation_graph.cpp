// Distances of networks with a rotation, in every set of instructions, held against plain searches.
#include "searchspace/kernels/network/rotation_graph.hpp"

#include <cstring>

#include "searchspace/kernels/graph/distances.hpp"
#include "searchspace/kernels/graph/instructions.hpp"
#include "searchspace/kernels/network/orbit_moves.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

/// Fills a network with random orbits as long as some fit.
std::vector<Orbit> random_orbits(RotationGraph& graph, Random& random) {
  std::vector<Orbit> orbits;
  for (int tried = 0; tried < 400; ++tried) {
    const Orbit orbit{random.below(graph.bases()), random.below(graph.bases()),
                      random.below(graph.symmetry())};
    try {
      link_checked(graph, orbit);
      orbits.push_back(orbit);
    } catch (const std::invalid_argument&) {  // no room for it
    }
  }
  return orbits;
}

DistanceSummary plain_summary(const RotationGraph& graph, const std::vector<Orbit>& orbits) {
  return summarize_distances(
      Adjacency(graph.nodes(), edges_of(orbits, graph.symmetry(), graph.bases())));
}

/// The sum from the base nodes is that of all nodes, divided by the turns.
void check_distances(RotationGraph& graph, const std::vector<Orbit>& orbits) {
  const DistanceSummary plain = plain_summary(graph, orbits);
  const DistanceSum found = graph.evaluate(1'000'000'000, 0, 0);
  if (plain.pairs < std::uint64_t{graph.nodes()} * (graph.nodes() - 1)) {
    CHECK(found.cost == RotationGraph::kTooFar);
    return;
  }
  CHECK(static_cast<std::uint64_t>(found.cost) * graph.symmetry() == plain.sum);
  CHECK(found.diameter == plain.diameter);
}

TEST_CASE("distances are those of a plain search while orbits come and go") {
  // Rows of one byte up to several vectors, with and without a copy beside them.
  const std::uint32_t shapes[][3] = {{8, 3, 1},  {12, 3, 4},  {48, 4, 12},  {64, 4, 1},
                                     {90, 3, 2}, {300, 5, 1}, {320, 4, 32}, {600, 6, 3}};
  for (const auto& shape : shapes) {
    const std::uint32_t nodes = shape[0], degree = shape[1], symmetry = shape[2];
    CAPTURE(nodes);
    CAPTURE(symmetry);
    Random random(nodes);
    RotationGraph graph(nodes, degree, symmetry);
    std::vector<Orbit> orbits = random_orbits(graph, random);
    check_distances(graph, orbits);
    OrbitMoves moves(graph, orbits);
    for (int step = 0; step < 30; ++step) {
      OrbitChange change;
      if (!moves.choose(random, change) || !moves.apply(change)) {
        check_distances(graph, orbits);
        continue;
      }
      if (random.below(2) == 0)
        moves.undo(change);
      else
        moves.remember(change);
      check_distances(graph, orbits);
    }
    for (std::uint32_t base = 0; base < graph.bases(); ++base)
      CHECK(graph.degree_of(base) <= degree);
  }
}

TEST_CASE("pairs that are farther apart than the goal cost a penalty each") {
  // A ring of eight: from one node two are 1, 2 and 3 hops away and one is 4.
  RotationGraph ring(8, 2, 8);
  ring.link({0, 0, 1});
  CHECK(ring.evaluate(1000, 0, 0).cost == 2 + 4 + 6 + 4);
  CHECK(ring.evaluate(1000, 4, 100).cost == 16);
  CHECK(ring.evaluate(1000, 3, 100).cost == 16 + 100);
  CHECK(ring.evaluate(1000, 1, 100).cost == 16 + 500);
  CHECK(ring.evaluate(15, 0, 0).cost == RotationGraph::kTooFar);
  CHECK(ring.evaluate(16, 0, 0).diameter == 4);
}

TEST_CASE("an edge to the opposite node gives each node one cable, not two") {
  RotationGraph graph(6, 3, 6);
  const Orbit opposite{0, 0, 3};
  CHECK(graph.is_self_paired(opposite));
  graph.link(opposite);
  CHECK(graph.degree_of(0) == 1);
  CHECK_FALSE(graph.fits(opposite));
  CHECK_FALSE(graph.fits({0, 0, 0}));
  graph.link({0, 0, 1});
  CHECK(graph.degree_of(0) == 3);
  CHECK_THROWS_AS(link_checked(graph, {0, 0, 2}), std::invalid_argument);  // no free port
  CHECK_THROWS_AS(link_checked(graph, {1, 0, 2}), std::invalid_argument);  // no such node
  CHECK(edges_of({opposite, {0, 0, 1}}, 6, 1).size() == 3 + 6);
}

TEST_CASE("one node alone is no distance away") {
  CHECK(RotationGraph(1, 1, 1).evaluate(0, 0, 0).cost == 0);
}

TEST_CASE("networks that cannot be are refused") {
  CHECK_THROWS_AS(RotationGraph(8, 3, 3), std::invalid_argument);
  CHECK_THROWS_AS(RotationGraph(8, 3, 0), std::invalid_argument);
  CHECK_THROWS_AS(RotationGraph(8, 0, 1), std::invalid_argument);
}

TEST_CASE("a level of the search comes to the same by all instructions of this processor") {
  Random random(9);
  for (const std::uint32_t vector : {8U, 16U, 32U})
    for (const std::uint32_t vectors : {1U, 2U, 3U, 5U})
      for (const std::uint32_t degree : {1U, 3U, 4U, 8U, 11U}) {
        LevelShape shape;
        shape.rows = 7;
        shape.degree = degree;
        shape.vector = vector;
        shape.vectors = vectors;
        shape.stride = vector * vectors;
        for (unsigned word = 0; word < vector / 8; ++word) shape.last_mask[word] = 0x00FF'FFFF'00FF'FFFF;
        std::vector<std::uint64_t> from(shape.rows * shape.stride / 8 + 32);
        for (std::uint64_t& word : from) word = random.next() & random.next();
        std::vector<std::uint32_t> pieces;
        for (std::uint32_t each = 0; each < shape.rows * degree; ++each)
          pieces.push_back(random.below(shape.rows) * shape.stride);
        const auto run = [&](LevelFunction level) {
          // Both lie where a line of the cache begins, as a network's matrices do.
          alignas(64) std::uint8_t source[2048] = {};
          alignas(64) std::uint8_t target[2048] = {};
          std::memcpy(source, from.data(), shape.rows * shape.stride);
          const std::uint64_t count = level(shape, source, target, pieces.data());
          return std::pair{count, std::vector<std::uint8_t>(target, target + shape.rows * shape.stride)};
        };
        const auto portable = run(portable_level(shape));
#ifdef HAMTUNE_X86_LEVELS
        const Instructions most = usable_instructions();
        if (most != Instructions::kPortable) CHECK(run(avx2_level(shape)) == portable);
        if (most == Instructions::kAvx512) CHECK(run(avx512_level(shape)) == portable);
#endif
        CHECK(portable.first > 0);
      }
}

}  // namespace
}  // namespace hamtune
