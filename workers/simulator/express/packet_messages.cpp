#include "workers/simulator/express/packet_messages.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include "workers/simulator/express/requests.hpp"
#include "workers/simulator/payload.hpp"
#include "workers/simulator/progress.hpp"

namespace hamtune::express {

/// Whose turn it is where large messages between two ranks go one direction at a time.
struct ChannelTurns {
  Channel* holder = nullptr;
  Channel* stalled = nullptr;  // the other direction, until it is its turn
};

/// What one rank sends to another, in order. Its trains come to the first queue one at a time.
struct Channel {
  Path path;  // empty within a host
  PacketSend* first = nullptr;      // of those that have not left whole
  PacketSend* last = nullptr;
  PacketSend* departing = nullptr;  // its sender waits until its last train, which is leaving, has left
  ChannelTurns* turns = nullptr;    // none where both directions are free
  double free = 0;     // when the last train has left, or has crossed the memory of the host, s
  double leaving = 0;  // bytes of that train
  Node host = 0;       // of the sender
  std::uint32_t awaited = 0;  // senders that wait for what is here
  bool is_busy = false;       // an event will tell when the train has left
  bool ends_message = false;  // it is the last one of its message
  bool has_met = false;       // a message was sent before
};

namespace {

double or_never(const std::optional<double>& value) {
  return value.value_or(PacketNetwork::kNever);
}

/// Bytes of a full packet, on the wire.
double full_packet(const Protocol& protocol) { return protocol.mtu + protocol.framing; }

/// The least class whose trains are of so many packets, or more.
std::uint8_t class_of(double packets) {
  constexpr double kMost = PacketNetwork::kTrainClasses - 1;
  return static_cast<std::uint8_t>(std::clamp(std::ceil(std::log2(packets)), 0.0, kMost));
}

/// That of the longest trains: a buffer of finite size holds several.
std::uint8_t longest_class(const Protocol& protocol) {
  constexpr double kTrainsABuffer = 4;
  if (!protocol.buffer) return PacketNetwork::kTrainClasses - 1;
  const double packets = std::floor(*protocol.buffer / full_packet(protocol) / kTrainsABuffer);
  return packets < 2 ? 0 : static_cast<std::uint8_t>(std::floor(std::log2(packets)));
}

/// A number that looks drawn (the finalizer of SplitMix64: Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15;
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EB;
  return number ^ (number >> 31U);
}

/// Which of parallel cables messages between two ranks take: always the same, as link aggregation does, so
/// that they stay in order.
std::uint32_t lane_of(std::uint32_t source, std::uint32_t target) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  return static_cast<std::uint32_t>((std::uint64_t{source} * kMix + target) * kMix >> 33U);
}

std::uint32_t key_of(const MatchEnvelope& envelope) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  std::uint64_t mixed = static_cast<std::uint64_t>(envelope.source) * kMix;
  mixed = (mixed + static_cast<std::uint32_t>(envelope.tag)) * kMix;
  return static_cast<std::uint32_t>(mixed >> 32U);
}

bool is_wild(const MatchEnvelope& envelope) {
  return envelope.source == MPI_ANY_SOURCE || envelope.tag == MPI_ANY_TAG;
}

/// Whether a receive takes a message. SMPI's own communicators may have no number.
bool takes(const MatchEnvelope& receive, const MatchEnvelope& send) {
  return (receive.source == send.source || receive.source == MPI_ANY_SOURCE) &&
         (receive.tag == send.tag || (receive.tag == MPI_ANY_TAG && send.tag >= 0)) &&
         (receive.communicator == send.communicator || receive.communicator == MPI_UNDEFINED ||
          send.communicator == MPI_UNDEFINED);
}

std::optional<std::uint32_t> wanted(const MatchEnvelope& receive) {
  return is_wild(receive) ? std::nullopt : std::optional(key_of(receive));
}

}  // namespace

PacketMessages::PacketMessages(Kernel& kernel, Network& network, const Protocol& protocol)
    : kernel_(kernel),
      protocol_(protocol),
      packet_(full_packet(protocol)),
      send_buffer_(or_never(protocol.send_buffer)),
      longest_(longest_class(protocol)),
      processors_(protocol.processors, 0.0),
      network_(network, {protocol.cuts_through, full_packet(protocol), protocol.framing,
                         or_never(protocol.buffer), protocol.burst}) {}

