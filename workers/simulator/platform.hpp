// The machine in SimGrid: hosts, cables, routes, and the bytes that cross each cable.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "workers/simulator/factors.hpp"
#include "workers/simulator/request.hpp"
#include "workers/simulator/simgrid_compat.hpp"

namespace hamtune {

/// The correction factors of the network model; empty text means the model's own.
struct ModelFactors {
  std::string latency;
  std::string bandwidth;
};

/// Bytes that SMPI adds to every message.
inline constexpr double kEnvelope = 16;

class Platform {
 public:
  /// Builds the machine in the engine's root zone.
  ///
  /// A host is a switch too, unless the request has switches of their own. A cable is a
  /// split-duplex link whose latency holds that of the switch at its end; parallel cables are one
  /// of their joint bandwidth. Routes are those of `Routes`, loaded as full routing, so SimGrid has
  /// no tie to break.
  /// Throws InvalidRequest when the network is not simple and connected.
  Platform(simgrid::s4u::Engine& engine, const PlatformRequest& request,
           const std::vector<bool>& used_hosts, const ModelFactors& factors);

  simgrid::s4u::Host* host(Node node) const { return hosts_[node]; }
  const std::vector<simgrid::s4u::Host*>& hosts() const { return hosts_; }

  /// The factors in use, by the size of a message with its envelope.
  const Factors& latency_factor() const { return latency_factor_; }
  const Factors& bandwidth_factor() const { return bandwidth_factor_; }

  /// Payload bytes that have entered each cable so far: u -> v and v -> u.
  const std::vector<std::array<double, 2>>& loads() const { return loads_; }

 private:
  void add_switches(simgrid::s4u::NetZone& zone, const PlatformRequest& request);
  void add_insides(simgrid::s4u::NetZone& zone, const PlatformRequest& request,
                   const std::vector<bool>& used_hosts);
  void add_cables(simgrid::s4u::NetZone& zone, const PlatformRequest& request);
  void add_routes(simgrid::s4u::NetZone& zone, const PlatformRequest& request,
                  const std::vector<bool>& used_hosts);
  void watch_messages(simgrid::s4u::NetZone& zone);

  Factors latency_factor_;
  Factors bandwidth_factor_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<simgrid::s4u::Link*> switches_;  // by node; null where none can be a bottleneck
  std::vector<simgrid::s4u::SplitDuplexLink*> interfaces_;  // by host; null where unlimited
  std::vector<simgrid::s4u::Link*> memories_;               // by host; null where unlimited
  std::vector<simgrid::s4u::SplitDuplexLink*> cables_;
  std::vector<std::array<double, 2>> loads_;
};

}  // namespace hamtune
