#include "workers/simulator/platform.hpp"

namespace hamtune {

namespace {

namespace s4u = simgrid::s4u;

/// What was given, or else the model's own.
std::string factors_text(const std::string& given, const char* option) {
  return given.empty() ? simgrid::config::get_value<std::string>(option) : given;
}

/// SimGrid asks for the factors of each message when it enters the network, which is where its
/// bytes can be added to the cables of its route.
void watch_messages(s4u::NetZone& zone, const ModelFactors& factors) {
  compat::set_factors(
      zone,
      [latency = latency_factor(factors)](double size, const s4u::Host*, const s4u::Host*,
                                          const std::vector<s4u::Link*>& links, const auto&) {
        for (const s4u::Link* link : links)
          if (auto* const load = link->get_data<double>()) *load += size - kEnvelope;
        return latency(size);
      },
      [bandwidth = bandwidth_factor(factors)](double size, const s4u::Host*, const s4u::Host*,
                                              const std::vector<s4u::Link*>&,
                                              const auto&) { return bandwidth(size); });
}

}  // namespace

Factors latency_factor(const ModelFactors& factors) {
  return Factors(compat::kLatencyFactor, factors_text(factors.latency, compat::kLatencyFactor));
}

Factors bandwidth_factor(const ModelFactors& factors) {
  return Factors(compat::kBandwidthFactor,
                 factors_text(factors.bandwidth, compat::kBandwidthFactor));
}

Platform::Platform(s4u::Engine& engine, const PlatformRequest& request)
    : zone_(*compat::make_root_zone(engine, "network")) {
  for (Node node = 0; node < request.hosts; ++node)
    hosts_.push_back(compat::add_host(zone_, "node-" + std::to_string(node),
                                      request.host_speeds[node], request.cores));
}

void Platform::add_network(Network& network, const std::vector<bool>& used_hosts,
                           const ModelFactors& factors) {
  std::vector<s4u::Link*> links;
  for (const Network::Link& link : network.links()) {
    links.push_back(compat::add_link(zone_, link.name, link.bandwidth, link.latency,
                                     link.shared ? s4u::Link::SharingPolicy::SHARED
                                                 : s4u::Link::SharingPolicy::FATPIPE));
    if (link.load != nullptr) links.back()->set_data(link.load);
  }
  std::vector<s4u::LinkInRoute> route;
  const auto count = static_cast<Node>(hosts_.size());
  for (Node source = 0; source < count; ++source)
    for (Node target = 0; target < count; ++target) {
      if (!used_hosts[source] || !used_hosts[target]) continue;
      route.clear();
      for (const std::uint32_t link : network.route(source, target)) route.emplace_back(links[link]);
      compat::add_route(zone_, *hosts_[source], *hosts_[target], route);
    }
  watch_messages(zone_, factors);
  zone_.seal();
}

}  // namespace hamtune