/// Messages that nobody has received are left where they are: a process serves few requests.
PacketMessages::~PacketMessages() = default;

PacketMessages::Box& PacketMessages::box(const Actor& actor) {
  const auto number = static_cast<std::size_t>(actor.number);
  if (boxes_.size() <= number) boxes_.resize(number + 1);
  return boxes_[number];
}

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
  if (is_apart && protocol_.exchange == Exchange::half) {
    const Channel* const opposite = channels_[{to, from, true}].channel;
    made.turns = opposite != nullptr
                     ? opposite->turns
                     : ::new (channel_memory_.allocate(sizeof(ChannelTurns), alignof(ChannelTurns)))
                           ChannelTurns;
  }
  return made;
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

double PacketMessages::wire_bytes(double payload) const {
  const double bytes = payload + protocol_.message_header;
  const double packets = std::max(1.0, std::ceil(bytes / (protocol_.mtu - protocol_.header)));
  return bytes + packets * (protocol_.header + protocol_.framing);
}

/// Of a message of so many packets.
std::uint8_t PacketMessages::train_class(double packets) const {
  if (packets <= protocol_.trains) return 0;
  return std::min(longest_, class_of(packets / protocol_.trains));
}

/// On a core of the host, or on one of the processors that all hosts share.
PacketMessages::Expense PacketMessages::expense_of(double seconds) {
  if (!(seconds > 0)) return {};
  if (processors_.empty()) return {Expense::Kind::busy, seconds};
  std::pop_heap(processors_.begin(), processors_.end(), std::greater<>());
  const double now = Kernel::now();
  processors_.back() = std::max(processors_.back(), now) + seconds;
  const double wait = processors_.back() - now;
  std::push_heap(processors_.begin(), processors_.end(), std::greater<>());
  return {Expense::Kind::late, wait};
}

void PacketMessages::spend(const Expense& expense) {
  if (expense.kind == Expense::Kind::busy) kernel_.execute_for(expense.seconds);
  if (expense.kind == Expense::Kind::late) kernel_.sleep(expense.seconds);
}

PacketMessages::Expense PacketMessages::expense_of_send(const Actor& target, std::size_t bytes,
                                                        bool is_immediate) {
  const auto size = static_cast<double>(bytes);
  double seconds =
      is_immediate ? protocol_.isend_overhead(size) : protocol_.send_overhead(size);
  if (protocol_.peer_overhead > 0) {
    Channel& to = channel(kernel_.running(), target, false);
    if (!to.has_met) seconds += protocol_.peer_overhead;
    to.has_met = true;
  }
  return expense_of(seconds);
}

PacketMessages::Expense PacketMessages::expense_of_receive(std::size_t bytes) {
  return expense_of(protocol_.receive_overhead(static_cast<double>(bytes)));
}

/// Two ranks that do alike are not in step for long on real processors, and who announces a large message
/// first decides which goes first.
PacketMessages::Expense PacketMessages::lateness_after(std::size_t bytes) {
  if (!(protocol_.stagger > 0) || static_cast<double>(bytes) <= protocol_.mtu) return {};
  constexpr double kOne = 0x1p-64;
  const Actor& actor = kernel_.running();
  const std::uint64_t drawn =
      mixed(mixed(static_cast<std::uint64_t>(actor.number)) + box(actor).taken++);
  return {Expense::Kind::late, protocol_.stagger * kOne * static_cast<double>(drawn)};
}

