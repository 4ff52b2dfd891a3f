#include "searchspace/kernels/mapper/structured.hpp"

#include <algorithm>

#include "searchspace/kernels/hamiltonian.hpp"
#include "searchspace/kernels/mapper/folding.hpp"

namespace hamtune::mapper {
namespace {

/// The classes in an order in which each is as close to the next as any two are, where one is found:
/// a Hamiltonian cycle, or, but for the step back to the first, a path.
std::optional<std::vector<Node>> tour_of_classes(const TableMetric& metric) {
  constexpr std::size_t kMostClasses = 512;  // rotations take time with the square of the number
  constexpr unsigned kRestarts = 4;
  const auto classes = static_cast<Node>(metric.classes());
  if (classes < 3 || classes > kMostClasses) return std::nullopt;
  int closest = metric.hops(0, 1);
  for (Node one = 0; one < classes; ++one)
    for (Node other = one + 1; other < classes; ++other)
      closest = std::min(closest, metric.hops(one, other));
  std::vector<Edge> edges;
  for (Node one = 0; one < classes; ++one)
    for (Node other = one + 1; other < classes; ++other)
      if (metric.hops(one, other) == closest) edges.push_back({one, other});
  std::vector<Node> tour = hamiltonian_walk(Adjacency(classes, edges), 1, kRestarts);
  if (tour.size() < classes) return std::nullopt;
  return tour;
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
  return fold_into_box(lattice, {metric.extents(), metric.wrapped(),
                                 static_cast<std::int32_t>(metric.cores_each()),
                                 static_cast<std::int32_t>(metric.climb())});
}

std::optional<std::vector<Slot>> place_lattice(const Lattice& lattice, const TableMetric& metric) {
  // Classes of equal size, in groups of neighbours (as in a dragonfly): a tree of three levels.
  const std::size_t classes = metric.classes(), each = metric.slots() / classes;
  if (each * classes != metric.slots()) return std::nullopt;
  for (Slot slot = 0; slot < metric.slots(); ++slot)
    if (metric.code(slot) != slot / each) return std::nullopt;
  if (classes < 2) return std::nullopt;
  if (lattice.axes.size() == 1 && lattice.place.size() == metric.slots()) {
    if (const std::optional<std::vector<Node>> tour = tour_of_classes(metric)) {
      std::vector<Slot> slots;
      for (const std::int32_t at : lattice.place) {
        const auto point = static_cast<std::size_t>(at);
        slots.push_back(static_cast<Slot>((*tour)[point / each] * each + point % each));
      }
      return slots;
    }
  }
  const auto code = [](std::size_t one) { return static_cast<std::uint32_t>(one); };
  const int closest = metric.hops(0, 1);
  std::size_t group = 1;
  while (group < classes && [&] {
    for (std::size_t one = 0; one < group; ++one)
      if (metric.hops(code(one), code(group)) > closest) return false;
    return true;
  }())
    ++group;
  while (classes % group != 0) --group;
  double sum = 0;
  for (std::size_t one = group; one < classes; ++one) sum += metric.hops(0, code(one));
  const int far = group == classes
                      ? closest
                      : static_cast<int>(sum / static_cast<double>(classes - group) + 0.5);
  std::vector<std::uint32_t> arity;
  std::vector<int> hops;
  const auto level = [&](std::size_t count, int apart) {
    if (count < 2) return;
    arity.push_back(code(count));
    hops.push_back(apart);
  };
  level(classes / group, far);
  level(group, closest);
  level(each, metric.hops(0, 0));
  return cut_for_tree(lattice, arity, hops);
}

}  // namespace hamtune::mapper
