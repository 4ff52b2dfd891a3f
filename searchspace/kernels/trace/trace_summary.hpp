// What a trace holds, in numbers.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// Payload bytes that each rank of the world sends to each other by point-to-point messages, row by
/// row: [sender * ranks + receiver]. Collectives are left out: which messages they become depends
/// on the algorithm. Each message is counted where it is sent.
///
/// Throws TraceError above 16,384 ranks.
std::vector<std::int64_t> traffic_matrix(const Trace& trace);

/// Calls of one collective whose bytes are between one power of two and the next.
struct SizeBin {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t calls = 0;
};

struct TraceSummary {
  std::map<std::string, std::uint64_t> calls;  // by name, over all ranks; computations left out
  /// The communicators that each blocking collective is called on, each once, as ranks of the
  /// world; none for the world itself in its order. Of very many, one of each size.
  std::map<std::string, std::vector<Members>> communicators;
  std::set<std::string> non_commutative;               // reductions by operations that do not commute
  /// By blocking collective whose algorithm is decided by size, and by the power of two: the bytes of the whole
  /// vector, but of one rank's block for gather, scatter, allgather and alltoall. Calls of 0 bytes are left out.
  std::map<std::string, std::map<int, SizeBin>> sizes;
  std::uint64_t messages = 0;                  // point to point
  std::uint64_t bytes = 0;                     // payload of these
  std::uint64_t pairs = 0;                     // unordered pairs that exchange messages; a rank may pair with itself
  std::uint64_t least_partners = 0;            // ranks that a rank sends to
  std::uint64_t most_partners = 0;
  double flops = 0;
};

TraceSummary summarize(const Trace& trace);

}  // namespace hamtune
