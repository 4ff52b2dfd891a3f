// Queues of a packet network whose buffers are finite: see packet_network.hpp.
#include <algorithm>
#include <utility>

#include "workers/simulator/express/packet_network.hpp"

namespace hamtune::express {

/// A train comes to its next queue and waits there for the cable, and for room behind it.
void PacketNetwork::queue(Train& train, double now) {
  const std::uint32_t number = train.link;
  Stream& waiting = credits_[number].waiting;
  train.behind = nullptr;
  (waiting.first == nullptr ? waiting.first : waiting.last->behind) = &train;
  waiting.last = &train;
  ++held_;
  start_next(number, now);
}

/// Has the next train cross a cable, if that is free and there is room behind it. At its end a train
/// needs none.
void PacketNetwork::start_next(std::uint32_t number, double now) {
  Credit& credit = credits_[number];
  if (credit.is_busy || credit.waiting.first == nullptr) return;
  Train& train = *credit.waiting.first;
  const bool goes_on = train.steps > 1;
  if (goes_on && credit.room < train.bytes) return;
  credit.waiting.first = train.behind;
  --held_;
  const bool is_first = train.next == train.flow->path.steps;
  if (goes_on) credit.room -= train.bytes;
  credit.is_busy = true;
  credit.leaving = train.bytes;
  credit.before = is_first ? Credit::kNone : train.next[-1].link;
  credit.sender = is_first ? train.flow : nullptr;
  const double starts = std::max(now, links_[number].free);  // behind a burst it is not yet due
  train.date = std::max(train.date, now);  // nor does a burst take back the time that it has waited
  const double leaves = cross(train, starts);
  add_due(leaves, number);
}

/// A train has left the queue of the link that is due first, and the buffer where it stood. Returns the
/// flow if it is the one that sends it, else null.
Flow* PacketNetwork::leave(double now) {
  const std::uint32_t number = due_.first().stream();
  due_.drop_first(fetcher());
  Credit& credit = credits_[number];
  credit.is_busy = false;
  Flow* const sender = std::exchange(credit.sender, nullptr);
  const std::uint32_t before = std::exchange(credit.before, Credit::kNone);
  if (before != Credit::kNone) credits_[before].room += credit.leaving;
  start_next(number, now);
  if (before != Credit::kNone) start_next(before, now);
  return sender;
}

}  // namespace hamtune::express
