#include "workers/simulator/platform.hpp"

#include <stdexcept>

#include "searchspace/kernels/routes.hpp"

namespace hamtune {

namespace {

namespace s4u = simgrid::s4u;
using s4u::LinkInRoute;

/// What was given, or else the model's own.
std::string factors_text(const std::string& given, const char* option) {
  return given.empty() ? simgrid::config::get_value<std::string>(option) : given;
}

/// Bytes/s of an edge, each way.
double bandwidth_of(const PlatformRequest& request, std::size_t edge) {
  const double cable = request.is_host_link(request.edges[edge]) ? request.host_link_bandwidth
                                                                 : request.link_bandwidth;
  return cable * request.widths[edge];
}

/// Seconds of an edge. Where every node is a switch, each hop enters one. A route between hosts on
/// switches crosses one cable more than switches, so its two ends take half a switch each.
double latency_of(const PlatformRequest& request, const Edge& edge) {
  return request.link_latency + (request.is_host_link(edge) ? 0.5 : 1.0) * request.switch_latency;
}

/// True when a switch could carry less than all its ports together, both ways.
bool switches_matter(const PlatformRequest& request) {
  if (!request.switch_bandwidth) return false;
  std::vector<double> ports(request.nodes(), 0);  // cables of the network
  std::vector<double> host_ports(request.nodes(), 0);
  for (std::size_t index = 0; index < request.edges.size(); ++index) {
    const Edge& edge = request.edges[index];
    std::vector<double>& counted = request.is_host_link(edge) ? host_ports : ports;
    counted[edge.u] += request.widths[index];
    counted[edge.v] += request.widths[index];
  }
  for (Node node = request.switches > 0 ? request.hosts : 0; node < request.nodes(); ++node)
    if (*request.switch_bandwidth < 2 * (ports[node] * request.link_bandwidth +
                                         host_ports[node] * request.host_link_bandwidth))
      return true;
  return false;
}

}  // namespace

Platform::Platform(s4u::Engine& engine, const PlatformRequest& request,
                   const std::vector<bool>& used_hosts, const ModelFactors& factors)
    : latency_factor_(compat::kLatencyFactor,
                      factors_text(factors.latency, compat::kLatencyFactor)),
      bandwidth_factor_(compat::kBandwidthFactor,
                        factors_text(factors.bandwidth, compat::kBandwidthFactor)),
      loads_(request.edges.size(), {0, 0}) {
  s4u::NetZone* const zone = compat::make_root_zone(engine, "network");
  for (Node node = 0; node < request.hosts; ++node)
    hosts_.push_back(compat::add_host(*zone, "node-" + std::to_string(node), request.host_speeds[node],
                                      request.cores));
  add_insides(*zone, request, used_hosts);
  add_switches(*zone, request);
  add_cables(*zone, request);
  add_routes(*zone, request, used_hosts);
  watch_messages(*zone);
  zone->seal();
}

/// What the ranks of a host share: its way to the network, and its memory.
void Platform::add_insides(s4u::NetZone& zone, const PlatformRequest& request,
                           const std::vector<bool>& used_hosts) {
  interfaces_.assign(request.hosts, nullptr);
  memories_.assign(request.hosts, nullptr);
  for (Node host = 0; host < request.hosts; ++host) {
    if (!used_hosts[host]) continue;
    const std::string number = std::to_string(host);
    if (request.interface_bandwidth)
      interfaces_[host] =
          compat::add_cable(zone, "interface-" + number, *request.interface_bandwidth, 0);
    if (request.memory_bandwidth)
      memories_[host] = compat::add_link(zone, "memory-" + number, *request.memory_bandwidth, 0,
                                         s4u::Link::SharingPolicy::SHARED);
  }
}

void Platform::add_switches(s4u::NetZone& zone, const PlatformRequest& request) {
  switches_.assign(request.nodes(), nullptr);
  if (!switches_matter(request)) return;
  for (Node node = request.switches > 0 ? request.hosts : 0; node < request.nodes(); ++node)
    switches_[node] = compat::add_link(zone, "switch-" + std::to_string(node),
                                       *request.switch_bandwidth, 0,
                                       s4u::Link::SharingPolicy::SHARED);
}

void Platform::add_cables(s4u::NetZone& zone, const PlatformRequest& request) {
  for (std::size_t index = 0; index < request.edges.size(); ++index) {
    s4u::SplitDuplexLink* const cable =
        compat::add_cable(zone, "cable-" + std::to_string(index), bandwidth_of(request, index),
                          latency_of(request, request.edges[index]));
    cable->get_link_up()->set_data(&loads_[index][0]);
    cable->get_link_down()->set_data(&loads_[index][1]);
    cables_.push_back(cable);
  }
}

void Platform::add_routes(s4u::NetZone& zone, const PlatformRequest& request,
                          const std::vector<bool>& used_hosts) {
  s4u::Link* const loopback =
      compat::add_link(zone, "loopback", request.loopback_bandwidth, request.loopback_latency,
                       s4u::Link::SharingPolicy::FATPIPE);
  try {
    const Routes routes(request.nodes(), request.edges, request.hosts, request.tie_rule);
    std::vector<LinkInRoute> links;
    for (Node source = 0; source < request.hosts; ++source) {
      if (!used_hosts[source]) continue;
      links.assign(1, LinkInRoute(loopback));
      if (memories_[source] != nullptr) links.emplace_back(memories_[source]);
      compat::add_route(zone, *hosts_[source], *hosts_[source], links, false);
      for (Node target = source + 1; target < request.hosts; ++target) {
        if (!used_hosts[target]) continue;
        links.clear();
        if (interfaces_[source] != nullptr)
          links.emplace_back(interfaces_[source], LinkInRoute::Direction::UP);
        Node at = source;
        if (switches_[at] != nullptr) links.emplace_back(switches_[at]);
        for (const Hop& hop : routes.path(source, target)) {
          const Edge& edge = request.edges[hop.edge];
          links.emplace_back(cables_[hop.edge], hop.forward ? LinkInRoute::Direction::UP
                                                            : LinkInRoute::Direction::DOWN);
          at = hop.forward ? edge.v : edge.u;
          if (switches_[at] != nullptr) links.emplace_back(switches_[at]);
        }
        if (interfaces_[target] != nullptr)
          links.emplace_back(interfaces_[target], LinkInRoute::Direction::DOWN);
        compat::add_route(zone, *hosts_[source], *hosts_[target], links, true);
      }
    }
  } catch (const std::invalid_argument& error) {
    throw InvalidRequest("platform.edges: " + std::string(error.what()));
  }
}

/// SimGrid asks for the factors of each message when it enters the network, which is where its
/// bytes can be added to the cables of its route.
void Platform::watch_messages(s4u::NetZone& zone) {
  compat::set_factors(
      zone,
      [latency = latency_factor_](double size, const s4u::Host*, const s4u::Host*,
                const std::vector<s4u::Link*>& links, const auto&) {
        for (const s4u::Link* link : links)
          if (auto* const load = link->get_data<double>()) *load += size - kEnvelope;
        return latency(size);
      },
      [bandwidth = bandwidth_factor_](double size, const s4u::Host*, const s4u::Host*,
                  const std::vector<s4u::Link*>&, const auto&) { return bandwidth(size); });
}

}  // namespace hamtune
