// All that differs between SimGrid releases (3.32 and 4.1 are known to work, 3.35 to compile), and
// what the library exports without declaring it in its public headers.
#pragma once

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <smpi/smpi.h>
#include <xbt/config.hpp>

#if SIMGRID_VERSION < 33400
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#endif

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace simgrid::smpi {

/// What SMPI attaches to the actor of a rank; only the members that we need.
class ActorExt {
 public:
  static xbt::Extension<s4u::Actor, ActorExt> EXTENSION_ID;
  MPI_Comm comm_world() const;
  bool replaying() const;
};

/// Has SMPI look at the options that name algorithms of collectives.
namespace colls {
void set_collectives();
}

}  // namespace simgrid::smpi

/// Called with every message that has arrived: moves the payload and frees the sender's copy.
extern std::function<void(simgrid::kernel::activity::CommImpl*, void*, size_t)>
    smpi_comm_copy_data_callback;

namespace hamtune::compat {

namespace s4u = simgrid::s4u;

/// Called once a message: bytes with the envelope, and the links of its route.
using FactorCallback = double(double size, const s4u::Host* source, const s4u::Host* target,
                              const std::vector<s4u::Link*>& links,
                              const std::unordered_set<s4u::NetZone*>& zones);

#if SIMGRID_VERSION < 33400

constexpr const char* kTimingPrecision = "surf/precision";
constexpr const char* kLatencyFactor = "smpi/lat-factor";
constexpr const char* kBandwidthFactor = "smpi/bw-factor";

inline void set_factors(s4u::NetZone& zone, const std::function<FactorCallback>& latency,
                        const std::function<FactorCallback>& bandwidth) {
  zone.get_network_model()->set_lat_factor_cb(latency);
  zone.get_network_model()->set_bw_factor_cb(bandwidth);
}

inline void add_route(s4u::NetZone& zone, const s4u::Host& source, const s4u::Host& target,
                      const std::vector<s4u::LinkInRoute>& links) {
  zone.add_route(source.get_netpoint(), target.get_netpoint(), nullptr, nullptr, links, false);
}

#else

constexpr const char* kTimingPrecision = "precision/timing";
constexpr const char* kLatencyFactor = "network/latency-factor";
constexpr const char* kBandwidthFactor = "network/bandwidth-factor";

inline void set_factors(s4u::NetZone& zone, const std::function<FactorCallback>& latency,
                        const std::function<FactorCallback>& bandwidth) {
  zone.set_latency_factor_cb(latency);
  zone.set_bandwidth_factor_cb(bandwidth);
}

inline void add_route(s4u::NetZone& zone, const s4u::Host& source, const s4u::Host& target,
                      const std::vector<s4u::LinkInRoute>& links) {
  zone.add_route(&source, &target, links, false);
}

#endif

#if SIMGRID_VERSION < 40000

inline s4u::NetZone* make_root_zone(s4u::Engine&, const std::string& name) {
  return s4u::create_full_zone(name);
}

inline s4u::Host* create_host(s4u::NetZone& zone, const std::string& name, double speed) {
  return zone.create_host(name, speed);
}

inline s4u::Link* create_link(s4u::NetZone& zone, const std::string& name, double bandwidth) {
  return zone.create_link(name, bandwidth);
}

#else

/// The engine comes with a root zone, whose name is its own and whose routing is full.
inline s4u::NetZone* make_root_zone(s4u::Engine& engine, const std::string&) {
  return engine.get_netzone_root();
}

inline s4u::Host* create_host(s4u::NetZone& zone, const std::string& name, double speed) {
  return zone.add_host(name, speed);
}

inline s4u::Link* create_link(s4u::NetZone& zone, const std::string& name, double bandwidth) {
  return zone.add_link(name, bandwidth);
}

#endif

inline s4u::Host* add_host(s4u::NetZone& zone, const std::string& name, double speed, int cores) {
  return create_host(zone, name, speed)->set_core_count(cores)->seal();
}

inline s4u::Link* add_link(s4u::NetZone& zone, const std::string& name, double bandwidth,
                           double latency, s4u::Link::SharingPolicy policy) {
  return create_link(zone, name, bandwidth)
      ->set_latency(latency)
      ->set_sharing_policy(policy)
      ->seal();
}

inline void set_collectives() { simgrid::smpi::colls::set_collectives(); }

/// The actor of a rank, and what SMPI attached to it.
struct ActorOfRank {
  aid_t number = -1;
  const simgrid::smpi::ActorExt* extension = nullptr;
};

/// After MPI_Init.
inline ActorOfRank caller() {
  return {s4u::this_actor::get_pid(), s4u::Actor::self()->extension<simgrid::smpi::ActorExt>()};
}

/// The communicator of all ranks of the calling rank's application, after MPI_Init.
// NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): an actor that is a rank has the extension
inline MPI_Comm world_of_caller() { return caller().extension->comm_world(); }

inline std::string version() {
  return std::to_string(SIMGRID_VERSION_MAJOR) + "." + std::to_string(SIMGRID_VERSION_MINOR);
}

}  // namespace hamtune::compat
