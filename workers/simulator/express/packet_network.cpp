#include "workers/simulator/express/packet_network.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace hamtune::express {

namespace {

constexpr std::uint32_t kMostSteps = (1U << 30U) - 1;  // of a path, more than there are hosts

}  // namespace

PacketNetwork::PacketNetwork(Network& network, const Packets& packets)
    : network_(network), packets_(packets) {
  for (const Network::Link& link : network.links()) {
    first_lane_.push_back(static_cast<std::uint32_t>(links_.size()));
    for (std::uint32_t lane = 0; lane < link.lanes; ++lane) {
      Link& queue = links_.emplace_back();
      queue.seconds_per_byte = link.lanes / link.bandwidth;
      queue.latency = link.latency;
    }
  }
  if (packets.buffer == kNever) {
    if (packets.burst > 0) left_.resize(links_.size());
    return;
  }
  credits_.resize(links_.size());
  for (Credit& credit : credits_) credit.room = packets.buffer;
}

Path PacketNetwork::path(Node source, Node target, std::uint32_t lane) {
  const std::vector<std::uint32_t>& route = network_.route(source, target);
  auto* const steps = static_cast<Path::Step*>(
      memory_.allocate(route.size() * sizeof(Path::Step), alignof(Path::Step)));
  std::transform(route.begin(), route.end(), steps, [this, lane](std::uint32_t number) {
    const Network::Link& link = network_.links()[number];
    const bool holds = link.is_cable && !packets_.cut_through;
    return Path::Step{first_lane_[number] + lane % link.lanes, holds ? 1U : 0U};
  });
  const std::uint32_t first_link = route.empty() ? 0 : steps->link;
  return {steps, static_cast<std::uint32_t>(route.size()), first_link};
}

void PacketNetwork::fetch(const Path& path) const {
  __builtin_prefetch(path.steps);
  __builtin_prefetch(&links_[path.first_link]);
  __builtin_prefetch(spare_);
}

PacketNetwork::Train& PacketNetwork::make_train() {
  if (spare_ == nullptr) return *::new (memory_.allocate(sizeof(Train), alignof(Train))) Train;
  Train& train = *spare_;
  spare_ = train.behind;
  return train;
}

void PacketNetwork::discard(Train& train) {
  train.behind = spare_;
  spare_ = &train;
}

/// Flows take turns at their first queue, so their trains are all as long as those of the one whose are
/// the shortest. What a flow sends at once says nothing of itself.
double PacketNetwork::turn(const Flow& flow) {
  if (flow.train_class == 0) return packets_.size;
  if (turns_.empty()) turns_.resize(links_.size());
  const Turns& turns = turns_[flow.path.first_link];
  unsigned shortest = 0;
  while (shortest < flow.train_class && turns.flows[shortest] == 0) ++shortest;
  return std::ldexp(packets_.size, static_cast<int>(shortest));
}

void PacketNetwork::count_turns(const Flow& flow, int change) {
  if (turns_.empty()) turns_.resize(links_.size());
  turns_[flow.path.first_link].flows[flow.train_class] += static_cast<std::uint32_t>(change);
}

double PacketNetwork::send_train(Flow& flow, double now) {
  Train& train = make_train();
  train.bytes = std::min(flow.bytes, turn(flow));
  const bool was_sending = flow.is_sending;
  flow.bytes -= train.bytes;
  train.is_last = flow.bytes > 0 ? 0 : 1;
  flow.is_sending = flow.bytes > 0;
  if (was_sending != flow.is_sending) count_turns(flow, flow.is_sending ? 1 : -1);
  train.date = train.tail = now;
  train.load = train.is_last != 0 ? flow.payload : 0;
  train.flow = &flow;
  train.next = flow.path.steps;
  train.link = flow.path.first_link;
  train.steps = flow.path.count & kMostSteps;
  train.was_held = 0;
  if (credits_.empty()) return enter(train);
  queue(train, now);
  return kNever;
}

/// A train comes to its next queue. Returns when it will have left that: not before the one that came
/// before it, whose end may still be on its way here, also where the cable lets a burst pass at once.
double PacketNetwork::enter(Train& train) {
  const std::uint32_t number = train.link;
  const double starts = std::max(train.date, links_[number].free);
  if (left_.empty()) return cross(train, starts);
  train.date = std::max(train.date, left_[number]);
  return left_[number] = cross(train, starts);
}

