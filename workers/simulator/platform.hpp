// The machine in SimGrid: its hosts, and its network where SimGrid's engine moves the messages.
#pragma once

#include <string>
#include <vector>

#include "workers/simulator/factors.hpp"
#include "workers/simulator/network.hpp"
#include "workers/simulator/request.hpp"
#include "workers/simulator/simgrid/compat.hpp"

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
  /// Adds the hosts to the engine's root zone.
  Platform(simgrid::s4u::Engine& engine, const PlatformRequest& request);

  /// Adds the network, with routes between the used hosts loaded as full routing, so SimGrid has no
  /// tie to break. The network must live as long as the simulation.
  void add_network(Network& network, const std::vector<bool>& used_hosts,
                   const ModelFactors& factors);

  simgrid::s4u::Host* host(Node node) const { return hosts_[node]; }
  const std::vector<simgrid::s4u::Host*>& hosts() const { return hosts_; }

 private:
  simgrid::s4u::NetZone& zone_;
  std::vector<simgrid::s4u::Host*> hosts_;
};

/// The factors of these texts, by the size of a message with its envelope.
/// Throws InvalidRequest.
Factors latency_factor(const ModelFactors& factors);
Factors bandwidth_factor(const ModelFactors& factors);

}  // namespace hamtune
