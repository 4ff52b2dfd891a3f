#include "searchspace/kernels/mapping/mapper/dual_bisection.hpp"

#include <cstdlib>

namespace hamtune::mapper {

Middles<GridMetric>::Middle Middles<GridMetric>::of(const GridMetric& metric, const Slot* begin,
                                                    const Slot* end) {
  Middle middle{};
  for (std::size_t axis = 0; axis < metric.extents().size(); ++axis) {
    std::int32_t low = metric.coordinate(*begin, axis), high = low;
    for (const Slot* slot = begin; slot != end; ++slot) {
      low = std::min(low, metric.coordinate(*slot, axis));
      high = std::max(high, metric.coordinate(*slot, axis));
    }
    middle[axis] = low + high;
  }
  return middle;
}

int Middles<GridMetric>::apart(const GridMetric& metric, const Middle& a, const Middle& b) {
  std::int32_t sum = 0;
  for (std::size_t axis = 0; axis < metric.extents().size(); ++axis) {
    const std::int32_t straight = std::abs(a[axis] - b[axis]);
    sum += metric.wrapped() ? std::min(straight, 2 * metric.extents()[axis] - straight) : straight;
  }
  return sum;
}

std::size_t bisect(const TreeMetric& metric, Slot* begin, Slot* end) {
  return bisect_codes(
      begin, end, [&](Slot slot) { return metric.code(slot); },
      [&](std::uint32_t a, std::uint32_t b) { return metric.hops(a, b); });
}

std::size_t bisect(const GridMetric& metric, Slot* begin, Slot* end) {
  // Across the longest axis of the box around them, at the plane closest to the middle.
  std::size_t longest = 0;
  std::int32_t length = 0;
  for (std::size_t axis = 0; axis < metric.extents().size(); ++axis) {
    std::int32_t low = metric.coordinate(*begin, axis), high = low;
    for (const Slot* slot = begin; slot != end; ++slot) {
      low = std::min(low, metric.coordinate(*slot, axis));
      high = std::max(high, metric.coordinate(*slot, axis));
    }
    if (high - low <= length) continue;
    length = high - low;
    longest = axis;
  }
  if (length == 0) return 0;
  std::stable_sort(begin, end, [&](Slot a, Slot b) {
    return metric.coordinate(a, longest) < metric.coordinate(b, longest);
  });
  const std::int32_t middle = metric.coordinate(begin[(end - begin) / 2], longest);
  const auto below = static_cast<std::size_t>(
      std::lower_bound(begin, end, middle,
                       [&](Slot slot, std::int32_t bound) {
                         return metric.coordinate(slot, longest) < bound;
                       }) -
      begin);
  const auto up_to = static_cast<std::size_t>(
      std::upper_bound(begin, end, middle,
                       [&](std::int32_t bound, Slot slot) {
                         return bound < metric.coordinate(slot, longest);
                       }) -
      begin);
  const auto count = static_cast<std::size_t>(end - begin);
  if (below == 0) return up_to;
  if (up_to == count) return below;
  return count / 2 - below <= up_to - count / 2 ? below : up_to;
}

std::size_t bisect(const TableMetric& metric, Slot* begin, Slot* end) {
  // Two slots far apart are poles; who is closer to the first one goes with it.
  const auto farthest = [&](std::uint32_t code) {
    Slot found = *begin;
    for (const Slot* slot = begin; slot != end; ++slot)
      if (metric.code(*slot) != code &&
          (metric.code(found) == code ||
           metric.hops(code, metric.code(*slot)) > metric.hops(code, metric.code(found))))
        found = *slot;
    return metric.code(found);
  };
  const std::uint32_t one = farthest(metric.code(*begin)), other = farthest(one);
  if (one == other) return 0;
  const auto key = [&](Slot slot) {
    const std::uint32_t code = metric.code(slot);
    const int lean = (code == one ? 0 : metric.hops(one, code)) -
                     (code == other ? 0 : metric.hops(other, code));
    return std::pair<int, std::uint32_t>(lean, code);
  };
  std::stable_sort(begin, end, [&](Slot a, Slot b) { return key(a) < key(b); });
  const auto count = static_cast<std::size_t>(end - begin);
  // Slots of one class stay together.
  std::size_t low = count / 2, high = count / 2;
  while (low > 0 && metric.code(begin[low - 1]) == metric.code(begin[low])) --low;
  while (high < count && metric.code(begin[high]) == metric.code(begin[high - 1])) ++high;
  if (low == 0) return high == count ? 0 : high;
  if (high == count) return low;
  return count / 2 - low <= high - count / 2 ? low : high;
}

}  // namespace hamtune::mapper
