// Messages between ranks that cross the network as packets, under a protocol.
//
// A message of at most the eager limit sets out when it is sent, and waits at its receiver. A larger one
// is announced to the receiver, which answers when it has posted the receive; then its data sets out
// (rendezvous). Messages from one rank to another leave their host one after the other; those to
// different ranks take turns, train by train.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/messaging.hpp"
#include "workers/simulator/express/packet_network.hpp"
#include "workers/simulator/express/waiting.hpp"
#include "workers/simulator/numbers.hpp"
#include "workers/simulator/protocol.hpp"

namespace hamtune::express {

/// An end of a message, and the rank that waits for it.
struct PacketPending : Pending {
  Actor* waiter = nullptr;
  Awaited* among = nullptr;     // it waits for several, in turn
  std::size_t* left = nullptr;  // or for all of several: how many are left
  std::uint32_t position = 0;   // among those
  bool is_done = false;
  bool is_send = false;  // or else a receive
};

/// By what messages of a communicator are told from others. SMPI gives none to that of a rank alone.
int number_of(MPI_Comm communicator);

/// By what receives find messages.
struct MatchEnvelope {
  aid_t source = -1;  // of a receive also MPI_ANY_SOURCE
  int tag = 0;        // of a receive also MPI_ANY_TAG
  int communicator = 0;
};

struct PacketReceive : PacketPending {
  MatchEnvelope envelope;
  Links<PacketReceive> queued;    // while it waits for its other end: see Waiting
  std::uint32_t unmatched = 1;    // messages that it still takes
  std::uint32_t undelivered = 1;  // and waits for
  void* into = nullptr;           // of book-keeping
  std::size_t room = 0;           // there, bytes
  MatchEnvelope found;            // the envelope of what it took last
  std::size_t bytes = 0;          // of that

  std::uint64_t order = 0;
  std::uint32_t key = 0;
  bool is_wild = false;
  bool is_of_each = false;  // a ReceiveOfEach
  Links<PacketReceive> chained;
};

/// A receive of several messages, one of each rank: who has all of its own may send for the next call already.
struct ReceiveOfEach final : PacketReceive {
  std::vector<bool> taken;  // by the number of the sender
};

struct Channel;
class ChannelTurns;

struct PacketSend final : PacketPending, Flow {
  enum class Stage : std::uint8_t { announced, cleared, data, waiting };

  MatchEnvelope envelope;
  Stage stage = Stage::data;  // what is on its way, or that it waits for its receive
  bool is_eager = false;
  bool is_awaited = false;  // by its sender
  bool is_at_end = false;   // the network has no use for it any more
  Actor* source = nullptr;
  Actor* target = nullptr;
  double size = 0;                 // payload bytes
  Channel* way = nullptr;          // that it goes
  PacketSend* behind = nullptr;    // in its channel
  PacketReceive* receive = nullptr;
  std::unique_ptr<std::vector<unsigned char>> copy;  // of book-keeping

  // While it waits for its other end: see Waiting.
  std::uint64_t order = 0;
  std::uint32_t key = 0;
  bool is_wild = false;
  Links<PacketSend> queued;
  Links<PacketSend> chained;
};

class PacketMessages final : public Messaging {
 public:
  /// The kernel, the network and the protocol must outlive it.
  PacketMessages(Kernel& kernel, Network& network, const Protocol& protocol);
  PacketMessages(const PacketMessages&) = delete;
  PacketMessages& operator=(const PacketMessages&) = delete;
  ~PacketMessages() override;

  struct Content {
    const void* from = nullptr;
    std::size_t bytes = 0;
  };

  enum class Mode : std::uint8_t { standard, synchronous, buffered };

  /// Time that a message costs the running rank.
  struct Expense {
    enum class Kind : std::uint8_t { none, busy, late };  // busy: on a core of its host

    Kind kind = Kind::none;
    double seconds = 0;
  };

  /// Of a send, which must follow.
  Expense expense_of_send(const Actor& target, std::size_t bytes, bool is_immediate);
  /// Of a receive, and how late the rank is after it.
  Expense expense_of_receive(std::size_t bytes);
  Expense lateness_after(std::size_t bytes);

  /// Has the processor fetch what a message of the running rank to a target needs: first where that is to be
  /// found, some time later what is there.
  void foresee_send(aid_t target) const;
  void foresee_way(aid_t target);

  /// Charges the running rank for a send.
  void charge_send(const Actor& target, std::size_t bytes, bool is_immediate) {
    spend(expense_of_send(target, bytes, is_immediate));
  }

