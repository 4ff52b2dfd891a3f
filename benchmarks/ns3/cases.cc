// Plain packets through first-in first-out queues, simulated by ns-3.
//
// Reads a case as JSON on standard input:
//
//   {"payload": 1500, "header": 38, "nodes": 3,
//    "cables": [{"u": 0, "v": 1, "bandwidth": 1e9, "latency": 1e-6}, ...],
//    "routes": [{"source": 0, "target": 2, "cables": [0, 1]}, ...],
//    "flows": [{"start": 0, "source": 0, "target": 2, "channel": 0, "after": null,
//               "bytes": 4000}, ...]}
//
// Bandwidths are bytes/s each way, latencies and starts seconds. `payload` is the most of a packet,
// to which `header` bytes are added on every cable. `after` is a flow that must have arrived before
// this one starts, `start` seconds later. Flows of one channel leave one after the other, in the
// order in which they start.
//
// There is no transport protocol. A flow offers its next packet to the first device of its route
// when that device has sent the previous one, so the flows of a host take turns. Nodes forward
// whole packets to the next device of the route; queues never drop.
//
// Prints {"arrivals": [...], "ties": n}: when the last byte of each flow arrives, s, and how often
// two packets came to one queue in the same instant, whose order is then a matter of convention.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ns3/drop-tail-queue.h"
#include "ns3/node-container.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"

namespace {

using Device = ns3::Ptr<ns3::PointToPointNetDevice>;
using Json = nlohmann::json;

constexpr std::uint32_t kPppHeader = 2;    // bytes that a PointToPointNetDevice adds to a packet
constexpr std::uint16_t kProtocol = 0x0800;  // one of the two numbers that PPP devices accept
constexpr std::int64_t kInstant = 100;     // femtoseconds of rounding in which instants are one

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

struct Flow {
  ns3::Time start;
  std::uint64_t left = 0;  // bytes not offered yet
  std::size_t channel = 0;
  std::vector<Device> route;       // the devices that send, in travel order
  std::vector<std::size_t> after;  // flows that wait for this one
  double arrival = -1;             // s
};

/// Where a packet is.
struct Progress {
  std::size_t flow = 0;
  std::size_t hop = 0;  // devices that have sent it
  bool last = false;    // of its flow
};

class Case {
 public:
  explicit Case(const Json& json)
      : payload_(json.at("payload").get<std::uint32_t>()),
        header_(json.at("header").get<std::uint32_t>()) {
    require(payload_ > 0, "payload: must be at least 1");
    nodes_.Create(json.at("nodes").get<std::uint32_t>());
    for (const Json& cable : json.at("cables")) lay(cable);
    for (const Json& route : json.at("routes")) find(route);
    for (const Json& flow : json.at("flows")) add(flow);
  }

  Json run() {
    for (std::size_t flow = 0; flow < flows_.size(); ++flow)
      if (!waits_[flow]) ns3::Simulator::Schedule(flows_[flow].start, &Case::begin, this, flow);
    ns3::Simulator::Run();
    Json arrivals = Json::array();
    for (const Flow& flow : flows_) {
      require(flow.arrival >= 0, "a flow has not arrived");
      arrivals.push_back(flow.arrival);
    }
    return {{"arrivals", arrivals}, {"ties", ties_}};
  }

