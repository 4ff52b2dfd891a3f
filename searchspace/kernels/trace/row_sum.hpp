// Adds up one row of a sparse matrix after another. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hamtune {

/// Sums by column, of which a row may have very few: it keeps which ones were added to.
class RowSum {
 public:
  explicit RowSum(std::size_t columns) : sums_(columns, 0), is_listed_(columns, false) {}

  /// What exceeds 64 bits wraps around.
  void add(std::size_t column, std::int64_t size) {
    sums_[column] += static_cast<std::uint64_t>(size);
    if (is_listed_[column]) return;
    is_listed_[column] = true;
    listed_.push_back(static_cast<std::uint32_t>(column));
  }

  /// Calls `visit(column, sum)` for sums other than 0, in the order of columns, and begins the next row.
  template <typename Visit>
  void finish(const Visit& visit) {
    if (listed_.size() > sums_.size() / 16)
      list_again();
    else
      std::sort(listed_.begin(), listed_.end());
    for (const std::uint32_t column : listed_) {
      if (sums_[column] != 0) visit(column, static_cast<std::int64_t>(sums_[column]));
      sums_[column] = 0;
      is_listed_[column] = false;
    }
    listed_.clear();
  }

 private:
  /// In order; faster than sorting where a row is not so sparse.
  void list_again() {
    listed_.clear();
    for (std::size_t column = 0; column < is_listed_.size(); ++column)
      if (is_listed_[column]) listed_.push_back(static_cast<std::uint32_t>(column));
  }

  std::vector<std::uint64_t> sums_;
  std::vector<bool> is_listed_;
  std::vector<std::uint32_t> listed_;
};

}  // namespace hamtune
