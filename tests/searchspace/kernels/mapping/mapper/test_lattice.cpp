// Stencils that are recognised whatever their ranks are called, and bounds that no mapping breaks.
#include "searchspace/kernels/mapping/mapper/lattice.hpp"

#include <set>

#include "searchspace/kernels/mapping/mapper/bounds.hpp"
#include "searchspace/kernels/mapping/mapper/machine.hpp"
#include "tests/searchspace/kernels/mapping/mappings.hpp"

namespace hamtune::mapper {
namespace {

struct Stencil {
  std::vector<std::int32_t> extents;
  std::vector<bool> rings;
};

/// Neighbours along axis a exchange a + 1 bytes; ranks have random names.
tests::Traffic traffic_of(const Stencil& stencil, Random& random) {
  std::uint32_t ranks = 1;
  for (const std::int32_t extent : stencil.extents) ranks *= static_cast<std::uint32_t>(extent);
  const std::vector<std::uint32_t> name = tests::random_order(ranks, random);
  tests::Traffic::Pairs pairs;
  std::uint32_t stride = 1;
  for (std::size_t axis = 0; axis < stencil.extents.size(); ++axis) {
    const auto extent = static_cast<std::uint32_t>(stencil.extents[axis]);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::uint32_t at = rank / stride % extent;
      if (at + 1 == extent && !stencil.rings[axis]) continue;
      const std::uint32_t next = at + 1 == extent ? rank - at * stride : rank + stride;
      pairs[{std::min(name[rank], name[next]), std::max(name[rank], name[next])}] =
          static_cast<std::int64_t>(axis) + 1;
    }
    stride *= extent;
  }
  return tests::Traffic(ranks, pairs);
}

Flows flows_of(const tests::Traffic& traffic) {
  return Flows(traffic.first.data(), traffic.first.size() - 1, traffic.partner.data(), traffic.size.data());
}

const std::vector<Stencil> kStencils{
    {{7}, {false}},           {{9}, {true}},
    {{3, 5}, {false, false}}, {{5, 3}, {true, false}},
    {{5, 6}, {true, true}},   {{2, 3, 4}, {false, false, false}},
    {{3, 5, 2}, {false, true, false}}};

TEST_CASE("products of paths and rings are recognised under any numbering") {
  Random random(6);
  for (const Stencil& stencil : kStencils) {
    const Flows flows = flows_of(traffic_of(stencil, random));
    const std::optional<Lattice> lattice = recognise_lattice(flows, 1);
    REQUIRE(lattice);
    std::multiset<std::pair<std::int32_t, bool>> found, wanted;
    for (const Lattice::Axis& axis : lattice->axes) found.insert({axis.extent, axis.ring});
    for (std::size_t axis = 0; axis < stencil.extents.size(); ++axis)
      wanted.insert({stencil.extents[axis], stencil.rings[axis]});
    CHECK(found == wanted);
    double weight = 0;
    for (const Lattice::Axis& axis : lattice->axes) weight += axis.weight;
    CHECK(weight == static_cast<double>(flows.total()));
    std::set<std::vector<std::int32_t>> places;
    for (Rank rank = 0; rank < flows.ranks(); ++rank) {
      std::vector<std::int32_t> place;
      for (std::size_t axis = 0; axis < lattice->axes.size(); ++axis) place.push_back(lattice->at(rank, axis));
      places.insert(place);
      for (const Arc* arc = flows.begin(rank); arc != flows.end(rank); ++arc) {
        int steps = 0;
        for (std::size_t axis = 0; axis < lattice->axes.size(); ++axis) {
          const std::int32_t extent = lattice->axes[axis].extent;
          const std::int32_t apart = std::abs(lattice->at(rank, axis) - lattice->at(arc->to, axis));
          steps += lattice->axes[axis].ring ? std::min(apart, extent - apart) : apart;
        }
        CHECK(steps == 1);
      }
    }
    CHECK(places.size() == flows.ranks());
  }
}

TEST_CASE("a ring of four counts as two axes of two, until it is asked for as a ring") {
  Random random(1);
  const Flows flows = flows_of(traffic_of({{4}, {true}}, random));
  const std::optional<Lattice> lattice = recognise_lattice(flows, 1);
  REQUIRE(lattice);
  CHECK(lattice->axes.size() == 2);
  const std::optional<Lattice> ring = with_rings_of_four(*lattice);
  REQUIRE(ring);
  REQUIRE(ring->axes.size() == 1);
  CHECK(ring->axes[0].extent == 4);
  CHECK(ring->axes[0].ring);
  CHECK_FALSE(with_rings_of_four(*ring));
}

TEST_CASE("what is no stencil is none") {
  const auto recognised = [](std::size_t ranks, const tests::Traffic::Pairs& pairs) {
    return recognise_lattice(flows_of(tests::Traffic(ranks, pairs)), 1).has_value();
  };
  CHECK_FALSE(recognised(4, {{{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 1}}));               // a star
  CHECK_FALSE(recognised(4, {{{0, 1}, 1}, {{2, 3}, 1}}));                             // two pieces
  CHECK_FALSE(recognised(5, {{{0, 1}, 1}, {{1, 2}, 1}, {{0, 2}, 1}, {{2, 3}, 1}, {{3, 4}, 1}}));
  CHECK_FALSE(recognised(3, {{{0, 1}, 1}}));                                          // one says nothing
}

TEST_CASE("no mapping costs less than the bound") {
  Random random(8);
  const std::vector<Stencil> stencils{{{6}, {false}}, {{7}, {true}}, {{2, 3}, {false, false}}, {{4}, {true}}};
  std::size_t told = 0;
  for (const Stencil& stencil : stencils) {
    const tests::Traffic traffic = traffic_of(stencil, random);
    const Flows flows = flows_of(traffic);
    const std::optional<Lattice> lattice = recognise_lattice(flows, 1);
    REQUIRE(lattice);
    std::vector<CoreHops> machines;
    machines.push_back(tests::machine(TreeHops({4, 2}), 8, 1));
    machines.push_back(tests::machine(TreeHops({2, 2}), 4, 2, {2}));
    machines.push_back(tests::machine(GridHops({2, 4}, false), 8, 1));
    machines.push_back(tests::machine(GridHops({4}, true), 4, 2));
    machines.push_back(tests::machine(RouterHops(2, 4, dragonfly_hops(2, 2)), 8, 1));
    for (const CoreHops& cores : machines) {
      const std::int64_t bound = with_metric(cores, 4, [&](const auto& metric) {
        return least_cost(*lattice, flows, metric.slots(), shells(metric));
      });
      told += bound > 0 ? 1 : 0;
      std::vector<Slot> slots(cores.cores());
      for (Slot slot = 0; slot < slots.size(); ++slot) slots[slot] = slot;
      std::int64_t least = 1 << 20;
      do {
        std::int64_t cost = 0;
        for (Rank rank = 0; rank < flows.ranks(); ++rank)
          for (const Arc* arc = flows.begin(rank); arc != flows.end(rank); ++arc)
            if (rank < arc->to) cost += arc->weight * static_cast<std::int64_t>(cores(slots[rank], slots[arc->to]));
        least = std::min(least, cost);
      } while (std::next_permutation(slots.begin(), slots.end()));
      CHECK(bound <= least);
    }
  }
  CHECK(told >= 16);
}

}  // namespace
}  // namespace hamtune::mapper
