// What to simulate: the simulator's request, checked.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"
#include "searchspace/kernels/graph/routes.hpp"
#include "searchspace/kernels/trace/trace.hpp"
#include "workers/simulator/protocol.hpp"

namespace hamtune {

/// A request that cannot be simulated; the message names the field.
class InvalidRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The machine; bandwidths in bytes/s, latencies in s, speed in flop/s of a core.
struct PlatformRequest {
  Node hosts = 0;
  Node switches = 0;  // nodes after the hosts; 0 when every host is a switch too
  int cores = 1;
  std::vector<double> host_speeds;    // by host
  std::vector<Edge> edges;            // u < v
  std::vector<std::uint32_t> widths;  // parallel cables of each edge
  double link_bandwidth = 0;
  double host_link_bandwidth = 0;  // of a cable between a host and a switch of its own
  double link_latency = 0;
  double switch_latency = 0;
  std::optional<double> switch_bandwidth;
  std::optional<double> interface_bandwidth;  // each way, shared by the ranks of a host
  std::optional<double> memory_bandwidth;     // shared by the messages inside a host
  double loopback_bandwidth = 0;
  double loopback_latency = 0;
  TieRule tie_rule = TieRule::kLowestId;
  std::optional<Protocol> packets;  // messages cross the network as packets; none: as a fluid

  Node nodes() const { return hosts + switches; }
  /// True for the cable that plugs a host into a switch.
  bool is_host_link(const Edge& edge) const { return switches > 0 && edge.u < hosts; }
};

struct ApplicationRequest {
  std::size_t trace = 0;
  std::vector<Node> hosts;  // of each rank
  double start = 0;         // s
  double weight = 1;        // in the mean finish time
};

/// What `simulated_time` is of several applications.
enum class Objective {
  last,  // the latest finish time
  mean,  // the weighted mean of the finish times
};

struct Request {
  PlatformRequest platform;
  std::vector<ApplicationRequest> applications;
  Objective objective = Objective::last;
  std::vector<std::pair<std::string, std::string>> options;
  std::optional<double> cutoff;  // simulated s
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> messages;  // most that ranks may send, those of collectives with them
  std::optional<double> wall_seconds;
  bool plain_simgrid = false;  // SimGrid's engine runs the ranks, where ours could
  bool expand_collectives = true;  // where messages go as packets, or else each call runs on the ranks' stacks
};

/// What names the request in its answer.
nlohmann::json id_of(const nlohmann::json& request);

/// Throws InvalidRequest.
Request parse_request(const nlohmann::json& json, const std::vector<Trace>& traces);

}  // namespace hamtune
