// Messages between ranks: matched as SMPI's mailboxes do, then on their way through the network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/messaging.hpp"
#include "workers/simulator/express/waiting.hpp"

namespace hamtune::express {

class Messages;

/// A rank that waits for a message: for it alone, or as one of several.
struct Waiter {
  Actor* actor = nullptr;
  Awaited* among = nullptr;  // null: alone
  std::size_t position = 0;  // among them
  std::uint64_t since = 0;   // when it began to wait alone
};

/// From the first of its two ends that is posted until both ends and the network have let it go.
struct Message final : Activity, Pending {
  enum class State : std::uint8_t { waiting, running, done };

  State state = State::waiting;
  bool detached = false;  // the sender does not wait for it
  std::uint8_t holders = 0;
  Actor* source = nullptr;
  Actor* target = nullptr;
  SmpiRequest* send = nullptr;
  SmpiRequest* receive = nullptr;
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

  // While it waits for its other end: see Waiting.
  std::uint64_t order = 0;
  std::uint32_t key = 0;
  bool is_wild = false;
  Links<Message> queued;
  Links<Message> chained;

  Messages* messages = nullptr;  // that it is one of

  void at_end() override;
};

/// What is posted to one rank and has not found its other end.
struct Mailbox {
  Waiting<Message> sends;
  Waiting<Message> receives;
  Prober prober;
};

class Messages final : public Messaging {
 public:
  /// With the objects of messages that nobody holds any more `before`, if any.
  Messages(Kernel& kernel, Messages* before);
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages() override;

  /// The calling rank's end of a message, held for it until `release`; null for a detached one.
  Message* post_send(SmpiRequest& request, Actor& source, Actor& target, double size,
                     const void* from, std::size_t from_size, bool detached);
  Message* post_receive(SmpiRequest& request, Actor& target, void* into, std::size_t* into_size);

  std::optional<Probed> iprobe(SmpiRequest& request, const Actor& target) override;
  Probed probe(SmpiRequest& request) override;
  void wait(Pending& pending) override;
  void expect(Awaited& awaited) override;
  void forget(Awaited& awaited) override;
  std::size_t wait_next(Awaited& awaited) override;
  bool test(Pending& pending) override;
  bool is_done(const Pending& pending) const override;
  void release(Pending& pending) override;

  /// Called by the network.
  void arrive(Message& message);

 private:
  Mailbox& mailbox(const Actor& target);
  Message& take();
  void let_go(Message& message);
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