  /// Charges the running rank for a receive.
  void charge_receive(std::size_t bytes) {
    spend(expense_of_receive(bytes));
    spend(lateness_after(bytes));
  }

  /// Whether receives cost their rank nothing.
  bool receives_are_free() const {
    return protocol_.receive_overhead.is_nothing() && !(protocol_.stagger > 0);
  }

  /// The running rank sends. What it has to wait for, held until `release`; null for nothing.
  Pending* post_send(const MatchEnvelope& envelope, Actor& target, const Content& content, Mode mode);

  /// The running rank receives `count` messages, at least one, and of several one of each rank at most; to be
  /// released in any case.
  PacketReceive& post_receive(const MatchEnvelope& envelope, void* into, std::size_t room,
                              std::uint32_t count = 1);

  /// Blocks the running rank until all of these are done.
  void wait_all(const std::vector<Pending*>& all);

  /// Has the running rank woken when all of these are done, of which `left` tells how many are not: it must
  /// live until then. False where none is left.
  bool expect_all(const std::vector<Pending*>& all, std::size_t& left);

  /// Has the running rank woken, and told, when the next of those that it expects is done; false where one is.
  bool expect_next(Awaited& awaited);

  /// Handles the events up to a date, until a rank is woken. Moves `now` with them.
  void advance(double until, double& now);

  /// Whether messages wait for ever for room in buffers.
  bool is_blocked() const { return network_.is_blocked(); }

  /// Has the network know what has crossed its cables.
  void tell_loads() { network_.tell_loads(); }

  std::optional<Probed> iprobe(SmpiRequest& request, const Actor& target) override;
  Probed probe(SmpiRequest& request) override;
  void wait(Pending& pending) override;
  void expect(Awaited& awaited) override;
  void forget(Awaited& awaited) override;
  std::size_t wait_next(Awaited& awaited) override;
  bool test(Pending& pending) override { return is_done(pending); }
  bool is_done(const Pending& pending) const override {
    return static_cast<const PacketPending&>(pending).is_done;
  }
  void release(Pending& pending) override;

 private:
  struct Box {
    Waiting<PacketSend> arrived;  // and not received
    Waiting<PacketReceive> receives;
    Prober prober;
    std::uint64_t taken = 0;      // messages of several packets
  };

  /// What happens besides trains that come to queues.
  struct Event {
    double date;
    std::uint64_t order;
    Channel* channel;  // whose train has left, or
    PacketSend* send;  // which has crossed the memory of its host

    bool operator>(const Event& other) const {
      return date > other.date || (date == other.date && order > other.order);
    }
  };

  /// Messages from one rank to another; what does not wait for others is apart.
  struct ChannelKey {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    bool is_apart = false;

    bool operator==(const ChannelKey& other) const {
      return source == other.source && target == other.target && is_apart == other.is_apart;
    }

    std::size_t hash() const {
      constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
      return ((std::uint64_t{source} << 32U | target) * 2 + (is_apart ? 1 : 0)) * kMix >> 32U;
    }
  };

  struct Known {
    Channel* channel = nullptr;
  };

  Expense expense_of(double seconds);
  void spend(const Expense& expense);
  bool takes_turns(const PacketSend& send) const;
  bool goes_apart(const PacketSend& send) const;
  Box& box(const Actor& actor);
  ChannelKey way_to(aid_t target) const;
  Channel& channel(const Actor& source, const Actor& target, bool is_apart);
  ChannelTurns& turns_of(const Actor& source, const Actor& target);
  double wire_bytes(double payload) const;
  std::uint8_t train_class(double packets) const;
  void set_out(PacketSend& send, const Actor& from, const Actor& to, double payload);
  void send_next(Channel& channel);
  bool may_go(Channel& channel) const;
  void train_left(Channel& channel);
  void tell_senders(Channel& channel);
  void come(PacketSend& send);
  void match(PacketSend& send, PacketReceive& receive);
  void deliver(PacketSend& send);
  void complete(PacketPending& pending);
  void schedule(double date, Channel* channel, PacketSend* send);

  Kernel& kernel_;
  const Protocol& protocol_;
  double packet_;       // bytes of a full one on the wire
  double send_buffer_;  // bytes
  std::uint8_t longest_;  // class of trains
  std::vector<double> processors_;  // those that all hosts share: when each is free, a heap, the first one first
  PacketNetwork network_;
  std::vector<Box> boxes_;  // by the number of the actor
  Numbers<ChannelKey, Known> channels_;
  std::pmr::monotonic_buffer_resource channel_memory_;
  std::vector<Event> events_;  // a heap, the first due first
  std::uint64_t next_event_ = 0;
};

}  // namespace hamtune::express
