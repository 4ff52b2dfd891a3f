#include "searchspace/kernels/mapping/mapper/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace hamtune::mapper {
namespace {

/// Sets of projections that are looked at: beyond, it takes longer than what a proof saves.
constexpr std::size_t kMostTried = std::size_t{1} << 14U;

/// The most weight among `size` points of a lattice.
class MostWithin {
 public:
  MostWithin(const Lattice& lattice, std::uint32_t size) : axes_(lattice.axes), size_(size) {
    std::uint32_t product = 1;
    for (std::size_t axis = 1; axis < axes_.size(); ++axis) product *= size;
    rest_.assign(axes_.size(), 0);
    for (std::size_t axis = axes_.size(); axis-- > 1;)
      rest_[axis - 1] = rest_[axis] + axes_[axis].heaviest * static_cast<double>(size);
    look(0, product, 0);
  }
  double weight() const { return most_; }

 private:
  /// Tries numbers of lines along an axis and the later ones, whose product is `left` at least.
  void look(std::size_t axis, std::uint32_t left, double sum) {
    const Lattice::Axis& here = axes_[axis];
    const auto extent = static_cast<std::uint32_t>(here.extent);
    const std::uint32_t fewest = (size_ + extent - 1) / extent;
    if (axis + 1 == axes_.size()) {
      const std::uint32_t lines = std::max(fewest, left);
      if (lines <= size_) most_ = std::max(most_, sum + along(here, lines));
      return;
    }
    for (std::uint32_t lines = fewest; lines <= size_; ++lines) {
      const double with = sum + along(here, lines);
      if (with + rest_[axis] <= most_) return;  // more lines hold no more
      look(axis + 1, (left + lines - 1) / lines, with);
    }
  }

  /// Along an axis, on so many lines.
  double along(const Lattice::Axis& axis, std::uint32_t lines) const {
    std::uint32_t neighbours = size_ - lines;
    if (axis.ring) neighbours += std::min(lines, neighbours / (static_cast<std::uint32_t>(axis.extent) - 1));
    return axis.heaviest * neighbours;
  }

  const std::vector<Lattice::Axis>& axes_;
  std::uint32_t size_;
  std::vector<double> rest_;  ///< the most that the axes after each may hold
  double most_ = 0;
};

/// The most weight within units of that size, all together; nothing where that is too long to find out.
std::optional<double> within(const Lattice& lattice, std::size_t ranks, std::size_t slots,
                             std::size_t size) {
  const bool full = ranks == slots;  // else units may hold fewer
  const std::size_t dimensions = lattice.axes.size() - (full ? 1 : 0);
  if (std::pow(static_cast<double>(size), static_cast<double>(dimensions)) > kMostTried)
    return std::nullopt;
  double most = 0;
  for (std::size_t points = full ? size : 1; points <= size; ++points) {
    const double weight = MostWithin(lattice, static_cast<std::uint32_t>(points)).weight();
    most = std::max(most, weight / static_cast<double>(points));
  }
  return most * static_cast<double>(ranks);
}

}  // namespace

std::vector<Shell> shells(const TreeMetric& metric) {
  std::vector<Shell> found;
  std::size_t size = 1;
  int below = 0;
  for (const TreeMetric::Level& level : metric.levels()) {
    found.push_back({size, level.hops - below});
    size = level.slots;
    below = level.hops;
  }
  return found;
}

std::vector<Shell> shells(const GridMetric& metric) {
  if (metric.cores_each() == 0) return {};
  return {{metric.cores_each(), 1 + static_cast<int>(metric.climb())}};
}

std::vector<Shell> shells(const TableMetric& metric) {
  std::vector<TableMetric::Level> levels = metric.levels();
  // Hosts that are alike and not adjacent are farther from each other than from hosts of other levels.
  for (std::size_t level = levels.size(); level-- > 1;)
    levels[level - 1].fewest = std::min(levels[level - 1].fewest, levels[level].fewest);
  std::vector<Shell> found;
  std::size_t size = 1;
  int below = 0;
  for (const TableMetric::Level& level : levels) {
    if (level.fewest > below) found.push_back({size, level.fewest - below});
    size = level.slots;
    below = std::max(below, level.fewest);
  }
  return found;
}

std::int64_t least_cost(const Lattice& lattice, const Flows& flows, std::size_t slots,
                        const std::vector<Shell>& shells) {
  double weight = 0, cost = 0;
  for (const Lattice::Axis& axis : lattice.axes) weight += axis.weight;
  for (const Shell& shell : shells)
    if (const auto most = within(lattice, flows.ranks(), slots, shell.slots))
      cost += shell.more * std::max(0.0, weight - *most);
  return static_cast<std::int64_t>(std::ceil(cost - 1e-6));
}

}  // namespace hamtune::mapper
