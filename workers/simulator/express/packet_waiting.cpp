// How ranks wait for messages made of packets.
#include <algorithm>
#include <functional>

#include "workers/simulator/express/packet_messages.hpp"

namespace hamtune::express {

void PacketMessages::wait(Pending& pending) {
  auto& awaited = static_cast<PacketPending&>(pending);
  if (awaited.is_done) return;
  awaited.waiter = &kernel_.running();
  kernel_.block();
}

void PacketMessages::wait_all(const std::vector<Pending*>& all) {
  std::size_t left = 0;
  if (expect_all(all, left)) kernel_.block();
}

bool PacketMessages::expect_all(const std::vector<Pending*>& all, std::size_t& left) {
  left = 0;
  for (Pending* const each : all) {
    auto& pending = static_cast<PacketPending&>(*each);
    if (pending.is_done) continue;
    pending.waiter = &kernel_.running();
    pending.left = &left;
    ++left;
  }
  return left > 0;
}

void PacketMessages::expect(Awaited& awaited) {
  for (std::size_t position = 0; position < awaited.messages.size(); ++position) {
    auto& pending = static_cast<PacketPending&>(*awaited.messages[position]);
    if (pending.is_done) {
      awaited.arrived.push_back(position);  // in order, which is a heap
      continue;
    }
    pending.waiter = &kernel_.running();
    pending.among = &awaited;
    pending.position = static_cast<std::uint32_t>(position);
  }
}

void PacketMessages::forget(Awaited& awaited) {
  for (Pending* const each : awaited.messages) {
    auto& pending = static_cast<PacketPending&>(*each);
    pending.waiter = nullptr;
    pending.among = nullptr;
  }
}

std::size_t PacketMessages::wait_next(Awaited& awaited) {
  if (expect_next(awaited)) kernel_.block();
  return awaited.told;
}

bool PacketMessages::expect_next(Awaited& awaited) {
  std::vector<std::size_t>& arrived = awaited.arrived;
  if (arrived.empty()) {
    awaited.blocks = true;
    return true;
  }
  std::pop_heap(arrived.begin(), arrived.end(), std::greater<>());
  awaited.told = arrived.back();
  arrived.pop_back();
  return false;
}

void PacketMessages::release(Pending& pending) {
  auto& released = static_cast<PacketPending&>(pending);
  if (!released.is_send) {
    auto* const receive = static_cast<PacketReceive*>(&released);
    if (receive->is_of_each)
      delete static_cast<ReceiveOfEach*>(receive);
    else
      delete receive;
    return;
  }
  auto* const send = static_cast<PacketSend*>(&released);
  send->is_awaited = false;
  if (send->is_at_end) delete send;
}

}  // namespace hamtune::express
