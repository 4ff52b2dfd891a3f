// How messages made of packets go from one rank to another: see packet_messages.hpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>
#include <utility>

#include "workers/simulator/express/packet_channel.hpp"
#include "workers/simulator/express/packet_messages.hpp"

namespace hamtune::express {

namespace {

/// Which of parallel cables messages between two ranks take: always the same, as link aggregation does, so
/// that they stay in order.
std::uint32_t lane_of(std::uint32_t source, std::uint32_t target) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  return static_cast<std::uint32_t>((std::uint64_t{source} * kMix + target) * kMix >> 33U);
}

}  // namespace

Channel& PacketMessages::channel(const Actor& source, const Actor& target, bool is_apart) {
  const auto from = static_cast<std::uint32_t>(source.number);
  const auto to = static_cast<std::uint32_t>(target.number);
  if (Channel* const known = channels_[{from, to, is_apart}].channel; known != nullptr)
    return *known;
  auto& made = *::new (channel_memory_.allocate(sizeof(Channel), alignof(Channel))) Channel;
  channels_[{from, to, is_apart}].channel = &made;
  made.host = static_cast<Node>(source.host);
  if (source.host != target.host)
    made.path = network_.path(made.host, static_cast<Node>(target.host), lane_of(from, to));
  return made;
}

/// Those of two ranks, whichever way their messages go.
ChannelTurns& PacketMessages::turns_of(const Actor& source, const Actor& target) {
  const auto from = static_cast<std::uint32_t>(source.number);
  const auto to = static_cast<std::uint32_t>(target.number);
  for (const bool is_apart : {true, false})
    for (const ChannelKey& key : {ChannelKey{to, from, is_apart}, ChannelKey{from, to, is_apart}}) {
      const Known* const known = channels_.find(key);
      if (known != nullptr && known->channel != nullptr && known->channel->turns != nullptr)
        return *known->channel->turns;
    }
  return *::new (channel_memory_.allocate(sizeof(ChannelTurns), alignof(ChannelTurns))) ChannelTurns;
}

PacketMessages::ChannelKey PacketMessages::way_to(aid_t target) const {
  return {static_cast<std::uint32_t>(kernel_.running().number), static_cast<std::uint32_t>(target), false};
}

void PacketMessages::foresee_send(aid_t target) const { channels_.fetch(way_to(target)); }

void PacketMessages::foresee_way(aid_t target) {
  const Known* const known = channels_.find(way_to(target));
  if (known == nullptr) return;
  const auto* const bytes = reinterpret_cast<const char*>(known->channel);
  constexpr std::size_t kLine = 64;
  __builtin_prefetch(bytes);
  __builtin_prefetch(bytes + kLine);
}

/// Whether part of a message goes while no large message comes the other way.
bool PacketMessages::takes_turns(const PacketSend& send) const {
  return protocol_.exchange == Exchange::half && send.stage == PacketSend::Stage::data &&
         send.size > protocol_.turns_above;
}

/// Whether part of a message does not wait behind what else goes the same way. Eager messages do, whatever their
/// size: they find their receives in the order in which they arrive.
bool PacketMessages::goes_apart(const PacketSend& send) const {
  switch (protocol_.exchange) {
    case Exchange::full:
      return send.stage == PacketSend::Stage::cleared;
    case Exchange::half:
      return takes_turns(send) && !send.is_eager;
    default:
      return false;
  }
}

/// Part of a message takes its place behind what goes the same way.
void PacketMessages::set_out(PacketSend& send, const Actor& from, const Actor& to, double payload) {
  const double now = Kernel::now();
  const bool is_data = send.stage == PacketSend::Stage::data;
  Channel& way = channel(from, to, goes_apart(send));
  send.way = &way;
  network_.fetch(way.path);
  if (way.path.count == 0) {
    way.free = std::max(way.free, network_.cross_memory(way.host, payload, now));
    schedule(way.free, nullptr, &send);
    if (is_data && send.is_eager) complete(send);
    return;
  }
  send.path = way.path;
  send.payload = is_data ? send.size : 0;
  send.bytes = wire_bytes(payload);
  send.train_class = train_class(std::ceil(send.bytes / packet_));
  send.behind = nullptr;
  (way.first == nullptr ? way.first : way.last->behind) = &send;
  way.last = &send;
  if (way.untold == nullptr) way.untold = &send;
  if (way.turns == nullptr && takes_turns(send)) way.turns = &turns_of(from, to);
  if (way.free <= now) way.leaving = 0;
  tell_senders(way);
  send_next(way);
}

/// Has the next trains of a channel come to the first queue, once the last ones have left it: as many of
/// a message as it sends in a turn. Where buffers are finite nobody knows yet when a train will leave, and
/// it is one at a time.
void PacketMessages::send_next(Channel& way) {
  if (way.is_busy || way.first == nullptr) return;
  const double now = Kernel::now();
  if (way.free > now) {
    way.is_busy = true;
    schedule(way.free, &way, nullptr);
    return;
  }
  if (!may_go(way)) return;
  PacketSend& send = *way.first;
  const double before = send.bytes;
  do
    way.free = network_.send_train(send, now);
  while (send.bytes > 0 && before - send.bytes < protocol_.turn && way.free != PacketNetwork::kNever);
  way.leaving = before - send.bytes;
  if (way.untold != &send) way.told -= way.leaving;
  way.ends_message = !(send.bytes > 0);
  if (way.ends_message) {
    way.first = send.behind;
    if (way.untold == &send) way.untold = way.first;
    if (way.untold == way.first) way.told = 0;
    const bool is_awaited = send.stage == PacketSend::Stage::data && send.is_awaited && !send.is_done;
    way.departing = is_awaited ? &send : nullptr;
  }
  const bool is_told = way.free == PacketNetwork::kNever;
  const bool has_turn = way.turns != nullptr && way.turns->is_held_by(way);
  way.is_busy = is_told || way.first != nullptr || way.departing != nullptr || has_turn;
  if (way.is_busy && !is_told) schedule(way.free, &way, nullptr);
}

/// Whether it is a channel's turn; if not, it goes on when it is.
bool PacketMessages::may_go(Channel& way) const {
  return way.turns == nullptr || !takes_turns(*way.first) || way.turns->take(way);
}

void PacketMessages::train_left(Channel& way) {
  way.is_busy = false;
  way.leaving = 0;
  if (way.departing != nullptr) complete(*std::exchange(way.departing, nullptr));
  tell_senders(way);
  if (way.ends_message && way.turns != nullptr && way.turns->is_held_by(way))
    if (Channel* const other = way.turns->release(); other != nullptr) send_next(*other);
  send_next(way);
}

/// Lets senders go on whose bytes the transport has room for.
void PacketMessages::tell_senders(Channel& way) {
  for (; way.untold != nullptr; way.untold = way.untold->behind) {
    PacketSend& send = *way.untold;
    if (way.leaving + way.told + send.bytes > send_buffer_) return;
    way.told += send.bytes;
    if (send.stage == PacketSend::Stage::data && send.is_awaited && !send.is_done) complete(send);
  }
}

}  // namespace hamtune::express