Pending* PacketMessages::post_send(const MatchEnvelope& envelope, Actor& target,
                                   const Content& content, Mode mode) {
  progress::send_message();
  auto& send = *new PacketSend;
  send.envelope = envelope;
  send.key = key_of(envelope);
  send.source = &kernel_.running();
  send.target = &target;
  send.size = static_cast<double>(content.bytes);
  send.is_send = true;
  send.is_eager = mode != Mode::synchronous && send.size <= or_never(protocol_.eager_limit);
  send.is_awaited = mode != Mode::buffered;
  if (is_bookkeeping(content.from, content.bytes)) {
    const auto* const bytes = static_cast<const unsigned char*>(content.from);
    send.copy = std::make_unique<std::vector<unsigned char>>(bytes, bytes + content.bytes);
  }
  send.stage = send.is_eager ? PacketSend::Stage::data : PacketSend::Stage::announced;
  set_out(send, *send.source, target, send.is_eager ? send.size : protocol_.control_bytes);
  if (send.is_done) send.is_awaited = false;
  return send.is_awaited ? &send : nullptr;
}

PacketReceive& PacketMessages::post_receive(const MatchEnvelope& envelope, void* into,
                                            std::size_t room, std::uint32_t count) {
  auto& receive = *new PacketReceive;
  receive.envelope = envelope;
  receive.key = key_of(envelope);
  receive.is_wild = is_wild(envelope);
  receive.unmatched = receive.undelivered = count;
  receive.into = into;
  receive.room = room;
  Box& mine = box(kernel_.running());
  while (receive.unmatched > 0) {
    PacketSend* const send =
        mine.arrived.find(wanted(envelope), [&envelope](const PacketSend& other) {
          return takes(envelope, other.envelope);
        });
    if (send == nullptr) {
      mine.receives.push_back(receive);
      break;
    }
    mine.arrived.erase(*send);
    match(*send, receive);
  }
  return receive;
}

/// Both ends have found each other, at the receiver.
void PacketMessages::match(PacketSend& send, PacketReceive& receive) {
  send.receive = &receive;
  --receive.unmatched;
  receive.found = send.envelope;
  receive.bytes = static_cast<std::size_t>(send.size);
  if (send.is_eager) {
    deliver(send);
    return;
  }
  send.stage = PacketSend::Stage::cleared;
  set_out(send, *send.target, *send.source, protocol_.control_bytes);
}

