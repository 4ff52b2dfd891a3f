// What ranks exchange, as the mapping kernels see it. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hamtune {

/// Symmetric traffic in compressed sparse rows: the partners of rank r are partner[first[r]] up to
/// partner[first[r + 1]], and size says what both exchange, both ways. Each pair stands in both rows.
/// A view; whoever makes one keeps the arrays.
struct TrafficView {
  std::size_t ranks;
  const std::int64_t* first;
  const std::uint32_t* partner;
  const std::int64_t* size;

  std::size_t begin(std::size_t rank) const { return static_cast<std::size_t>(first[rank]); }
  std::size_t end(std::size_t rank) const { return static_cast<std::size_t>(first[rank + 1]); }
  std::size_t degree(std::size_t rank) const { return end(rank) - begin(rank); }
};

}  // namespace hamtune
