#include "searchspace/kernels/mapping/mapper/structured.hpp"

#include <algorithm>

#include "searchspace/kernels/graph/hamiltonian.hpp"
#include "searchspace/kernels/mapping/mapper/grid_embedding.hpp"
#include "searchspace/kernels/mapping/mapper/multisection.hpp"

namespace hamtune::mapper {
namespace {

constexpr std::size_t kMostAxes = 4;  ///< of a lattice for which all orders of its axes are tried

Box box_of(const GridMetric& metric) {
  return {metric.extents(), metric.wrapped(), static_cast<std::int32_t>(metric.cores_each()),
          static_cast<std::int32_t>(metric.climb())};
}

/// Units of so many classes in an order in which each is as close to the next as any two are, where
/// one is found: a Hamiltonian cycle, or, but for the step back to the first, a path. All classes of a
/// unit count as its first.
std::optional<std::vector<Node>> tour_of_units(const TableMetric& metric, std::size_t classes,
                                               int closest) {
  constexpr std::size_t kMostUnits = 512;  // rotations take time with the square of the number
  constexpr unsigned kRestarts = 4;
  const auto units = static_cast<Node>(metric.classes() / classes);
  if (units < 3 || units > kMostUnits) return std::nullopt;
  std::vector<Edge> edges;
  for (Node one = 0; one < units; ++one)
    for (Node other = one + 1; other < units; ++other)
      if (metric.hops(static_cast<std::uint32_t>(one * classes),
                      static_cast<std::uint32_t>(other * classes)) == closest)
        edges.push_back({one, other});
  std::vector<Node> tour = hamiltonian_walk(Adjacency(units, edges), 1, kRestarts);
  if (tour.size() < units) return std::nullopt;
  return tour;
}

/// A ring goes through the units of the lowest level that a tour joins, and through each in order.
std::optional<std::vector<Slot>> place_ring(const Lattice& ring, const TableMetric& metric,
                                            const std::vector<TableMetric::Level>& levels) {
  const std::size_t each = metric.slots_each();
  std::size_t size = each;  // slots of a unit
  for (const TableMetric::Level& level : levels) {
    if (level.slots == each) continue;
    // Units of which every one is close to those of its own group only: no tour joins the groups.
    const std::size_t classes = size / each;
    std::size_t close = 0;
    for (std::size_t one = classes; one < metric.classes(); one += classes)
      close += metric.hops(0, static_cast<std::uint32_t>(one)) == level.fewest ? 1 : 0;
    const bool apart = level.slots < metric.slots() && close < level.slots / size;
    if (!apart)
      if (const std::optional<std::vector<Node>> tour = tour_of_units(metric, classes, level.fewest)) {
        std::vector<Slot> slots;
        for (const std::int32_t at : ring.place) {
          const auto point = static_cast<std::size_t>(at);
          slots.push_back(static_cast<Slot>((*tour)[point / size] * size + point % size));
        }
        return slots;
      }
    size = level.slots;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Lattice> find_lattice(const Flows& flows) {
  if (std::optional<Lattice> whole = recognise_lattice(flows, 0)) return whole;
  // Corners of a stencil exchange less than faces: look at the heavier flows alone.
  constexpr std::size_t kMostWeights = 8;
  std::vector<std::uint32_t> weights;
  for (Rank rank = 0; rank < flows.ranks(); ++rank)
    for (const Arc* arc = flows.begin(rank); arc != flows.end(rank); ++arc) {
      if (std::find(weights.begin(), weights.end(), arc->weight) != weights.end()) continue;
      if (weights.size() == kMostWeights) return std::nullopt;
      weights.push_back(arc->weight);
    }
  std::sort(weights.begin(), weights.end());
  for (std::size_t at = 1; at < weights.size(); ++at)
    if (std::optional<Lattice> part = recognise_lattice(flows, weights[at])) return part;
  return std::nullopt;
}

std::optional<std::vector<Slot>> place_lattice(const Lattice& lattice, const TreeMetric& metric) {
  const std::vector<TreeMetric::Level> levels = metric.levels();
  if (levels.empty()) return std::nullopt;
  std::vector<std::uint32_t> arity;
  std::vector<int> hops;
  for (std::size_t level = levels.size(); level-- > 0;) {
    arity.push_back(levels[level].slots / (level == 0 ? 1 : levels[level - 1].slots));
    hops.push_back(levels[level].hops);
  }
  std::optional<std::vector<std::uint32_t>> leaves = cut_for_tree(lattice, arity, hops);
  if (!leaves) return std::nullopt;
  for (std::uint32_t& leaf : *leaves) leaf = metric.sorted()[leaf];
  return leaves;
}

std::optional<std::vector<Slot>> place_lattice(const Lattice& lattice, const GridMetric& metric) {
  if (metric.cores_each() == 0) return std::nullopt;
  return embed_in_grid(lattice, box_of(metric));
}

std::vector<std::vector<Slot>> cut_lattice(const Lattice& lattice, const GridMetric& metric) {
  if (metric.cores_each() == 0 || lattice.axes.size() > kMostAxes) return {};
  return multisections(lattice, box_of(metric));
}

std::optional<std::vector<Slot>> place_lattice(const Lattice& lattice, const TableMetric& metric) {
  // Classes of equal size, in groups of neighbours (as in a dragonfly): a tree.
  const std::vector<TableMetric::Level> levels = metric.levels();
  if (metric.classes() < 2 || levels.empty()) return std::nullopt;
  if (lattice.axes.size() == 1 && lattice.place.size() == metric.slots())
    if (std::optional<std::vector<Slot>> slots = place_ring(lattice, metric, levels)) return slots;
  std::vector<std::uint32_t> arity;
  std::vector<int> hops;
  for (std::size_t level = levels.size(); level-- > 0;) {
    arity.push_back(
        static_cast<std::uint32_t>(levels[level].slots / (level == 0 ? 1 : levels[level - 1].slots)));
    hops.push_back(levels[level].hops);
  }
  return cut_for_tree(lattice, arity, hops);
}

}  // namespace hamtune::mapper