/// Whether part of a message does not wait behind what else goes the same way.
bool PacketMessages::goes_apart(const PacketSend& send) const {
  switch (protocol_.exchange) {
    case Exchange::full:
      return send.stage == PacketSend::Stage::cleared;
    case Exchange::half:
      return send.stage == PacketSend::Stage::data && send.size > protocol_.turns_above;
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
  if (is_data && send.is_awaited && !send.is_done) ++way.awaited;
  (way.first == nullptr ? way.first : way.last->behind) = &send;
  way.last = &send;
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
  way.ends_message = !(send.bytes > 0);
  if (way.ends_message) {
    way.first = send.behind;
    const bool is_awaited = send.stage == PacketSend::Stage::data && send.is_awaited && !send.is_done;
    way.departing = is_awaited ? &send : nullptr;
  }
  const bool is_told = way.free == PacketNetwork::kNever;
  way.is_busy = is_told || way.first != nullptr || way.departing != nullptr || way.turns != nullptr;
  if (way.is_busy && !is_told) schedule(way.free, &way, nullptr);
}

/// Whether it is a channel's turn; if not, it goes on when it is.
bool PacketMessages::may_go(Channel& way) {
  if (way.turns == nullptr) return true;
  Channel*& holder = way.turns->holder;
  if (holder == nullptr) holder = &way;
  if (holder == &way) return true;
  way.turns->stalled = &way;
  return false;
}

void PacketMessages::train_left(Channel& way) {
  way.is_busy = false;
  way.leaving = 0;
  if (way.departing != nullptr) {
    --way.awaited;
    complete(*std::exchange(way.departing, nullptr));
  }
  tell_senders(way);
  if (way.turns != nullptr && way.ends_message) {
    way.turns->holder = nullptr;
    if (Channel* const other = std::exchange(way.turns->stalled, nullptr); other != nullptr)
      send_next(*other);
  }
  send_next(way);
}

/// Lets senders go on whose bytes the transport has room for.
void PacketMessages::tell_senders(Channel& way) {
  double unsent = way.leaving;
  for (PacketSend* send = way.first; send != nullptr && way.awaited > 0; send = send->behind) {
    unsent += send->bytes;
    if (unsent > send_buffer_) return;
    if (send->stage != PacketSend::Stage::data || !send->is_awaited || send->is_done) continue;
    --way.awaited;
    complete(*send);
  }
}

void PacketMessages::schedule(double date, Channel* way, PacketSend* send) {
  events_.push_back({date, next_event_++, way, send});
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

void PacketMessages::advance(double until, double& now) {
  while (!kernel_.is_woken()) {
    const double next = events_.empty() ? PacketNetwork::kNever : events_.front().date;
    const PacketNetwork::Progress progress = network_.advance(std::min(until, next), now);
    if (progress.flow != nullptr) {
      auto& send = static_cast<PacketSend&>(*progress.flow);
      if (progress.has_arrived) {
        come(send);
      } else {
        send.way->free = now;
        train_left(*send.way);
      }
      continue;
    }
    if (events_.empty() || next > until) return;
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    const Event event = events_.back();
    events_.pop_back();
    now = event.date;
    if (event.channel != nullptr)
      train_left(*event.channel);
    else
      come(*event.send);
  }
}

/// All that set out has arrived.
void PacketMessages::come(PacketSend& send) {
  switch (send.stage) {
    case PacketSend::Stage::cleared:  // at the sender
      send.stage = PacketSend::Stage::data;
      set_out(send, *send.source, *send.target, send.size);
      return;
    case PacketSend::Stage::data:
      if (!send.is_eager) {
        deliver(send);
        return;
      }
      break;
    default:
      break;
  }
  Box& there = box(*send.target);
  PacketReceive* const receive =
      there.receives.find(send.key, [&send](const PacketReceive& other) {
        return takes(other.envelope, send.envelope);
      });
  if (receive == nullptr) {
    there.arrived.push_back(send);
    const Prober& prober = there.prober;
    if (prober.actor != nullptr && takes(match_envelope_of(*prober.request), send.envelope))
      kernel_.wake(*std::exchange(there.prober, {}).actor);
    return;
  }
  if (receive->unmatched == 1) there.receives.erase(*receive);
  match(send, *receive);
}

/// The receiver has the message.
void PacketMessages::deliver(PacketSend& send) {
  PacketReceive& receive = *send.receive;
  if (send.copy && receive.into != nullptr && !scratch::contains(receive.into))
    std::memcpy(receive.into, send.copy->data(), std::min(send.copy->size(), receive.room));
  if (send.is_awaited && !send.is_done) {
    // Without latency the last train arrives in the instant in which it leaves.
    if (send.way->departing == &send) {
      send.way->departing = nullptr;
      --send.way->awaited;
    }
    complete(send);
  }
  send.is_at_end = true;
  if (!send.is_awaited) delete &send;
  if (--receive.undelivered == 0) complete(receive);
}

void PacketMessages::complete(PacketPending& pending) {
  pending.is_done = true;
  if (pending.waiter == nullptr) return;
  Awaited* const among = pending.among;
  if (pending.left != nullptr) {
    if (--*pending.left > 0) return;
  } else if (among != nullptr) {
    if (!among->blocks) {
      among->arrived.push_back(pending.position);
      std::push_heap(among->arrived.begin(), among->arrived.end(), std::greater<>());
      return;
    }
    among->blocks = false;
    among->told = pending.position;
  }
  kernel_.wake(*pending.waiter);
}

std::optional<Probed> PacketMessages::iprobe(SmpiRequest& request, const Actor& target) {
  const MatchEnvelope envelope = match_envelope_of(request);
  const PacketSend* const send =
      box(target).arrived.find(wanted(envelope), [&envelope](const PacketSend& other) {
        return takes(envelope, other.envelope);
      });
  if (send == nullptr) return std::nullopt;
  return Probed{send->envelope.source, send->envelope.tag, static_cast<std::size_t>(send->size)};
}

Probed PacketMessages::probe(SmpiRequest& request) {
  Actor& actor = kernel_.running();
  const std::optional<Probed> found = iprobe(request, actor);
  if (found) return *found;
  box(actor).prober = {&actor, &request};
  kernel_.block();
  return iprobe(request, actor).value();
}

}  // namespace hamtune::express
