#include "workers/simulator/express/direct_messages.hpp"

#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/packet_messages.hpp"

namespace hamtune::express {

namespace {

using Mode = PacketMessages::Mode;

Mode mode_of(SendMode mode) {
  switch (mode) {
    case SendMode::synchronous:
      return Mode::synchronous;
    case SendMode::buffered:
      return Mode::buffered;
    default:
      return Mode::standard;
  }
}

/// Forgets one that is done. False if its message was longer than the receive.
bool let_go(PacketMessages& messages, Pending& pending) {
  bool fits = true;
  if (const auto& end = static_cast<const PacketPending&>(pending); !end.is_send) {
    const auto& receive = static_cast<const PacketReceive&>(end);
    fits = receive.bytes <= receive.room;
    if (!messages.receives_are_free()) messages.charge_receive(receive.bytes);
  }
  messages.release(pending);
  return fits;
}

}  // namespace

bool sends_directly() { return kernel() != nullptr && kernel()->packets() != nullptr; }

Pending* start_send(const DirectMessage& message, SendMode mode, bool is_immediate) {
  Kernel& used = *kernel();
  PacketMessages& messages = *used.packets();
  Actor& target = used.receiver(message.communicator->group()->actor(message.peer));
  messages.charge_send(target, message.bytes, is_immediate);
  return messages.post_send({used.running().number, message.tag, message.communicator->id()}, target,
                            {nullptr, message.bytes}, mode_of(mode));
}

Pending* start_receive(const DirectMessage& message) {
  const aid_t source = message.peer == MPI_ANY_SOURCE
                           ? static_cast<aid_t>(MPI_ANY_SOURCE)
                           : message.communicator->group()->actor(message.peer);
  return &kernel()->packets()->post_receive({source, message.tag, message.communicator->id()}, nullptr,
                                            message.bytes);
}

bool finish(const std::vector<Pending*>& all, const std::function<void()>& before_each) {
  PacketMessages& messages = *kernel()->packets();
  bool fits = true;
  if (messages.receives_are_free() && !before_each) {
    messages.wait_all(all);
    for (Pending* const pending : all) fits = let_go(messages, *pending) && fits;
    return fits;
  }
  Awaited awaited(all);
  messages.expect(awaited);
  for (std::size_t left = all.size(); left > 0; --left) {
    if (before_each) before_each();
    fits = let_go(messages, *all[messages.wait_next(awaited)]) && fits;
  }
  return fits;
}

}  // namespace hamtune::express
