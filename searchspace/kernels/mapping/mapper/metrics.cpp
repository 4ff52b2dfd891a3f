#include "searchspace/kernels/mapping/mapper/metrics.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace hamtune::mapper {
namespace {

/// Displacements within a grid, closest first, as far as `most` of them are of use.
std::vector<std::vector<std::int32_t>> displacements(const std::vector<std::int32_t>& extents,
                                                     std::size_t most) {
  std::int32_t reach = 0;
  std::size_t inside = 0;
  std::vector<std::vector<std::int32_t>> found;
  while (inside <= most && reach < 64) {
    ++reach;
    found.clear();
    std::vector<std::int32_t> step(extents.size());
    const auto extend = [&](const auto& self, std::size_t axis, std::int32_t left) -> void {
      if (axis == extents.size()) {
        found.push_back(step);
        return;
      }
      const std::int32_t bound = std::min(left, extents[axis] - 1);
      for (step[axis] = -bound; step[axis] <= bound; ++step[axis])
        self(self, axis + 1, left - std::abs(step[axis]));
      step[axis] = 0;
    };
    extend(extend, 0, reach);
    if (found.size() <= inside) break;
    inside = found.size();
  }
  const auto length = [](const std::vector<std::int32_t>& one) {
    return std::accumulate(one.begin(), one.end(), 0,
                           [](std::int32_t sum, std::int32_t part) { return sum + std::abs(part); });
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return length(a) < length(b); });
  return found;
}

}  // namespace

GridMetric::GridMetric(const std::vector<std::uint32_t>& node, std::vector<std::int32_t> extents,
                       bool wrapped, std::uint32_t climb, std::size_t near)
    : extents_(std::move(extents)), wrapped_(wrapped), climb_(climb) {
  const std::size_t axes = extents_.size();
  std::vector<std::size_t> stride(axes, 1);
  for (std::size_t axis = axes; axis-- > 1;)
    stride[axis - 1] = stride[axis] * static_cast<std::size_t>(2 * extents_[axis] - 1);
  std::size_t reach = 0, nodes = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    reach += stride[axis] * static_cast<std::size_t>(extents_[axis] - 1);
    nodes *= static_cast<std::size_t>(extents_[axis]);
  }
  if (reach > (1U << 28U)) throw std::invalid_argument("the grid has too many axes");

  table_.assign(2 * reach + 1, 0);
  std::vector<std::int32_t> step(axes);
  for (std::size_t at = 0; at < table_.size(); ++at) {
    std::size_t rest = at;
    std::int32_t hops = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const auto digit = static_cast<std::int32_t>(rest / stride[axis]);
      rest %= stride[axis];
      const std::int32_t straight = std::abs(digit - (extents_[axis] - 1));
      hops += wrapped_ ? std::min(straight, extents_[axis] - straight) : straight;
    }
    if (hops > 0) hops += static_cast<std::int32_t>(climb);
    table_[at] = static_cast<std::uint16_t>(hops);
    diameter_ = std::max(diameter_, hops);
  }
  centre_ = table_.data() + reach;

  std::vector<std::vector<Slot>> at_node(nodes);
  if (node.size() % nodes == 0) cores_each_ = node.size() / nodes;
  for (Slot slot = 0; slot < node.size(); ++slot) {
    if (cores_each_ > 0 && node[slot] != slot / cores_each_) cores_each_ = 0;
    std::size_t rest = node[slot], code = 0;
    place_.resize((slot + 1) * axes);
    for (std::size_t axis = axes; axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(extents_[axis]);
      place_[slot * axes + axis] = static_cast<std::int32_t>(rest % extent);
      code += stride[axis] * (rest % extent);
      rest /= extent;
    }
    codes_.push_back(static_cast<std::uint32_t>(code));
    at_node[node[slot]].push_back(slot);
  }

  closest_ = diameter_;
  for (std::size_t one = 0; one < nodes; ++one)
    if (at_node[one].size() > 1) closest_ = 0;
  if (closest_ > 0) closest_ = 1 + static_cast<int>(climb);

  // The closest slots of each one; where too few are close, nearby numbers fill the list.
  const std::size_t length = std::min(near, node.size() - 1);
  near_ = NearLists(node.size(), length);
  const auto steps = displacements(extents_, 2 * near);
  std::vector<Slot> found;
  std::vector<std::uint32_t> seen(nodes, ~0U);
  for (Slot slot = 0; slot < node.size(); ++slot) {
    found.clear();
    for (const auto& displacement : steps) {
      if (found.size() >= length) break;
      std::size_t there = 0;
      bool exists = true;
      for (std::size_t axis = 0; axis < axes && exists; ++axis) {
        std::int32_t place = place_[slot * axes + axis] + displacement[axis];
        if (wrapped_) place = (place + extents_[axis]) % extents_[axis];
        exists = place >= 0 && place < extents_[axis];
        there = there * static_cast<std::size_t>(extents_[axis]) + static_cast<std::size_t>(place);
      }
      if (!exists || seen[there] == slot) continue;
      seen[there] = slot;
      for (const Slot other : at_node[there])
        if (other != slot && found.size() < length) found.push_back(other);
    }
    for (std::size_t ahead = 1; found.size() < length; ++ahead)
      found.push_back(static_cast<Slot>((slot + ahead) % node.size()));
    for (const Slot other : found) near_.push(other);
  }
}

