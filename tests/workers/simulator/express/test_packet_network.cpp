// Trains of packets through queues, held against times in closed form.
#include "workers/simulator/express/packet_network.hpp"

#include <limits>
#include <map>

#include "tests/native.hpp"

namespace hamtune::express {
namespace {

constexpr double kBandwidth = 1000;  // bytes/s
constexpr double kLatency = 0.25;    // s
constexpr double kPacket = 100;      // bytes
constexpr double kHead = 10;

PlatformRequest platform(std::uint32_t hosts, bool ring, std::uint32_t lanes = 1) {
  PlatformRequest request;
  request.hosts = hosts;
  for (Node host = 0; host + 1 < hosts; ++host) request.edges.push_back({host, host + 1});
  if (ring) request.edges.push_back({0, hosts - 1});
  request.widths.assign(request.edges.size(), lanes);
  request.link_bandwidth = kBandwidth;
  request.link_latency = kLatency;
  request.loopback_bandwidth = 4 * kBandwidth;
  request.loopback_latency = 0.125;
  return request;
}

PacketNetwork::Packets packets(bool cut_through) {
  PacketNetwork::Packets packets;
  packets.cut_through = cut_through;
  packets.size = kPacket;
  packets.head = kHead;
  return packets;
}

/// Sends flows, each its next train when the last one has left; returns when each has arrived.
class Driver {
 public:
  explicit Driver(PacketNetwork& network) : network_(network) {}

  void send(Flow& flow, double now) {
    const double leaves = network_.send_train(flow, now);
    if (leaves != PacketNetwork::kNever && flow.bytes > 0) next_.emplace(leaves, &flow);
  }

  void send_later(Flow& flow, double date) { next_.emplace(date, &flow); }

  std::map<const Flow*, double> run() {
    std::map<const Flow*, double> arrived;
    double now = 0;
    for (;;) {
      const double until = next_.empty() ? std::numeric_limits<double>::max() : next_.begin()->first;
      const PacketNetwork::Progress progress = network_.advance(until, now);
      if (progress.flow != nullptr) {
        CHECK(now >= last_);
        last_ = now;
        if (progress.has_arrived)
          arrived[progress.flow] = now;
        else if (progress.flow->bytes > 0)
          send(*progress.flow, now);
      } else if (next_.empty()) {
        return arrived;
      } else {
        Flow* const flow = next_.begin()->second;
        next_.erase(next_.begin());
        send(*flow, until);
      }
    }
  }

