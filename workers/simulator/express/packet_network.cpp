#include "workers/simulator/express/packet_network.hpp"

#include <algorithm>
#include <cmath>

namespace hamtune::express {

namespace {

constexpr std::size_t kChildren = 4;  // of a place in the heap

}  // namespace

PacketNetwork::PacketNetwork(Network& network, const Packets& packets)
    : network_(network), packets_(packets) {
  for (const Network::Link& link : network.links()) {
    first_lane_.push_back(static_cast<std::uint32_t>(links_.size()));
    for (std::uint32_t lane = 0; lane < link.lanes; ++lane) {
      Link& queue = links_.emplace_back();
      queue.seconds_per_byte = link.lanes / link.bandwidth;
      queue.latency = link.latency;
      queue.load = link.load;
      queue.lanes = link.lanes;
      queue.stores = link.is_cable && !packets.cut_through;
    }
  }
}

Path PacketNetwork::path(Node source, Node target) {
  const std::vector<std::uint32_t>& route = network_.route(source, target);
  auto* const links = static_cast<std::uint32_t*>(
      paths_.allocate(route.size() * sizeof(std::uint32_t), alignof(std::uint32_t)));
  std::transform(route.begin(), route.end(), links,
                 [this](std::uint32_t link) { return first_lane_[link]; });
  return {links, static_cast<std::uint32_t>(route.size())};
}

void PacketNetwork::count_load(const Flow& flow, double bytes) {
  for (std::uint32_t hop = 0; hop < flow.path.count; ++hop)
    if (double* const load = links_[flow.path.links[hop]].load; load != nullptr) *load += bytes;
}

double PacketNetwork::send_train(Flow& flow, double now) {
  const double bytes = std::min(flow.bytes, flow.train);
  flow.bytes -= bytes;
  return enter({now, now, bytes, &flow, 0, !(flow.bytes > 0)});
}

/// A train comes to the queue of its next hop. Returns when it will have left it.
double PacketNetwork::enter(const Train& train) {
  const Path& path = train.flow->path;
  std::uint32_t number = path.links[train.hop];
  if (links_[number].lanes > 1) number += train.flow->lane % links_[number].lanes;
  Link& link = links_[number];
  const double starts = std::max(train.date, link.free);
  double leaves = starts + train.bytes * link.seconds_per_byte;
  if (train.tail > train.date)  // its end may still be on its way, over a slower cable
    leaves = std::max(leaves, train.tail + kept_bytes(train) * link.seconds_per_byte);
  link.free = leaves;
  const double tail = leaves + link.latency;
  if (train.hop + 1 < path.count) {
    const double head = link.stores ? packets_.size : packets_.head;
    const double date = starts + std::min(train.bytes, head) * link.seconds_per_byte + link.latency;
    push(2 * number, {date, tail, train.bytes, train.flow, train.hop + 1, train.is_last});
  } else if (train.is_last) {
    push(2 * number + 1, {tail, tail, train.bytes, train.flow, train.hop + 1, true});
  }
  return leaves;
}

/// Of a train, what cannot leave before the last byte has come: the last packet, if it is stored first.
double PacketNetwork::kept_bytes(const Train& train) const {
  if (train.hop == 0 || !links_[train.flow->path.links[train.hop - 1]].stores) return 0;
  return train.bytes - (std::ceil(train.bytes / packets_.size) - 1) * packets_.size;
}

void PacketNetwork::push(std::uint32_t stream, const Train& train) {
  Ring<Train>& trains = trains_of(stream);
  const bool was_empty = trains.empty();
  trains.push(train);
  if (!was_empty) return;
  due_.emplace_back();
  rise(due_.size() - 1, {train.date, stream});
}

void PacketNetwork::rise(std::size_t place, const Due& due) {
  while (place > 0) {
    const std::size_t parent = (place - 1) / kChildren;
    if (!due.before(due_[parent])) break;
    due_[place] = due_[parent];
    place = parent;
  }
  due_[place] = due;
}

void PacketNetwork::sink(std::size_t place, const Due& due) {
  for (;;) {
    const std::size_t first = kChildren * place + 1;
    if (first >= due_.size()) break;
    const std::size_t end = std::min(first + kChildren, due_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child)
      if (due_[child].before(due_[least])) least = child;
    if (!due_[least].before(due)) break;
    due_[place] = due_[least];
    place = least;
  }
  due_[place] = due;
}

/// The train that is due first.
PacketNetwork::Train PacketNetwork::take() {
  const std::uint32_t stream = due_.front().stream;
  Ring<Train>& trains = trains_of(stream);
  const Train train = trains.pop();
  if (!trains.empty()) {
    sink(0, {trains.front().date, stream});
    return train;
  }
  const Due last = due_.back();
  due_.pop_back();
  if (!due_.empty()) sink(0, last);
  return train;
}

Flow* PacketNetwork::advance(double until, double& now) {
  while (next_date() <= until) {
    const Train train = take();
    if (train.hop == train.flow->path.count) {
      now = train.date;
      return train.flow;
    }
    enter(train);
  }
  return nullptr;
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
