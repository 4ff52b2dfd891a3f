// Repetitions in a sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hamtune {

/// `count` times the same `period` items, from item `first` on.
struct Repetition {
  std::size_t first;
  std::size_t period;
  std::size_t count;
};

/// The longest repetition of each of several periods: first what covers most items, of equals what
/// has the shortest period.
///
/// Periods tried are the distances at which short windows of the sequence come again most often; in
/// short sequences all. Takes linear time for each.
std::vector<Repetition> repetitions(const std::vector<std::uint32_t>& items,
                                    std::size_t least_count);

}  // namespace hamtune
