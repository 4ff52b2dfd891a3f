// Random groups: the axioms, and what is said of their subgroups.
#include "searchspace/kernels/network/solvable_group.hpp"

#include <set>

#include "searchspace/kernels/graph/distances.hpp"
#include "searchspace/kernels/network/lifting.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

using Element = SolvableGroup::Element;

TEST_CASE("what is drawn is a group") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::uint32_t order = 1 + random.below(36);
    const SolvableGroup group(order, random);
    REQUIRE(group.order() == order);
    for (std::uint32_t a = 0; a < order; ++a) {
      CHECK(group.product(a, 0) == a);
      CHECK(group.product(0, a) == a);
      CHECK(group.product(a, group.inverse(a)) == 0);
      CHECK(order % group.order_of(static_cast<Element>(a)) == 0);  // Lagrange
      CHECK(group.times(a)[0] == a);
      for (std::uint32_t b = 0; b < order; ++b)
        for (std::uint32_t c = 0; c < order; ++c)
          if (group.product(group.product(a, b), c) != group.product(a, group.product(b, c)))
            FAIL("not associative: ", a, " ", b, " ", c);
    }
  }
}

TEST_CASE("groups that do not commute come out, too") {
  // Of the five groups of order 8 two do not commute, and one of the two of order 6.
  for (const std::uint32_t order : {6U, 8U}) {
    std::set<bool> commute;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      Random random(seed);
      const SolvableGroup group(order, random);
      bool all = true;
      for (std::uint32_t a = 0; a < order; ++a)
        for (std::uint32_t b = 0; b < order; ++b) all &= group.product(a, b) == group.product(b, a);
      commute.insert(all);
    }
    CHECK(commute.size() == 2);
  }
}

TEST_CASE("a power of prime order; one generator of each class of cyclic subgroups") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const SolvableGroup group(2 + random.below(30), random);
    const std::vector<Element> generators = group.cyclic_subgroups();
    std::set<std::set<Element>> found;  // all conjugates of what they generate
    for (const Element generator : generators) {
      const Element power = group.prime_power(generator);
      const std::uint32_t prime = group.order_of(power);
      for (std::uint32_t divisor = 2; divisor < prime; ++divisor) CHECK(prime % divisor != 0);
      for (std::uint32_t by = 0; by < group.order(); ++by) {
        const Element turned = group.product(group.product(by, generator), group.inverse(by));
        std::set<Element> powers;
        for (Element now = turned; powers.insert(now).second;) now = group.product(now, turned);
        found.insert(powers);
      }
    }
    std::set<std::set<Element>> all;
    for (std::uint32_t element = 1; element < group.order(); ++element) {
      std::set<Element> powers;
      for (auto now = static_cast<Element>(element); powers.insert(now).second;)
        now = group.product(now, element);
      all.insert(powers);
    }
    CHECK(found == all);
  }
}

TEST_CASE("groups without an order, or of too large a one, are refused") {
  Random random(1);
  CHECK_THROWS_AS(SolvableGroup(0, random), std::invalid_argument);
  CHECK_THROWS_AS(SolvableGroup(SolvableGroup::kLargestOrder + 1, random), std::invalid_argument);
}

TEST_CASE("lifted networks are simple, regular, and as far across as a search says") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::uint32_t bases = 1U << random.below(3), degree = 3;
    const std::uint32_t order = 2 * (3 + random.below(10));
    Lifting lifting(SolvableGroup(order, random), bases, degree);
    const std::vector<Lift> lifts = lifting.draw(random);
    if (lifts.empty()) continue;
    REQUIRE(lifting.fits(lifts));
    const std::vector<Node>& targets = lifting.targets(lifts);
    const std::uint32_t nodes = order * bases;
    REQUIRE(targets.size() == std::size_t{nodes} * degree);
    std::vector<Edge> edges;
    for (Node node = 0; node < nodes; ++node)
      for (std::uint32_t k = 0; k < degree; ++k)
        if (node < targets[node * degree + k]) edges.push_back({node, targets[node * degree + k]});
    CHECK(edges.size() == std::size_t{nodes} * degree / 2);
    const Adjacency network(nodes, edges);  // refuses loops and double edges
    const DistanceSummary summary = summarize_distances(network);
    const std::size_t hops = lifting.hops(lifts, Lifting::kFar);
    if (summary.pairs < std::uint64_t{nodes} * (nodes - 1))
      CHECK(hops == Lifting::kFar);
    else
      CHECK(hops * bases / 12 * order == summary.sum);  // told for twelve sources
  }
}

}  // namespace
}  // namespace hamtune