/// It begins to cross the cable at a date.
double PacketNetwork::cross(Train& train, double starts) {
  const std::uint32_t number = train.link;
  Link& link = links_[number];
  double leaves = starts + train.bytes * link.seconds_per_byte;
  if (train.tail > train.date) {  // its end may still be on its way, over a slower cable
    const double kept = train.was_held != 0 ? held_bytes(train.bytes) : 0;
    leaves = std::max(leaves, train.tail + kept * link.seconds_per_byte);
  }
  link.free = leaves;
  link.load += train.load;
  const double ahead = packets_.burst * link.seconds_per_byte;
  leaves = std::max({train.date, train.tail, leaves - ahead});
  train.tail = leaves + link.latency;
  if (--train.steps > 0) {
    train.was_held = train.next->holds & 1U;
    const double head = train.was_held != 0 ? packets_.size : packets_.head;
    const double has_left = starts + std::min(train.bytes, head) * link.seconds_per_byte;
    train.date = std::max(train.date, has_left - ahead) + link.latency;
    train.link = (++train.next)->link;
    push(onward(number), train);
  } else if (train.is_last != 0) {
    train.date = train.tail;
    push(onward(number) + 1, train);
  } else {
    discard(train);
  }
  return leaves;
}

/// Of a train that is held, what cannot leave before its last byte has come: the last packet.
double PacketNetwork::held_bytes(double bytes) const {
  return bytes - (std::ceil(bytes / packets_.size) - 1) * packets_.size;
}

void PacketNetwork::push(std::uint32_t number, Train& train) {
  Stream& trains = stream(number);
  train.behind = nullptr;
  if (trains.first != nullptr) {
    trains.last = trains.last->behind = &train;
    return;
  }
  trains.first = trains.last = &train;
  add_due(train.date, number);
}

/// In the hole, where there is one: what is due before it would rise above it, and be dropped in its stead.
void PacketNetwork::add_due(double date, std::uint32_t number) {
  if (std::exchange(has_hole_, false))
    due_.replace_first({date, number}, fetcher());
  else
    due_.insert({date, number});
}

/// The train that is due first. Where it was the only one of its stream it leaves a hole, which most often
/// the stream fills to which it goes.
PacketNetwork::Train& PacketNetwork::take() {
  const std::uint32_t number = due_.first().stream();
  Stream& trains = stream(number);
  Train& train = *trains.first;
  trains.first = train.behind;
  if (trains.first != nullptr)
    due_.replace_first({trains.first->date, number}, fetcher());
  else
    has_hole_ = true;
  return train;
}

void PacketNetwork::fill_hole() {
  if (std::exchange(has_hole_, false)) due_.drop_first(fetcher());
}

PacketNetwork::Progress PacketNetwork::advance(double until, double& now) {
  while (!due_.is_empty() && due_.first().date() <= until) {
    const double date = due_.first().date();
    if (due_.first().stream() < links_.size()) {
      Flow* const sender = leave(date);
      if (sender == nullptr) continue;
      now = date;
      return {sender, false};
    }
    Train& train = take();
    if (train.steps == 0) {
      fill_hole();
      now = date;
      discard(train);
      return {train.flow, true};
    }
    if (credits_.empty())
      enter(train);
    else
      queue(train, date);
    fill_hole();
  }
  return {};
}

void PacketNetwork::tell_loads() {
  for (std::size_t number = 0; number < first_lane_.size(); ++number) {
    const Network::Link& link = network_.links()[number];
    for (std::uint32_t lane = 0; link.load != nullptr && lane < link.lanes; ++lane)
      *link.load += std::exchange(links_[first_lane_[number] + lane].load, 0);
  }
}

double PacketNetwork::cross_memory(Node host, double bytes, double now) {
  const std::vector<std::uint32_t>& route = network_.route(host, host);
  const Network::Link& loopback = network_.links()[route.front()];
  double there = now + bytes / loopback.bandwidth;
  if (route.size() > 1) {
    Link& memory = links_[first_lane_[route.back()]];
    memory.free = std::max(memory.free, now) + bytes * memory.seconds_per_byte;
    there = std::max(there, memory.free);
  }
  return there + loopback.latency;
}

}  // namespace hamtune::express
