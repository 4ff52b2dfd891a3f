// Cuts into halves: what moves change, held against counting the edges.
#include <limits>

#include "searchspace/kernels/graph/instructions.hpp"
#include "searchspace/kernels/network/bisection.hpp"
#include "searchspace/kernels/network/cut_annealing.hpp"
#include "searchspace/kernels/network/cut_pool.hpp"
#include "searchspace/kernels/network/orbit_moves.hpp"
#include "searchspace/kernels/network/split_bits.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

FlatGraph random_graph(std::uint32_t nodes, std::uint32_t more, Random& random) {
  return FlatGraph(Adjacency(nodes, tests::random_network(nodes, more, random)));
}

std::size_t nodes_in(const Sides& sides, std::size_t counted, std::uint8_t side) {
  return static_cast<std::size_t>(
      std::count(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(counted), side));
}

/// The fewest edges between halves of the counted nodes; the others lie anywhere.
std::size_t narrowest_of_all(const FlatGraph& graph, std::size_t counted) {
  std::size_t narrowest = std::numeric_limits<std::size_t>::max();
  for (std::uint32_t set = 0; set < 1U << graph.nodes(); ++set) {
    Sides sides(graph.nodes());
    for (std::size_t node = 0; node < sides.size(); ++node)
      sides[node] = static_cast<std::uint8_t>(set >> node & 1U);
    if (nodes_in(sides, counted, 1) != counted / 2) continue;
    narrowest = std::min(narrowest, cut_width(graph, sides));
  }
  return narrowest;
}

TEST_CASE("the narrowest bisection of small networks is found, with and without switches") {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::uint32_t nodes = 4 + random.below(8);
    const FlatGraph graph = random_graph(nodes, random.below(14), random);
    const std::size_t counted = 2 + random.below(nodes - 1);
    Bisector bisector(graph, counted);
    const Bisection found = bisect(bisector, nodes, 40, random);
    CHECK(found.width == cut_width(graph, found.sides));
    const std::size_t zeros = nodes_in(found.sides, counted, 0);
    CHECK((zeros == counted / 2 || zeros == counted - counted / 2));
    CHECK(found.width == narrowest_of_all(graph, counted));
  }
}

TEST_CASE("improving never widens a cut, keeps the halves, and tells the width that it has") {
  for (const std::uint32_t nodes : {20U, 61U, 1100U}) {  // bits up to 1,024 nodes, lists above
    CAPTURE(nodes);
    Random random(nodes);
    const FlatGraph graph = random_graph(nodes, 2 * nodes, random);
    Bisector bisector(graph);
    for (int start = 0; start < 3; ++start) {
      Sides sides = bisector.random_split(random);
      const std::size_t before = cut_width(graph, sides);
      const std::size_t after = bisector.improve(sides);
      CHECK(after == cut_width(graph, sides));
      CHECK(after <= before);
      const std::size_t zeros = nodes_in(sides, nodes, 0);
      CHECK((zeros == nodes / 2 || zeros == nodes - nodes / 2));
      bisector.disturb(sides, 5, random);
      CHECK(nodes_in(sides, nodes, 0) == zeros);
    }
  }
}

TEST_CASE("halves are balanced by the nodes whose leaving costs least") {
  // A path of six, all on one side: the ends leave first, and the edges cut are few.
  const FlatGraph path(Adjacency(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}));
  Sides sides(6, 1);
  balance(path, sides, 6);
  CHECK(nodes_in(sides, 6, 0) == 3);
  CHECK(cut_width(path, sides) <= 2);
}

TEST_CASE("annealed splits are halves whose widths are those of their edges") {
  for (const std::uint32_t counted : {12U, 17U}) {
    Random random(counted);
    const FlatGraph graph = random_graph(17, 25, random);
    CutAnnealing annealing(graph, counted);
    annealing.run(30, random);
    std::size_t narrowest = std::numeric_limits<std::size_t>::max();
    for (unsigned split = 0; split < CutAnnealing::kSplits; ++split) {
      const Sides sides = annealing.sides(split);
      const std::size_t zeros = nodes_in(sides, counted, 0);
      REQUIRE((zeros == counted / 2 || zeros == counted - counted / 2));
      REQUIRE(annealing.widths()[split] == cut_width(graph, sides));
      narrowest = std::min(narrowest, cut_width(graph, sides));
    }
    CHECK(annealing.widths()[annealing.narrowest()] == narrowest);
    CHECK(narrowest == narrowest_of_all(graph, counted));
  }
}

