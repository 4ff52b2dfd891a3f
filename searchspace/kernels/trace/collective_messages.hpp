// The messages that collectives become. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// Families of algorithms, by where the bytes go.
enum class Spread : std::uint8_t {
  kNone,      ///< left out
  kDirect,    ///< straight from each rank that has something to each that gets it
  kRing,      ///< round a ring, or along a chain from the root
  kDoubling,  ///< between ranks 1, 2, 4, ... apart
  kTree,      ///< up or down a binomial tree
};

/// The families of the collectives, by `code - Code::barrier`.
using Spreads = std::vector<Spread>;

/// Which messages of a trace count.
struct MessageFilter {
  bool point_to_point = true;
  Spreads collectives;                  ///< empty: none
  std::int64_t phase = -1;              ///< between that and the next mark of a rank; -1 for all
  std::vector<std::uint32_t> members;   ///< of the communicator, sorted; empty for all
};

/// A message that counts: sender and receiver are ranks of the world.
struct CountedMessage {
  std::size_t sender;
  std::size_t receiver;
  std::int64_t size;
  std::uint32_t round;  ///< the sender's (`message_rounds`)
};

/// Calls `visit` for every message of a trace that counts, rank by rank, in the order of sending, until it
/// returns false.
void visit_messages(const Trace& trace, const MessageFilter& filter,
                    const std::function<bool(const CountedMessage&)>& visit);

/// Bytes between ranks, in compressed sparse rows: the partners of rank r, in increasing order, are
/// partner[first[r]] up to partner[first[r + 1]].
struct SparseTraffic {
  std::vector<std::int64_t> first;
  std::vector<std::uint32_t> partner;
  std::vector<std::int64_t> size;  ///< never 0
};

/// Bytes that each rank of the world sends, by receiver; what one sends to itself is among them. Takes memory
/// by the number of pairs that it finds. Throws TraceError when there are more than 16,384 ranks.
SparseTraffic filtered_traffic(const Trace& trace, const MessageFilter& filter);

}  // namespace hamtune
