// Decodes the operations of one rank.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

struct DecodedRank {
  RankTrace trace;               // without its communicators
  std::vector<std::uint32_t> offsets;       // in the block, of each operation of the trace
  std::vector<std::uint32_t> mark_offsets;  // of each mark
  std::uint64_t operations = 0;  // in the block, before merging
};

/// How the operations of a block are written.
enum class Writing {
  whole,   // everything in place: a rank's own operations
  shared,  // of several ranks: computations without flops, places of parties instead of parties
};

/// Decodes an inflated block, checking what can be checked without the other ranks: bounds, codes,
/// ranges of numbers, requests, communicator numbers, and that `finalize` is last.
///
/// `expected` operations get their memory at once: growing by and by takes twice as much.
///
/// Throws TraceError naming the operation.
DecodedRank decode_rank(const std::vector<std::uint8_t>& block, std::uint64_t expected = 0,
                        Writing writing = Writing::whole);

}  // namespace hamtune
