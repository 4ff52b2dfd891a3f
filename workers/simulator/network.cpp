#include "workers/simulator/network.hpp"

#include <stdexcept>
#include <utility>

namespace hamtune {

namespace {

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

Routes routes_of(const PlatformRequest& request) {
  try {
    return Routes(request.nodes(), request.edges, request.hosts, request.tie_rule);
  } catch (const std::invalid_argument& error) {
    throw InvalidRequest("platform.edges: " + std::string(error.what()));
  }
}

}  // namespace

Network::Network(const PlatformRequest& request)
    : request_(request), routes_(routes_of(request)), loads_(request.edges.size(), {0, 0}) {
  links_.reserve(2 * request.edges.size() + request.nodes() + 3 * std::size_t{request.hosts} + 1);
  add_insides();
  add_switches();
  add_cables();
}

std::uint32_t Network::add(std::string name, double bandwidth, double latency) {
  links_.push_back({std::move(name), bandwidth, latency, true, nullptr, 1, false});
  return static_cast<std::uint32_t>(links_.size() - 1);
}

/// What the ranks of a host share: its way to the network, and its memory.
void Network::add_insides() {
  loopback_ = add("loopback", request_.loopback_bandwidth, request_.loopback_latency);
  links_.back().shared = false;
  interfaces_.assign(request_.hosts, kNone);
  memories_.assign(request_.hosts, kNone);
  for (Node host = 0; host < request_.hosts; ++host) {
    const std::string number = std::to_string(host);
    if (request_.interface_bandwidth) {
      interfaces_[host] = add("interface-out-" + number, *request_.interface_bandwidth, 0);
      add("interface-in-" + number, *request_.interface_bandwidth, 0);
    }
    if (request_.memory_bandwidth)
      memories_[host] = add("memory-" + number, *request_.memory_bandwidth, 0);
  }
}

void Network::add_switches() {
  switches_.assign(request_.nodes(), kNone);
  if (!switches_matter(request_)) return;
  for (Node node = request_.switches > 0 ? request_.hosts : 0; node < request_.nodes(); ++node)
    switches_[node] = add("switch-" + std::to_string(node), *request_.switch_bandwidth, 0);
}

void Network::add_cables() {
  cables_.reserve(request_.edges.size());
  for (std::size_t index = 0; index < request_.edges.size(); ++index) {
    const double bandwidth = bandwidth_of(request_, index);
    const double latency = latency_of(request_, request_.edges[index]);
    const std::string name = "cable-" + std::to_string(index);
    cables_.push_back(add(name + "-up", bandwidth, latency));
    add(name + "-down", bandwidth, latency);
    for (const std::size_t way : {0, 1}) {
      Link& link = links_[cables_.back() + way];
      link.load = &loads_[index][way];
      link.lanes = request_.widths[index];
      link.is_cable = true;
    }
  }
}

const std::vector<std::uint32_t>& Network::route(Node source, Node target) {
  route_.clear();
  if (source == target) {
    cross(loopback_);
    cross(memories_[source]);
    return route_;
  }
  cross(interfaces_[source]);
  cross(switches_[source]);
  routes_.path(source, target, hops_);
  for (const Hop& hop : hops_) {
    const Edge& edge = request_.edges[hop.edge];
    cross(cables_[hop.edge] + (hop.forward ? 0 : 1));
    cross(switches_[hop.forward ? edge.v : edge.u]);
  }
  if (interfaces_[target] != kNone) cross(interfaces_[target] + 1);
  return route_;
}

}  // namespace hamtune
