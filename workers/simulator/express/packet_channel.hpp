// The ways that messages made of packets take between two ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "workers/simulator/express/packet_messages.hpp"

namespace hamtune::express {

/// Whose turn it is where large messages between two ranks go one direction at a time.
class ChannelTurns {
 public:
  /// Whether a channel has the turn, or has it from now on; if not, it stands in line for it.
  bool take(Channel& channel) {
    if (holder_ == nullptr) holder_ = &channel;
    if (holder_ == &channel) return true;
    const auto end = stalled_.begin() + stalled_count_;
    if (std::find(stalled_.begin(), end, &channel) == end) stalled_[stalled_count_++] = &channel;
    return false;
  }

  bool is_held_by(const Channel& channel) const { return holder_ == &channel; }

  /// Gives the turn back. The one that is next in line; null for none.
  Channel* release() {
    holder_ = nullptr;
    if (stalled_count_ == 0) return nullptr;
    Channel* const next = stalled_.front();
    std::move(stalled_.begin() + 1, stalled_.end(), stalled_.begin());
    --stalled_count_;
    return next;
  }

 private:
  static constexpr std::size_t kOthers = 3;  // both directions, apart and not

  Channel* holder_ = nullptr;
  std::array<Channel*, kOthers> stalled_{};
  std::size_t stalled_count_ = 0;
};

/// What one rank sends to another, in order. Its trains come to the first queue one at a time.
struct Channel {
  Path path;  // empty within a host
  PacketSend* first = nullptr;      // of those that have not left whole
  PacketSend* last = nullptr;
  PacketSend* untold = nullptr;     // the first whose sender may have to wait for room in the transport
  PacketSend* departing = nullptr;  // its sender waits until its last train, which is leaving, has left
  ChannelTurns* turns = nullptr;    // none before the first message that takes turns
  double free = 0;     // when the last train has left, or has crossed the memory of the host, s
  double leaving = 0;  // bytes of that train
  double told = 0;     // bytes before `untold` that have not left
  Node host = 0;       // of the sender
  bool is_busy = false;       // an event will tell when the train has left
  bool ends_message = false;  // it is the last one of its message
  bool has_met = false;       // a message was sent before
};

}  // namespace hamtune::express