TableMetric::TableMetric(std::vector<std::uint32_t> classes, std::size_t count,
                         std::vector<std::uint16_t> table, std::size_t near)
    : codes_(std::move(classes)), count_(count), table_(std::move(table)) {
  for (const std::uint16_t hops : table_) diameter_ = std::max<int>(diameter_, hops);
  std::vector<std::vector<Slot>> members(count_);
  for (Slot slot = 0; slot < codes_.size(); ++slot) members[codes_[slot]].push_back(slot);

  closest_ = diameter_;
  for (std::uint32_t one = 0; one < count_; ++one)
    for (std::uint32_t other = 0; other < count_; ++other)
      if (one != other || members[one].size() > 1)
        closest_ = std::min<int>(closest_, table_[one * count_ + other]);

  const std::size_t length = std::min(near, codes_.size() - 1);
  near_ = NearLists(codes_.size(), length);
  std::vector<std::vector<std::uint32_t>> by_hops(static_cast<std::size_t>(diameter_) + 1);
  std::vector<std::vector<Slot>> close(count_);
  for (std::uint32_t one = 0; one < count_; ++one) {
    if (members[one].empty()) continue;
    for (auto& bucket : by_hops) bucket.clear();
    by_hops[0].push_back(one);
    for (std::uint32_t step = 1; step < count_; ++step) {
      const auto other = static_cast<std::uint32_t>((one + step) % count_);
      by_hops[table_[one * count_ + other]].push_back(other);
    }
    for (const auto& bucket : by_hops)
      for (const std::uint32_t other : bucket)
        for (const Slot slot : members[other])
          if (close[one].size() <= length) close[one].push_back(slot);
  }
  for (Slot slot = 0; slot < codes_.size(); ++slot) {
    std::size_t left = length;
    for (const Slot other : close[codes_[slot]])
      if (other != slot && left > 0) {
        near_.push(other);
        --left;
      }
  }
}

std::size_t TableMetric::slots_each() const {
  const std::size_t each = slots() / count_;
  if (each * count_ != slots()) return 0;
  for (Slot slot = 0; slot < slots(); ++slot)
    if (codes_[slot] != slot / each) return 0;
  return each;
}

std::vector<TableMetric::Level> TableMetric::levels() const {
  const std::size_t each = slots_each();
  if (each == 0) return {};
  const auto row = [&](std::size_t one) { return table_.begin() + static_cast<std::ptrdiff_t>(one * count_); };
  const auto least_of = [](auto begin, std::size_t from, std::size_t to, int least) {
    for (; from < to; ++from) least = std::min<int>(least, begin[static_cast<std::ptrdiff_t>(from)]);
    return least;
  };
  std::vector<Level> found;
  if (each > 1) {
    int fewest = diameter_;
    for (std::size_t one = 0; one < count_; ++one) fewest = least_of(row(one), one, one + 1, fewest);
    found.push_back({each, table_[0], fewest});
  }
  for (std::size_t unit = 1, group = 1; unit < count_; unit *= group) {
    const std::size_t units = count_ / unit;
    const auto farthest = [&](std::size_t one, std::size_t other) {
      int most = 0;
      for (std::size_t from = one * unit; from < (one + 1) * unit; ++from)
        for (std::size_t to = other * unit; to < (other + 1) * unit; ++to)
          most = std::max<int>(most, table_[from * count_ + to]);
      return most;
    };
    const int close = farthest(0, 1);
    const auto joins = [&](std::size_t other) {
      for (std::size_t one = 0; one < other; ++one)
        if (farthest(one, other) > close) return false;
      return true;
    };
    group = 2;
    while (group < units && joins(group)) ++group;
    while (units % group != 0) --group;
    if (group == 1) group = units;
    double sum = 0;
    for (std::size_t one = unit; one < group * unit; ++one) sum += table_[one];
    int fewest = diameter_;
    for (std::size_t one = 0; one < count_; ++one) {
      const std::size_t begin = one / unit * unit;
      fewest = least_of(row(one), 0, begin, fewest);
      fewest = least_of(row(one), begin + unit, count_, fewest);
    }
    const double others = static_cast<double>((group - 1) * unit);
    found.push_back({group * unit * each, static_cast<int>(std::lround(sum / others)), fewest});
  }
  return found;
}

}  // namespace hamtune::mapper