 private:
  PacketNetwork& network_;
  std::multimap<double, Flow*> next_;
  double last_ = 0;
};

Flow flow(PacketNetwork& network, Node from, Node to, double bytes, std::uint8_t train_class,
          std::uint32_t lane = 0) {
  Flow flow;
  flow.path = network.path(from, to, lane);
  flow.payload = flow.bytes = bytes;
  flow.train_class = train_class;
  return flow;
}

double alone(const PacketNetwork::Packets& how, Node hops, double bytes, std::uint8_t train_class) {
  const PlatformRequest request = platform(hops + 1, false);
  Network links(request);
  PacketNetwork network(links, how);
  Flow one = flow(network, 0, hops, bytes, train_class);
  Driver driver(network);
  driver.send(one, 0);
  return driver.run().at(&one);
}

TEST_CASE("a message alone takes as long as its packets, however long its trains") {
  for (const bool cut_through : {false, true})
    for (const Node hops : {1U, 2U, 5U})
      for (const double count : {1.0, 2.0, 8.0, 13.0})
        for (const unsigned train_class : {0U, 1U, 3U, 20U}) {
          CAPTURE(hops);
          CAPTURE(count);
          const double forwarded = cut_through ? kHead : kPacket;
          const double wanted = (count * kPacket + (hops - 1) * forwarded) / kBandwidth + hops * kLatency;
          CHECK(alone(packets(cut_through), hops, count * kPacket, static_cast<std::uint8_t>(train_class)) ==
                doctest::Approx(wanted).epsilon(1e-12));
        }
}

TEST_CASE("buffers that are large enough change nothing; of one packet they cost time, not messages") {
  for (const bool cut_through : {false, true})
    for (const double count : {1.0, 6.0}) {
      PacketNetwork::Packets how = packets(cut_through);
      const double free = alone(how, 4, count * kPacket, 0);
      how.buffer = 100 * kPacket;
      CHECK(alone(how, 4, count * kPacket, 0) == doctest::Approx(free));
      how.buffer = kPacket;
      CHECK(alone(how, 4, count * kPacket, 0) >= free * (1 - 1e-12));
    }
}

TEST_CASE("messages of three hops round a ring, with room for one packet behind each cable, block") {
  const PlatformRequest request = platform(7, true);
  for (const bool room : {false, true}) {
    Network links(request);
    PacketNetwork::Packets how = packets(false);
    how.buffer = room ? 3 * kPacket : kPacket;
    PacketNetwork network(links, how);
    std::vector<Flow> flows;
    for (Node host = 0; host < 7; ++host)
      flows.push_back(flow(network, host, (host + 3) % 7, 2 * kPacket, 0));
    Driver driver(network);
    for (Flow& each : flows) driver.send(each, 0);
    const std::size_t arrived = driver.run().size();
    CHECK(arrived == (room ? 7 : 0));
    CHECK(network.is_blocked() == !room);
  }
}

TEST_CASE("two messages over one cable take turns by trains; the shorter trains rule") {
  const PlatformRequest request = platform(2, false);
  Network links(request);
  PacketNetwork network(links, packets(false));
  Flow large = flow(network, 0, 1, 16 * kPacket, 4);
  Flow small = flow(network, 0, 1, 2 * kPacket, 0);
  Driver driver(network);
  driver.send(large, 0);
  driver.send(small, 0);
  const auto arrived = driver.run();
  // All of both has crossed after 18 packets, whoever went first.
  const double all = 18 * kPacket / kBandwidth + kLatency;
  CHECK(std::max(arrived.at(&large), arrived.at(&small)) == doctest::Approx(all));
  network.tell_loads();
  CHECK(links.loads()[0][0] == 18 * kPacket);
  CHECK(links.loads()[0][1] == 0);
  network.tell_loads();
  CHECK(links.loads()[0][0] == 18 * kPacket);  // told once
}

TEST_CASE("whatever is sent arrives, no earlier than alone, and is counted on every cable it crossed") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    PlatformRequest request = platform(8, true);
    request.edges.push_back({1, 5});
    request.widths.push_back(2);
    request.edges.push_back({2, 7});
    request.widths.push_back(1);
    Network links(request);
    PacketNetwork::Packets how = packets(random.below(2) == 0);
    if (seed % 2 == 1) how.buffer = 64 * kPacket;  // room for all: nothing can block
    PacketNetwork network(links, how);
    std::vector<Flow> flows;
    std::vector<double> started, bytes;
    std::vector<std::pair<Node, Node>> ends;
    double wanted = 0;
    for (int each = 0; each < 25; ++each) {
      const Node from = random.below(8), to = (from + 1 + random.below(7)) % 8;
      ends.emplace_back(from, to);
      bytes.push_back(kPacket * (1 + random.below(12)));
      flows.push_back(flow(network, from, to, bytes.back(), static_cast<std::uint8_t>(random.below(5)),
                           random.below(2)));
      wanted += bytes.back() * flows.back().path.count;
    }
    if (how.buffer != PacketNetwork::kNever)
      for (Flow& each : flows) each.train_class = 0;
    Driver driver(network);
    for (Flow& each : flows) {
      started.push_back(0);
      driver.send(each, 0);
    }
    const auto arrived = driver.run();
    REQUIRE(arrived.size() == flows.size());
    CHECK_FALSE(network.is_blocked());
    for (std::size_t at = 0; at < flows.size(); ++at) {
      const double forwarded = how.cut_through ? kHead : kPacket;
      const double hops = flows[at].path.count;
      const double least = (bytes[at] + (hops - 1) * forwarded) / kBandwidth + hops * kLatency;
      CHECK(arrived.at(&flows[at]) >= least * (1 - 1e-12));
    }
    network.tell_loads();
    double load = 0;
    for (const auto& ways : links.loads()) load += ways[0] + ways[1];
    CHECK(load == doctest::Approx(wanted));
  }
}

TEST_CASE("parallel cables are lanes of their own") {
  const PlatformRequest request = platform(2, false, 2);
  Network links(request);
  PacketNetwork network(links, packets(false));
  Flow one = flow(network, 0, 1, 4 * kPacket, 0, 0);
  Flow other = flow(network, 0, 1, 4 * kPacket, 0, 1);
  Flow third = flow(network, 0, 1, 4 * kPacket, 0, 2);  // lane 0 again
  Driver driver(network);
  for (Flow* each : {&one, &other, &third}) driver.send(*each, 0);
  const auto arrived = driver.run();
  CHECK(arrived.at(&other) == doctest::Approx(4 * kPacket / kBandwidth + kLatency));
  CHECK(std::max(arrived.at(&one), arrived.at(&third)) ==
        doctest::Approx(8 * kPacket / kBandwidth + kLatency));
}

TEST_CASE("an idle cable lets a burst pass at once") {
  PacketNetwork::Packets how = packets(false);
  how.burst = 2 * kPacket;
  CHECK(alone(how, 1, 2 * kPacket, 0) == doctest::Approx(kLatency));
  CHECK(alone(how, 1, 5 * kPacket, 0) == doctest::Approx(3 * kPacket / kBandwidth + kLatency));
}

TEST_CASE("trains that leave a queue in the instant in which they come do not get lost where buffers are finite") {
  for (const double burst : {0.0, 5 * kPacket})
    for (const double bytes : {0.0, kPacket / 2}) {
      CAPTURE(burst);
      CAPTURE(bytes);
      const PlatformRequest request = platform(3, false);
      Network links(request);
      PacketNetwork::Packets how = packets(true);
      how.head = 0;
      how.burst = burst;
      how.buffer = 10 * kPacket;
      PacketNetwork network(links, how);
      std::vector<Flow> flows(4, flow(network, 0, 2, bytes, 0));
      Driver driver(network);
      double date = 0;
      for (Flow& each : flows) {
        driver.send_later(each, date);
        date += kLatency / 4;
      }
      CHECK(driver.run().size() == flows.size());
      CHECK_FALSE(network.is_blocked());
    }
}

