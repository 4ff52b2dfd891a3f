// Narrow cuts of networks with a rotation, and their widths as orbits come and go. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "searchspace/kernels/network/bisection.hpp"
#include "searchspace/kernels/network/orbit_moves.hpp"

namespace hamtune {

/// Cuts of one network, each once however it is turned, with the number of edges that cross it.
///
/// The half of every turn of a base node is a row of bits. The edges of orbit (i, j, t) that cross
/// a cut are the ones of row i xor row j rotated by t; rows are written twice, one after the other,
/// so that a rotation is a shifted read. A change costs a few words a cut.
///
/// The load of the network is the sum of exp(-sharpness * width) over all cuts: its narrowest cuts
/// and how many there are.
class CutPool {
 public:
  CutPool(std::uint32_t nodes, std::uint32_t symmetry, std::size_t edges, double sharpness)
      : nodes_(nodes),
        symmetry_(symmetry),
        bases_(nodes / symmetry),
        words_((symmetry + 63) / 64),
        row_(2 * symmetry / 64 + 2),
        last_(symmetry % 64 == 0 ? ~std::uint64_t{0}
                                 : (std::uint64_t{1} << (symmetry % 64)) - 1) {
    for (std::size_t width = 0; width <= edges; ++width)
      weights_.push_back(std::exp(-sharpness * static_cast<double>(width)));
  }

  std::size_t size() const { return widths_.size(); }
  std::size_t width(std::size_t cut) const { return static_cast<std::size_t>(widths_[cut]); }
  double load() const { return load_; }

  std::size_t narrowest() const {
    return widths_.empty() ? weights_.size() - 1
                           : static_cast<std::size_t>(
                                 *std::min_element(widths_.begin(), widths_.end()));
  }

  /// Adds a cut unless it is there; the width is that in the network of these orbits.
  bool add(const Sides& sides, const std::vector<Orbit>& orbits) {
    std::vector<std::uint64_t> rows = least_form(sides);
    if (!known_.insert(rows).second) return false;
    const std::int32_t width = crossing(rows.data(), orbits);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    widths_.push_back(width);
    load_ += weights_[static_cast<std::size_t>(width)];
    return true;
  }

  /// The load after a change, or something above `limit` as soon as it is sure to be above it.
  double load_after(const OrbitChange& change, double limit) {
    after_.resize(size());
    double load = 0.0;
    for (std::size_t cut = 0; cut < size() && load <= limit; ++cut) {
      const std::uint64_t* const rows = rows_.data() + cut * bases_ * row_;
      std::int32_t width = widths_[cut];
      for (unsigned k = 0; k < change.removed; ++k) width -= crossing(rows, change.out[k]);
      for (unsigned k = 0; k < change.added; ++k) width += crossing(rows, change.in[k]);
      after_[cut] = width;
      load += weights_[static_cast<std::size_t>(width)];
    }
    return load;
  }

  /// Makes the change that `load_after` was last asked about; the same call again takes it back.
  void exchange() {
    widths_.swap(after_);
    sum_up();
  }

  /// Takes the change back; cuts added since get their width in the network of these orbits.
  void take_back(const std::vector<Orbit>& orbits) {
    for (std::size_t cut = after_.size(); cut < size(); ++cut)
      after_.push_back(crossing(rows_.data() + cut * bases_ * row_, orbits));
    exchange();
  }

  Sides sides(std::size_t cut) const {
    Sides sides(nodes_);
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      const std::size_t turn = node / bases_;
      const std::uint64_t word = rows_[(cut * bases_ + node % bases_) * row_ + turn / 64];
      sides[node] = static_cast<std::uint8_t>(word >> (turn % 64) & 1U);
    }
    return sides;
  }

  /// Forgets the widest cuts, the newer ones among equals, until `kept` are left.
  void shrink(std::size_t kept) {
    if (size() <= kept) return;
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return widths_[a] < widths_[b]; });
    order.resize(kept);
    std::sort(order.begin(), order.end());
    std::vector<std::uint64_t> rows;
    std::vector<std::int32_t> widths;
    known_.clear();
    for (const std::size_t cut : order) {
      const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(cut * bases_ * row_);
      const auto last = first + static_cast<std::ptrdiff_t>(bases_ * row_);
      known_.emplace(first, last);
      rows.insert(rows.end(), first, last);
      widths.push_back(widths_[cut]);
    }
    rows_ = std::move(rows);
    widths_ = std::move(widths);
    sum_up();
  }

 private:
  std::int32_t crossing(const std::uint64_t* rows, const Orbit& orbit) const {
    const std::uint64_t* const own = rows + orbit.i * row_;
    const std::uint64_t* const other = rows + orbit.j * row_ + orbit.turn / 64;
    const unsigned shift = orbit.turn % 64;
    std::int32_t count = 0;
    for (std::size_t word = 0; word < words_; ++word) {
      std::uint64_t turned = other[word] >> shift;
      if (shift != 0) turned |= other[word + 1] << (64 - shift);
      turned ^= own[word];
      if (word + 1 == words_) turned &= last_;
      count += __builtin_popcountll(turned);
    }
    return orbit.i == orbit.j && 2 * orbit.turn == symmetry_ ? count / 2 : count;
  }

  std::int32_t crossing(const std::uint64_t* rows, const std::vector<Orbit>& orbits) const {
    std::int32_t width = 0;
    for (const Orbit& orbit : orbits) width += crossing(rows, orbit);
    return width;
  }

  /// The rows of the least of all turns of a cut and of its complement.
  std::vector<std::uint64_t> least_form(const Sides& sides) const {
    Sides least;
    Sides turned(nodes_);
    for (std::uint32_t turn = 0; turn < symmetry_; ++turn) {
      const auto middle = sides.begin() + static_cast<std::ptrdiff_t>(turn * bases_);
      const std::uint8_t flip = *middle;  // the least form begins with 0
      std::transform(middle, sides.end(), turned.begin(),
                     [flip](std::uint8_t side) { return side ^ flip; });
      std::transform(sides.begin(), middle, turned.end() - (middle - sides.begin()),
                     [flip](std::uint8_t side) { return side ^ flip; });
      if (least.empty() || turned < least) least = turned;
    }
    std::vector<std::uint64_t> rows(bases_ * row_, 0);
    for (std::uint32_t base = 0; base < bases_; ++base)
      for (std::uint32_t turn = 0; turn < 2 * symmetry_; ++turn)
        if (least[turn % symmetry_ * bases_ + base] != 0)
          rows[base * row_ + turn / 64] |= std::uint64_t{1} << (turn % 64);
    return rows;
  }

  void sum_up() {
    load_ = 0.0;
    for (const std::int32_t width : widths_) load_ += weights_[static_cast<std::size_t>(width)];
  }

  std::uint32_t nodes_;
  std::uint32_t symmetry_;
  std::size_t bases_;
  std::size_t words_;  // of a row once
  std::size_t row_;    // words of a row twice, and one more to read into
  std::uint64_t last_;
  std::vector<double> weights_;  // by width
  std::vector<std::uint64_t> rows_;
  std::vector<std::int32_t> widths_;
  std::vector<std::int32_t> after_;  // the widths after the change asked about, or before it
  std::set<std::vector<std::uint64_t>> known_;
  double load_ = 0.0;
};

}  // namespace hamtune
