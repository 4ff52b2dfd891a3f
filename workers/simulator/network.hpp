// What messages meet on their way between two hosts: links, and the bytes that cross each cable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "searchspace/kernels/graph/routes.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune {

/// The network of a machine, for whichever engine simulates it.
///
/// A host is a switch too, unless the request has switches of their own. A cable is a link each
/// way, whose latency holds that of the switch at its end; parallel cables are one of their joint
/// bandwidth. Routes are those of `Routes`.
class Network {
 public:
  struct Link {
    std::string name;
    double bandwidth = 0;     // bytes/s
    double latency = 0;       // s
    bool shared = true;       // or else each message has the bandwidth to itself
    double* load = nullptr;   // payload bytes that have entered it so far, where they count
    std::uint32_t lanes = 1;  // parallel cables, of which the bandwidth is the sum
    bool is_cable = false;    // or else inside a host or a switch
  };

  /// Throws InvalidRequest when the network is not simple and connected.
  explicit Network(const PlatformRequest& request);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const std::vector<Link>& links() const { return links_; }

  /// The links from source to target, in travel order, by their numbers.
  const std::vector<std::uint32_t>& route(Node source, Node target);

  /// Payload bytes that have entered each cable so far: u -> v and v -> u.
  const std::vector<std::array<double, 2>>& loads() const { return loads_; }

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

  std::uint32_t add(std::string name, double bandwidth, double latency);
  void add_insides();
  void add_switches();
  void add_cables();
  void cross(std::uint32_t link) {
    if (link != kNone) route_.push_back(link);
  }

  const PlatformRequest& request_;
  Routes routes_;
  std::vector<Link> links_;
  std::uint32_t loopback_ = kNone;
  std::vector<std::uint32_t> interfaces_;  // by host, the way out, before the way in; or kNone
  std::vector<std::uint32_t> memories_;    // by host, or kNone
  std::vector<std::uint32_t> switches_;    // by node; kNone where none can be a bottleneck
  std::vector<std::uint32_t> cables_;      // by edge, u -> v, before v -> u
  std::vector<std::array<double, 2>> loads_;
  std::vector<Hop> hops_;             // of the route last asked for
  std::vector<std::uint32_t> route_;  // its links
};

}  // namespace hamtune