TEST_CASE("a burst does not let a train overtake what comes over the cable before it") {
  const PlatformRequest request = platform(3, false);
  Network links(request);
  PacketNetwork::Packets how = packets(true);
  how.burst = 60;
  PacketNetwork network(links, how);
  Flow first = flow(network, 0, 1, kPacket, 0);
  Flow through = flow(network, 0, 2, kPacket, 0);
  Flow behind = flow(network, 1, 2, 10, 0);
  Driver driver(network);
  driver.send(first, 0);
  driver.send(through, 0);
  driver.send_later(behind, 0.31);  // the head of the one before it has gone on at 0.3, its end comes at 0.39
  const auto arrived = driver.run();
  // Two packets cross the first cable, less the burst; then both latencies.
  const double wanted = (2 * kPacket - how.burst) / kBandwidth + 2 * kLatency;
  CHECK(arrived.at(&through) == doctest::Approx(wanted));
  CHECK(arrived.at(&behind) == doctest::Approx(wanted));
}

TEST_CASE("a burst does not take back the time that a train has waited for room") {
  // The second cable is busy with one from host 1; behind the first there is room for one packet.
  const PlatformRequest request = platform(3, false);
  Network links(request);
  PacketNetwork::Packets how = packets(false);
  how.buffer = kPacket;
  how.burst = 3 * kPacket;
  PacketNetwork network(links, how);
  Flow busy = flow(network, 1, 2, 10 * kPacket, 0);
  Flow waits = flow(network, 0, 2, 3 * kPacket, 0);
  Driver driver(network);  // which holds that no time goes back
  driver.send(busy, 0);
  driver.send(waits, 0);
  CHECK(driver.run().size() == 2);
}

TEST_CASE("whatever bursts pass, time never goes back and everything arrives") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const PlatformRequest request = platform(6, false);
    Network links(request);
    PacketNetwork::Packets how = packets(random.below(2) == 0);
    how.burst = 30.0 * (1 + random.below(10));
    if (random.below(2) == 0) how.buffer = kPacket * (1 + random.below(4));
    PacketNetwork network(links, how);
    std::vector<Flow> flows;
    for (int each = 0; each < 30; ++each) {
      const Node from = random.below(6), to = (from + 1 + random.below(5)) % 6;
      flows.push_back(flow(network, from, to, 10.0 * random.below(40), 0));
    }
    Driver driver(network);
    for (Flow& each : flows) driver.send_later(each, 0.01 * random.below(100));
    CHECK(driver.run().size() == flows.size());
  }
}

TEST_CASE("messages within a host share its memory in order of arrival") {
  PlatformRequest request = platform(2, false);
  {
    Network links(request);
    PacketNetwork network(links, packets(false));
    CHECK(network.cross_memory(0, 400, 1) == doctest::Approx(1 + 0.1 + 0.125));
    CHECK(network.cross_memory(0, 400, 1) == doctest::Approx(1 + 0.1 + 0.125));
  }
  request.memory_bandwidth = 2 * kBandwidth;
  Network links(request);
  PacketNetwork network(links, packets(false));
  CHECK(network.cross_memory(1, 400, 1) == doctest::Approx(1 + 0.2 + 0.125));
  CHECK(network.cross_memory(1, 400, 1) == doctest::Approx(1 + 0.4 + 0.125));
  CHECK(network.cross_memory(0, 400, 1) == doctest::Approx(1 + 0.2 + 0.125));
}

TEST_CASE("routes go through interfaces and memories where they limit, through switches where they matter") {
  PlatformRequest request = platform(3, false);
  const auto names = [&](Node from, Node to) {
    Network network(request);
    std::vector<std::string> found;
    for (const std::uint32_t link : network.route(from, to)) found.push_back(network.links()[link].name);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names(0, 0) == Names{"loopback"});
  CHECK(names(2, 0) == Names{"cable-1-down", "cable-0-down"});
  request.interface_bandwidth = 1;
  request.memory_bandwidth = 1;
  CHECK(names(1, 1) == Names{"loopback", "memory-1"});
  CHECK(names(0, 1) == Names{"interface-out-0", "cable-0-up", "interface-in-1"});
  request.interface_bandwidth.reset();
  request.switch_bandwidth = 4 * kBandwidth;  // host 1 has two ports of that, both ways: no limit
  CHECK(names(0, 1) == Names{"cable-0-up"});
  request.switch_bandwidth = 4 * kBandwidth - 1;
  CHECK(names(0, 1) == Names{"switch-0", "cable-0-up", "switch-1"});
  request.edges.pop_back();
  request.widths.pop_back();
  CHECK_THROWS_AS(Network{request}, InvalidRequest);
}

}  // namespace
}  // namespace hamtune::express
