// Lattices in grids and trees: every rank has a core of its own, and searches end.
#include "searchspace/kernels/mapping/mapper/grid_embedding.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/mapping/mapper/multisection.hpp"
#include "tests/native.hpp"

namespace hamtune::mapper {
namespace {

using Extents = std::vector<std::int32_t>;

std::size_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
}

/// Ranks are numbered row by row; axes from three ranks on that `is_ring` names are rings.
template <typename IsRing>
Lattice lattice_of(const Extents& extents, IsRing is_ring) {
  const std::size_t ranks = product(extents);
  Lattice lattice;
  for (const std::int32_t extent : extents) {
    const bool ring = extent > 2 && is_ring();
    const std::int32_t flows = extent - (ring ? 0 : 1);
    lattice.axes.push_back({extent, ring, static_cast<double>(ranks) / extent * flows, 1});
  }
  lattice.place.resize(ranks * extents.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::size_t rest = rank;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(extents[axis]);
      lattice.place[rank * extents.size() + axis] = static_cast<std::int32_t>(rest % extent);
      rest /= extent;
    }
  }
  return lattice;
}

Extents some_extents(std::uint32_t most_axes, std::uint32_t least, std::uint32_t most, Random& random) {
  Extents extents(1 + random.below(most_axes));
  for (std::int32_t& extent : extents)
    extent = static_cast<std::int32_t>(least + random.below(most - least + 1));
  return extents;
}

bool are_own_cores(std::vector<std::uint32_t> places, std::size_t ranks, std::size_t cores) {
  std::sort(places.begin(), places.end());
  return places.size() == ranks && places.back() < cores &&
         std::adjacent_find(places.begin(), places.end()) == places.end();
}

TEST_CASE("each rank of a lattice in a grid or a tree has a core of its own") {
  Random random(3);
  std::size_t embedded = 0, cut = 0, sectioned = 0;
  for (unsigned round = 0; round < 300; ++round) {
    const Lattice lattice =
        lattice_of(some_extents(3, 2, 7, random), [&] { return random.below(2) == 0; });
    const std::size_t ranks = lattice.ranks();
    if (ranks < 3) continue;
    const Box box{some_extents(3, 1, 8, random), random.below(2) == 0,
                  1 + static_cast<std::int32_t>(random.below(4))};
    const std::size_t cores = product(box.extents) * static_cast<std::size_t>(box.cores);
    if (ranks <= cores) {
      if (const auto places = embed_in_grid(lattice, box)) {
        CHECK(are_own_cores(*places, ranks, cores));
        ++embedded;
      }
      for (const std::vector<std::uint32_t>& places : multisections(lattice, box)) {
        CHECK(are_own_cores(places, ranks, cores));
        ++sectioned;
      }
    }
    std::vector<std::uint32_t> arity;
    std::size_t leaves = 1;
    for (; leaves < ranks; leaves *= arity.back()) arity.push_back(2 + random.below(6));
    if (const auto places = cut_for_tree(lattice, arity, std::vector<int>(arity.size(), 2))) {
      CHECK(are_own_cores(*places, ranks, leaves));
      ++cut;
    }
  }
  CHECK(std::min({embedded, cut, sectioned}) > 50);
}

// Each axis of three takes two of the box, and that of five three: one more than there are. The ways to share
// those before the last are without number.
TEST_CASE("the search for an embedding ends where nothing fits") {
  const Lattice lattice = lattice_of({3, 3, 3, 3, 3, 3, 3, 5}, [] { return false; });
  CHECK_FALSE(embed_in_grid(lattice, {Extents(16, 2), true}));
}

}  // namespace
}  // namespace hamtune::mapper
