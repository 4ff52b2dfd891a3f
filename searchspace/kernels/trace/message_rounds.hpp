// When ranks send what, as far as a trace tells without playing it. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/trace/collective_messages.hpp"
#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// Bytes that one rank sends another within a round.
struct RoundMessage {
  std::uint32_t round;
  std::uint32_t sender;
  std::uint32_t receiver;
  std::int64_t size;
};

/// Messages by rounds, which are numbered from 0 on.
struct MessageRounds {
  std::vector<RoundMessage> messages;  ///< by round, sender, receiver; each pair once a round
  std::vector<double> count;           ///< how often each round comes
};

/// The messages of a trace by rounds. A rank's round ends where it waits for something after it
/// sent something; a collective takes as many rounds as its algorithm has steps. Rounds in which
/// the same ranks send each other the same are one that comes several times. Where more than `most`
/// different ones are left, neighbours are joined until no more are.
///
/// Nothing where there are so many messages that listing them is not worth it.
MessageRounds message_rounds(const Trace& trace, const MessageFilter& filter, std::size_t most);

}  // namespace hamtune
