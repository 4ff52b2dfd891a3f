#include "workers/simulator/express/packet_messages.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "workers/simulator/express/packet_channel.hpp"
#include "workers/simulator/express/requests.hpp"
#include "workers/simulator/payload.hpp"
#include "workers/simulator/progress.hpp"

namespace hamtune::express {

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

std::uint32_t key_of(const MatchEnvelope& envelope) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  std::uint64_t mixed = static_cast<std::uint64_t>(envelope.source) * kMix;
  mixed = (mixed + static_cast<std::uint32_t>(envelope.tag)) * kMix;
  return static_cast<std::uint32_t>(mixed >> 32U);
}

bool is_wild(const MatchEnvelope& envelope) {
  return envelope.source == MPI_ANY_SOURCE || envelope.tag == MPI_ANY_TAG;
}

/// Whether a receive takes a message. Communicators that SMPI is making have no number.
bool takes(const MatchEnvelope& receive, const MatchEnvelope& send) {
  return (receive.source == send.source || receive.source == MPI_ANY_SOURCE) &&
         (receive.tag == send.tag || (receive.tag == MPI_ANY_TAG && send.tag >= 0)) &&
         (receive.communicator == send.communicator || receive.communicator == MPI_UNDEFINED ||
          send.communicator == MPI_UNDEFINED);
}

/// The same of one that may have taken the message that it takes of a rank.
bool takes(const PacketReceive& receive, const MatchEnvelope& send) {
  if (!takes(receive.envelope, send)) return false;
  if (!receive.is_of_each) return true;
  const std::vector<bool>& taken = static_cast<const ReceiveOfEach&>(receive).taken;
  const auto source = static_cast<std::size_t>(send.source);
  return source >= taken.size() || !taken[source];
}

void note_taken(ReceiveOfEach& receive, aid_t sender) {
  const auto source = static_cast<std::size_t>(sender);
  if (receive.taken.size() <= source) receive.taken.resize(source + 1);
  receive.taken[source] = true;
}

std::optional<std::uint32_t> wanted(const MatchEnvelope& receive) {
  return is_wild(receive) ? std::nullopt : std::optional(key_of(receive));
}

}  // namespace

int number_of(MPI_Comm communicator) {
  constexpr int kAlone = MPI_UNDEFINED - 1;
  const int id = communicator->id();
  return id == MPI_UNDEFINED && communicator->size() == 1 ? kAlone : id;
}

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
  PacketReceive& receive = count > 1 ? *new ReceiveOfEach : *new PacketReceive;
  receive.is_of_each = count > 1;
  receive.envelope = envelope;
  receive.key = key_of(envelope);
  receive.is_wild = is_wild(envelope);
  receive.unmatched = receive.undelivered = count;
  receive.into = into;
  receive.room = room;
  Box& mine = box(kernel_.running());
  while (receive.unmatched > 0) {
    PacketSend* const send =
        mine.arrived.find(wanted(envelope), [&receive](const PacketSend& other) {
          return takes(receive, other.envelope);
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
  if (receive.is_of_each) note_taken(static_cast<ReceiveOfEach&>(receive), send.envelope.source);
  receive.found = send.envelope;
  receive.bytes = static_cast<std::size_t>(send.size);
  if (send.is_eager) {
    deliver(send);
    return;
  }
  send.stage = PacketSend::Stage::cleared;
  set_out(send, *send.target, *send.source, protocol_.control_bytes);
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
        return takes(other, send.envelope);
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
    if (send.way->departing == &send) send.way->departing = nullptr;
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
