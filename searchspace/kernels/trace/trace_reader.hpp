// Reads traces (docs/trace-format.md) that may be damaged or hostile.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// A file that is no trace, or one that cannot be replayed; the message is one plain line.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a whole trace and checks it: every operation lies in its block, every communicator, peer,
/// root and request exists, and ranks agree on the communicators they create.
///
/// Throws TraceError.
Trace read_trace(const std::string& path);

struct DecodedRank;

/// Gets the inflated block of a rank and what it decodes to.
using RankVisitor = std::function<void(const std::vector<std::uint8_t>&, DecodedRank)>;

/// Reads a trace rank by rank, checking only what can be checked of each by itself; returns what
/// the header says, without ranks.
///
/// Throws TraceError.
Trace visit_ranks(const std::string& path, const RankVisitor& visit);

/// The encoded operations of one rank as a whole.
///
/// Throws TraceError.
std::vector<std::uint8_t> rank_operations(const std::string& path, std::size_t rank);

}  // namespace hamtune
