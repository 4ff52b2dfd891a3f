// What ranks exchange both ways, added up from what they send. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/trace/collective_messages.hpp"

namespace hamtune {

/// Bytes that rank `one` and rank `other` exchange, in lists of the same length; pairs may come several
/// times, in either direction.
struct PairList {
  std::size_t count;
  const std::int64_t* one;
  const std::int64_t* other;
  const std::int64_t* size;
};

/// What each rank sends: the receivers of rank 0, then those of rank 1, ...
struct SentView {
  std::size_t ranks;
  const std::int64_t* first;  ///< ranks + 1
  const std::uint32_t* receiver;
  const std::int64_t* size;
};

/// Traffic as `TrafficView` takes it: sizes are bytes both ways, and each pair stands in both rows. What a
/// rank sends to itself, and sizes that are not positive, count nothing. The sum of all sizes has to stay
/// below 2^62.
///
/// Takes 12 bytes for each entry that is given and 12 for each that comes out, at most.
///
/// Throws std::out_of_range for ranks that there are not.
SparseTraffic symmetric_traffic(std::size_t ranks, const PairList& pairs);
SparseTraffic symmetric_traffic(const SentView& sent);

}  // namespace hamtune