 private:
  /// Two devices and the cable between them.
  void lay(const Json& json) {
    const double bits = json.at("bandwidth").get<double>() * 8;
    require(bits >= 1 && bits == std::floor(bits), "bandwidth: must be whole bits/s");
    const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
    channel->SetAttribute("Delay", ns3::TimeValue(ns3::Seconds(json.at("latency").get<double>())));
    const auto first = json.at("u").get<std::uint32_t>();
    const auto second = json.at("v").get<std::uint32_t>();
    cables_.emplace_back();
    for (const std::uint32_t node : {first, second}) {
      require(node < nodes_.GetN(), "cables: there is no such node");
      const auto device = ns3::CreateObject<ns3::PointToPointNetDevice>();
      const auto queue = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
      queue->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, UINT32_MAX));
      device->SetQueue(queue);
      device->SetDataRate(ns3::DataRate(static_cast<std::uint64_t>(bits)));
      device->SetAddress(ns3::Mac48Address::Allocate());
      nodes_.Get(node)->AddDevice(device);
      device->Attach(channel);
      device->SetReceiveCallback(ns3::MakeCallback(&Case::receive, this));
      device->TraceConnectWithoutContext("PhyTxEnd", ns3::MakeCallback(&Case::leave, this));
      cables_.back().push_back(device);
    }
  }

  /// Walks the cables of a route.
  void find(const Json& json) {
    const auto source = json.at("source").get<std::uint32_t>();
    const auto target = json.at("target").get<std::uint32_t>();
    std::uint32_t node = source;
    std::vector<Device> route;
    for (const Json& number : json.at("cables")) {
      const std::vector<Device>& ends = cables_.at(number.get<std::size_t>());
      const std::size_t end = ends[0]->GetNode()->GetId() == node ? 0 : 1;
      require(ends[end]->GetNode()->GetId() == node, "routes: a cable does not go on from there");
      route.push_back(ends[end]);
      node = ends[1 - end]->GetNode()->GetId();
    }
    require(!route.empty() && node == target, "routes: does not end at its target");
    routes_[{source, target}] = route;
  }

  void add(const Json& json) {
    Flow flow;
    flow.start = ns3::Seconds(json.at("start").get<double>());
    flow.left = json.at("bytes").get<std::uint64_t>();
    flow.channel = json.at("channel").get<std::size_t>();
    require(flow.left > 0, "bytes: must be at least 1");
    const auto route = routes_.find(
        {json.at("source").get<std::uint32_t>(), json.at("target").get<std::uint32_t>()});
    require(route != routes_.end(), "flows: there is no such route");
    flow.route = route->second;
    const Json& after = json.at("after");
    waits_.push_back(!after.is_null());
    if (!after.is_null()) flows_.at(after.get<std::size_t>()).after.push_back(flows_.size());
    flows_.push_back(flow);
  }

  /// The flow starts, or queues in its channel.
  void begin(std::size_t flow) {
    std::deque<std::size_t>& channel = channels_[flows_[flow].channel];
    channel.push_back(flow);
    if (channel.size() == 1) offer(flow);
  }

  /// Hands the next packet of the flow to its first device, or else the next flow's of the channel.
  void offer(std::size_t number) {
    Flow& flow = flows_[number];
    if (flow.left == 0) {
      std::deque<std::size_t>& channel = channels_[flow.channel];
      channel.pop_front();
      if (!channel.empty()) offer(channel.front());
      return;
    }
    const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(flow.left, payload_));
    flow.left -= bytes;
    const std::uint32_t wire = bytes + header_;
    require(wire >= kPppHeader, "a packet must have at least the 2 bytes of a PPP header");
    const auto packet = ns3::Create<ns3::Packet>(wire - kPppHeader);
    packets_[packet->GetUid()] = {number, 0, flow.left == 0};
    send(packet, flow.route.front());
  }

  void send(const ns3::Ptr<ns3::Packet>& packet, const Device& device) {
    const std::int64_t now = ns3::Simulator::Now().GetTimeStep();
    const auto [entry, is_first] = entered_.try_emplace(ns3::PeekPointer(device), now);
    if (!is_first && now - std::exchange(entry->second, now) <= kInstant) ++ties_;
    require(device->Send(packet, device->GetBroadcast(), kProtocol), "a packet was dropped");
  }

  /// A device has sent a packet; it takes the next of its queue before that of the flow is offered.
  void leave(ns3::Ptr<const ns3::Packet> packet) {
    Progress& progress = packets_.at(packet->GetUid());
    if (progress.hop++ == 0) ns3::Simulator::ScheduleNow(&Case::offer, this, progress.flow);
  }

  /// The last byte of a packet has come to a node.
  bool receive(ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet> packet, std::uint16_t,
               const ns3::Address&) {
    const auto found = packets_.find(packet->GetUid());
    const Progress progress = found->second;
    Flow& flow = flows_[progress.flow];
    if (progress.hop < flow.route.size()) {
      send(packet->Copy(), flow.route[progress.hop]);
      return true;
    }
    packets_.erase(found);
    if (!progress.last) return true;
    flow.arrival = static_cast<double>(ns3::Simulator::Now().GetTimeStep()) / 1e15;
    for (const std::size_t next : flow.after)
      ns3::Simulator::Schedule(flows_[next].start, &Case::begin, this, next);
    return true;
  }

  std::uint32_t payload_;
  std::uint32_t header_;
  ns3::NodeContainer nodes_;
  std::vector<std::vector<Device>> cables_;  // the device at u, the one at v
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Device>> routes_;
  std::vector<Flow> flows_;
  std::vector<bool> waits_;  // by flow: for another one
  std::unordered_map<std::size_t, std::deque<std::size_t>> channels_;  // flows under way or queued
  std::unordered_map<std::uint64_t, Progress> packets_;                // by their uid
  std::unordered_map<const ns3::PointToPointNetDevice*, std::int64_t> entered_;  // last, fs
  std::uint64_t ties_ = 0;
};

}  // namespace

int main() {
  ns3::Time::SetResolution(ns3::Time::FS);
  try {
    Case traffic(Json::parse(std::cin));
    std::cout << traffic.run() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "cases: " << error.what() << '\n';
    return 1;
  }
  ns3::Simulator::Destroy();
  return 0;
}
