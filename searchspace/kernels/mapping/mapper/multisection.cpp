#include "searchspace/kernels/mapping/mapper/multisection.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace hamtune::mapper {
namespace {

using Point = std::uint64_t;  ///< of a lattice, numbered row by row

class Multisection {
 public:
  Multisection(const Lattice& lattice, const Box& box)
      : lattice_(lattice), box_(box), stride_(lattice.axes.size(), 1) {
    for (std::size_t axis = stride_.size(); axis-- > 1;)
      stride_[axis - 1] = stride_[axis] * static_cast<Point>(lattice.axes[axis].extent);
    points_ = stride_[0] * static_cast<Point>(lattice.axes[0].extent);
    rank_.resize(points_);
    for (Rank rank = 0; rank < points_; ++rank) {
      Point point = 0;
      for (std::size_t axis = 0; axis < stride_.size(); ++axis)
        point += stride_[axis] * static_cast<Point>(lattice.at(rank, axis));
      rank_[point] = rank;
    }
  }

  /// The core of each rank where axis k of the box cuts across axis `across[k]` of the lattice.
  std::vector<std::uint32_t> cut(const std::vector<std::size_t>& across) const {
    std::vector<Point> order(points_);
    std::iota(order.begin(), order.end(), Point{0});
    std::vector<std::size_t> ends{0, points_};  // of the parts so far
    for (std::size_t axis = 0; axis < across.size(); ++axis) {
      const auto parts = static_cast<std::size_t>(box_.extents[axis]);
      std::vector<std::size_t> finer{0};
      for (std::size_t part = 1; part < ends.size(); ++part) {
        const std::size_t begin = ends[part - 1], count = ends[part] - begin;
        sort_along(across[axis], order.data() + begin, order.data() + ends[part]);
        for (std::size_t at = 1; at <= parts; ++at) finer.push_back(begin + at * count / parts);
      }
      ends = std::move(finer);
    }
    std::vector<std::uint32_t> core(points_);
    for (std::size_t node = 0; node + 1 < ends.size(); ++node)
      for (std::size_t at = ends[node]; at < ends[node + 1]; ++at)
        core[rank_[order[at]]] = static_cast<std::uint32_t>(
            node * static_cast<std::size_t>(box_.cores) + (at - ends[node]));
    return core;
  }

 private:
  /// Sorts points by their coordinates, that along one axis before all others.
  void sort_along(std::size_t axis, Point* begin, Point* end) const {
    const auto extent = static_cast<Point>(lattice_.axes[axis].extent);
    for (Point* point = begin; point != end; ++point)
      *point += *point / stride_[axis] % extent * points_;
    std::sort(begin, end);
    for (Point* point = begin; point != end; ++point) *point %= points_;
  }

  const Lattice& lattice_;
  const Box& box_;
  std::vector<Point> stride_;
  std::size_t points_ = 1;
  std::vector<Rank> rank_;  ///< of each point
};

}  // namespace

std::vector<std::vector<std::uint32_t>> multisections(const Lattice& lattice, const Box& box) {
  const Multisection multisection(lattice, box);
  std::vector<std::vector<std::uint32_t>> found;
  std::vector<std::size_t> across;
  const auto choose = [&](const auto& self) -> void {
    if (across.size() == box.extents.size()) {
      found.push_back(multisection.cut(across));
      return;
    }
    for (std::size_t axis = 0; axis < lattice.axes.size(); ++axis) {
      if (std::find(across.begin(), across.end(), axis) != across.end()) continue;
      across.push_back(axis);
      self(self);
      across.pop_back();
    }
  };
  if (box.extents.size() <= lattice.axes.size()) choose(choose);
  return found;
}

}  // namespace hamtune::mapper
