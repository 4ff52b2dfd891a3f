// Messages between ranks: matched as SMPI's mailboxes do, then on their way through the network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workers/simulator/express/kernel.hpp"

namespace simgrid::smpi {
class Request;
}

namespace hamtune::express {

using simgrid::smpi::Request;

class Awaited;
class Messages;

/// A rank that waits for a message: for it alone, or as one of several.
struct Waiter {
  Actor* actor = nullptr;
  Awaited* among = nullptr;  // null: alone
  std::size_t position = 0;  // among them
  std::uint64_t since = 0;   // when it began to wait alone
};

/// From the first of its two ends that is posted until both ends and the network have let it go.
struct Message final : Activity {
  enum class State : std::uint8_t { waiting, running, done };

  State state = State::waiting;
  bool detached = false;  // the sender does not wait for it
  std::uint8_t holders = 0;
  Actor* source = nullptr;
  Actor* target = nullptr;
  Request* send = nullptr;
  Request* receive = nullptr;
  double size = 0;  // bytes, with the envelope

  // What is small is really moved: it may be book-keeping of SMPI (see payload.hpp).
  const void* from = nullptr;
  std::size_t from_size = 0;
  std::vector<unsigned char> copy;  // of a detached message
  void* into = nullptr;
  std::size_t* into_size = nullptr;

  std::array<Waiter, 2> waiters{};  // of its two ends
  std::uint8_t waiter_count = 0;
  std::array<std::size_t, 2> idle_hosts{};  // where somebody waits for this message only
  std::uint8_t idle_count = 0;

  // While its other end is missing.
  std::uint64_t order = 0;  // of its being posted
  std::uint32_t key = 0;    // of its envelope
  bool is_wild = false;     // a receive from any source or with any tag
  Links<Message> queued;
  Links<Message> chained;  // with those of like key

  Messages* messages = nullptr;  // that it is one of

  void at_end() override;
};

/// What waits for its other end, in the order of being posted.
///
/// While there is little of it, it is searched from the first on. More is found by the key of its
/// envelope, in the same order, so that a search meets all that it would have met but what differs
/// in source or tag.
class Waiting {
 public:
  void push_back(Message& message);
  void erase(Message& message);

  /// The first message that `is_match` takes, or null. With a key, only messages of that key and wild
  /// ones need to be asked.
  template <typename IsMatch>
  Message* find(std::optional<std::uint32_t> key, IsMatch is_match) const {
    if (chains_.empty() || !key) {
      Message* message = all_.first();
      while (message != nullptr && !is_match(*message)) message = All::after(message);
      return message;
    }
    Message* like = chains_[*key & (chains_.size() - 1)].first();
    Message* wild = wild_.first();
    while (like != nullptr || wild != nullptr) {
      const bool is_wild = like == nullptr || (wild != nullptr && wild->order < like->order);
      Message*& next = is_wild ? wild : like;
      if (is_match(*next)) return next;
      next = Chain::after(next);
    }
    return nullptr;
  }

 private:
  using All = Sequence<Message, &Message::queued>;
  using Chain = Sequence<Message, &Message::chained>;

  Chain& chain_of(const Message& message);
  void chain_all();

  All all_;
  std::size_t count_ = 0;
  std::uint64_t next_order_ = 0;
  std::vector<Chain> chains_;  // as many as a power of two; none while there is little
  Chain wild_;
};

/// What is posted to one rank and has not found its other end.
struct Mailbox {
  Waiting sends;
  Waiting receives;
};

/// Messages that a rank waits for, one after the other.
class Awaited {
 public:
  explicit Awaited(std::vector<Message*> messages);

 private:
  friend class Messages;

  std::vector<Message*> messages_;
  std::vector<std::size_t> arrived_;  // positions that were not told yet, the least first (a heap)
  bool blocks_ = false;               // until the next one arrives
  std::uint64_t since_ = 0;           // when it began to
  std::size_t told_ = 0;
};

class Messages {
 public:
  /// With the objects of messages that nobody holds any more `before`, if any.
  Messages(Kernel& kernel, Messages* before);
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages();

  /// The calling rank's end of a message. These two return null for a detached one; the message is
  /// held for the caller until `release`.
  Message* post_send(Request& request, Actor& source, Actor& target, double size,
                     const void* from, std::size_t from_size, bool detached);
  Message* post_receive(Request& request, Actor& target, void* into, std::size_t* into_size);

  /// A message that was sent to the rank and that the request matches, or null.
  Request* probe(Request& request, const Actor& target);

  /// Blocks the running rank until the message has arrived.
  void wait(Message& message);

  /// Has the running rank told of the arrival of these, until all have arrived or it is `forgotten`.
  void expect(Awaited& awaited);
  void forget(Awaited& awaited);

  /// Blocks the running rank until one of the messages it expects has arrived; returns its position,
  /// each once. Of several that have arrived the first.
  std::size_t wait_next(Awaited& awaited);

  /// Whether it has arrived.
  bool test(Message& message);

  void release(Message& message);

  /// Called by the network.
  void arrive(Message& message);

 private:
  Mailbox& mailbox(const Actor& target);
  Message& take();
  void set_out(Message& message);
  void add_waiter(Message& message, const Waiter& waiter);
  static std::uint64_t since(const Waiter& waiter);
  void finish(Message& message);

  Kernel& kernel_;
  std::vector<Mailbox> mailboxes_;    // by the number of the actor
  std::vector<Message*> spare_;
  std::uint64_t waits_ = 0;
};

}  // namespace hamtune::express
