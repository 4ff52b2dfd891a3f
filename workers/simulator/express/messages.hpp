// Messages between ranks: matched as SMPI's mailboxes do, then on their way through the network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workers/simulator/express/kernel.hpp"

namespace simgrid::smpi {
class Request;
}

namespace hamtune::express {

using simgrid::smpi::Request;

class Messages;

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

  std::array<Actor*, 4> waiters{};
  std::uint8_t waiter_count = 0;
  std::array<std::size_t, 2> idle_hosts{};  // where somebody waits for this message only
  std::uint8_t idle_count = 0;
  Links<Message> queued;

  Messages* messages = nullptr;  // that it is one of

  void at_end() override;
};

/// What is posted to one rank and has not found its other end, in order.
struct Mailbox {
  using Queue = Sequence<Message, &Message::queued>;
  Queue sends;
  Queue receives;
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

  /// Blocks the running rank until one of the messages has arrived; returns its position.
  std::size_t wait_any(const std::vector<Message*>& messages);

  /// Whether it has arrived.
  bool test(Message& message);

  void release(Message& message);

  /// Called by the network.
  void arrive(Message& message);

 private:
  Mailbox& mailbox(const Actor& target);
  Message& take();
  void set_out(Message& message);
  void add_waiter(Message& message, Actor& actor);
  void finish(Message& message);

  Kernel& kernel_;
  std::vector<Mailbox> mailboxes_;    // by the number of the actor
  std::vector<Message*> spare_;
};

}  // namespace hamtune::express