TEST_CASE("exchanges in 512 splits at once come to the same one by one, by all instructions") {
  Random random(4);
  for (const bool regular : {true, false}) {
    CAPTURE(regular);
    // A ring with chords to the node opposite, or a network of any degrees.
    std::vector<Edge> edges;
    for (Node node = 0; node < 20; ++node) {
      edges.push_back({std::min(node, (node + 1) % 20), std::max(node, (node + 1) % 20)});
      if (node < 10) edges.push_back({node, node + 10});
    }
    const FlatGraph graph =
        regular ? FlatGraph(Adjacency(20, edges)) : random_graph(20, 30, random);
    const SplitNetwork network{graph.first.data(), graph.target.data(), 20, regular ? 3U : 0U};
    std::vector<SplitBits> start(20);
    for (SplitBits& bits : start)
      for (std::uint64_t& word : bits.words) word = random.next();
    std::vector<Exchange> proposals;
    for (int each = 0; each < 60; ++each) {
      const std::uint32_t u = random.below(20), v = random.below(20);
      if (u == v && regular) continue;
      proposals.push_back({u, v, random.below(6)});
    }

    const auto sides_of = [](const std::vector<SplitBits>& bits, unsigned split) {
      Sides sides;
      for (const SplitBits& node : bits)
        sides.push_back(static_cast<std::uint8_t>(node.words[split / 64] >> (split % 64) & 1U));
      return sides;
    };
    const auto cut_edges = [&](const Sides& sides, Node node) {
      std::uint32_t cut = 0;
      for (const Node* n = graph.begin(node); n != graph.end(node); ++n) cut += sides[*n] != sides[node];
      return cut;
    };
    const auto run = [&](const SplitFunctions& functions) {
      std::vector<SplitBits> bits = start;
      functions.exchange(network, bits.data(), proposals.data(), proposals.data() + proposals.size());
      std::vector<SplitBits> digits(kCountDigits);
      functions.count(network, bits.data(), digits.data());
      for (unsigned split = 0; split < SplitBits::kSplits; ++split) {
        Sides sides = sides_of(start, split);
        for (const Exchange& proposal : proposals) {
          const bool alone = proposal.u == proposal.v;
          const std::uint32_t cut = cut_edges(sides, proposal.u) + (alone ? 0 : cut_edges(sides, proposal.v));
          if ((!alone && sides[proposal.u] == sides[proposal.v]) || cut < proposal.needed) continue;
          sides[proposal.u] ^= 1U;
          if (!alone) sides[proposal.v] ^= 1U;
        }
        REQUIRE(sides_of(bits, split) == sides);
        std::size_t width = 0;
        for (unsigned digit = 0; digit < kCountDigits; ++digit)
          width += static_cast<std::size_t>(digits[digit].words[split / 64] >> (split % 64) & 1U) << digit;
        REQUIRE(width == cut_width(graph, sides));
      }
    };
    run(portable_splits(network));
#ifdef HAMTUNE_X86_LEVELS
    if (usable_instructions() != Instructions::kPortable) run(avx2_splits(network));
    if (usable_instructions() == Instructions::kAvx512) run(avx512_splits(network));
#endif
  }
}

TEST_CASE("a pool of cuts knows the widths as orbits come and go") {
  for (const auto& shape : {std::pair{24U, 1U}, {24U, 4U}, {140U, 70U}, {128U, 64U}}) {
    const std::uint32_t nodes = shape.first, symmetry = shape.second;
    CAPTURE(symmetry);
    Random random(symmetry);
    RotationGraph graph(nodes, 4, symmetry);
    std::vector<Orbit> orbits;
    for (int tried = 0; tried < 300; ++tried) {
      const Orbit orbit{random.below(graph.bases()), random.below(graph.bases()), random.below(symmetry)};
      try {
        link_checked(graph, orbit);
        orbits.push_back(orbit);
      } catch (const std::invalid_argument&) {
      }
    }
    const auto width = [&](const CutPool& pool, std::size_t cut) {
      const FlatGraph now(Adjacency(nodes, edges_of(orbits, symmetry, graph.bases())));
      return cut_width(now, pool.sides(cut));
    };
    const double sharpness = 0.5;
    CutPool pool(nodes, symmetry, 2 * nodes, sharpness);
    for (int each = 0; each < 12; ++each) {
      Sides sides(nodes);
      for (std::uint8_t& side : sides) side = static_cast<std::uint8_t>(random.below(2));
      pool.add(sides, orbits);
      // The same cut turned round, and its complement, are known already.
      std::rotate(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(graph.bases()), sides.end());
      CHECK_FALSE(pool.add(sides, orbits));
      for (std::uint8_t& side : sides) side ^= 1U;
      CHECK_FALSE(pool.add(sides, orbits));
    }
    const auto check = [&] {
      double load = 0;
      std::size_t narrowest = std::numeric_limits<std::size_t>::max();
      for (std::size_t cut = 0; cut < pool.size(); ++cut) {
        REQUIRE(pool.width(cut) == width(pool, cut));
        load += std::exp(-sharpness * static_cast<double>(pool.width(cut)));
        narrowest = std::min(narrowest, pool.width(cut));
      }
      CHECK(pool.load() == doctest::Approx(load));
      CHECK(pool.narrowest() == narrowest);
    };
    check();
    OrbitMoves moves(graph, orbits);
    for (int step = 0; step < 20; ++step) {
      OrbitChange change;
      if (!moves.choose(random, change) || !moves.apply(change)) continue;
      const double load = pool.load_after(change, std::numeric_limits<double>::infinity());
      pool.exchange();
      CHECK(pool.load() == doctest::Approx(load));
      if (random.below(2) == 0) {
        moves.undo(change);
        pool.take_back(orbits);
      } else {
        moves.remember(change);
      }
      check();
    }
    pool.shrink(5);
    CHECK(pool.size() == 5);
    check();
  }
}

}  // namespace
}  // namespace hamtune
