// What ranks exchange, as a mapper needs it: neighbour lists with small weights. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace hamtune::mapper {

using Rank = std::uint32_t;
using Slot = std::uint32_t;

/// A partner of a rank, and what the two exchange, in units of `Flows::unit`.
struct Arc {
  Rank to;
  std::uint32_t weight;
};

/// The traffic as compressed sparse rows; every pair stands in both rows.
class Flows {
 public:
  /// `first` (ranks + 1 entries), partners and bytes as in searchspace.traffic. The unit is the
  /// greatest common divisor of all bytes where that keeps every weight within 31 bits (then costs
  /// are exact); otherwise as small as does, and weights are rounded, none to 0.
  Flows(const std::int64_t* first, std::size_t ranks, const std::uint32_t* partner,
        const std::int64_t* bytes)
      : first_(ranks + 1) {
    const auto arcs = static_cast<std::size_t>(first[ranks]);
    std::int64_t divisor = 0, largest = 0;
    for (std::size_t at = 0; at < arcs; ++at) {
      divisor = std::gcd(divisor, bytes[at]);
      largest = std::max(largest, bytes[at]);
    }
    unit_ = std::max<std::int64_t>(divisor, 1);
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (largest / unit_ > kMost) unit_ = largest / kMost + 1;
    for (std::size_t rank = 0; rank <= ranks; ++rank)
      first_[rank] = static_cast<std::uint32_t>(first[rank]);
    arcs_.reserve(arcs);
    for (std::size_t at = 0; at < arcs; ++at) {
      const std::int64_t rounded = std::max<std::int64_t>((bytes[at] + unit_ / 2) / unit_, 1);
      arcs_.push_back({partner[at], static_cast<std::uint32_t>(rounded)});
      total_ += rounded;
    }
  }

  std::size_t ranks() const { return first_.size() - 1; }
  std::size_t arcs() const { return arcs_.size(); }
  const Arc* begin(Rank rank) const { return arcs_.data() + first_[rank]; }
  const Arc* end(Rank rank) const { return arcs_.data() + first_[rank + 1]; }
  std::uint32_t degree(Rank rank) const { return first_[rank + 1] - first_[rank]; }
  /// Weight of all pairs together, in units.
  std::int64_t total() const { return total_ / 2; }
  std::int64_t unit() const { return unit_; }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<Arc> arcs_;
  std::int64_t unit_ = 1;
  std::int64_t total_ = 0;
};

}  // namespace hamtune::mapper
