#include "workers/simulator/request.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "workers/simulator/fields.hpp"

namespace hamtune {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxHosts = 65'536;
constexpr std::array<std::string_view, 3> kOptionPrefixes = {"smpi/", "network/", "cpu/"};

/// Reads [u, v], or [u, v, k] for k parallel cables.
void parse_edges(const Json& list, PlatformRequest& platform) {
  const Node last = platform.nodes() - 1;
  for (const Json& cable : list) {
    const std::string field = "platform.edges[" + std::to_string(platform.edges.size()) + "]";
    if (!cable.is_array() || (cable.size() != 2 && cable.size() != 3))
      throw InvalidRequest(field + ": must be [u, v] or [u, v, cables]");
    const auto u = static_cast<Node>(Fields::to_whole(cable[0], field, last));
    const auto v = static_cast<Node>(Fields::to_whole(cable[1], field, last));
    if (u >= v) throw InvalidRequest(field + ": u must be smaller than v");
    if (platform.switches > 0 && v < platform.hosts)
      throw InvalidRequest(field + ": joins two hosts of a network with switches");
    const std::uint64_t width =
        cable.size() == 3 ? Fields::to_whole(cable[2], field, kMaxHosts) : 1;
    if (width == 0) throw InvalidRequest(field + ": must stand for at least one cable");
    platform.edges.push_back({u, v});
    platform.widths.push_back(static_cast<std::uint32_t>(width));
  }
}

/// Reads the speed of each host.
void parse_speeds(const Json& list, std::vector<double>& speeds) {
  const std::string field = "platform.host_speeds";
  if (list.size() != speeds.size())
    throw InvalidRequest(field + ": must have an entry for each of the " +
                         std::to_string(speeds.size()) + " hosts");
  for (std::size_t host = 0; host < speeds.size(); ++host)
    speeds[host] =
        Fields::to_number(list[host], field + "[" + std::to_string(host) + "]", false);
}

PlatformRequest parse_platform(const Json& json) {
  Fields fields(json, "platform");
  PlatformRequest platform;
  platform.hosts = static_cast<Node>(fields.whole("hosts", kMaxHosts));
  if (platform.hosts == 0) throw InvalidRequest("platform.hosts: must be at least 1");
  platform.cores = static_cast<int>(fields.whole("cores", 1'000'000));
  if (platform.cores == 0) throw InvalidRequest("platform.cores: must be at least 1");
  platform.host_speeds.assign(platform.hosts, fields.number("host_speed", false));
  if (!fields.find("host_speeds").is_null())
    parse_speeds(fields.list("host_speeds"), platform.host_speeds);
  if (!fields.find("switches").is_null())
    platform.switches = static_cast<Node>(fields.whole("switches", kMaxHosts - platform.hosts));
  parse_edges(fields.list("edges"), platform);
  platform.link_bandwidth = fields.number("link_bandwidth", false);
  platform.host_link_bandwidth =
      fields.optional_number("host_link_bandwidth").value_or(platform.link_bandwidth);
  platform.link_latency = fields.number("link_latency", true);
  platform.switch_latency = fields.number("switch_latency", true);
  platform.switch_bandwidth = fields.optional_number("switch_bandwidth");
  platform.interface_bandwidth = fields.optional_number("interface_bandwidth");
  platform.memory_bandwidth = fields.optional_number("memory_bandwidth");
  platform.loopback_bandwidth = fields.number("loopback_bandwidth", false);
  platform.loopback_latency = fields.number("loopback_latency", true);
  const Json& rule = fields.get("tie_rule");
  try {
    platform.tie_rule = tie_rule(rule.is_string() ? rule.get<std::string>() : "");
  } catch (const std::invalid_argument& error) {
    throw InvalidRequest("platform.tie_rule: " + std::string(error.what()));
  }
  if (const Json& packets = fields.find("packets"); !packets.is_null())
    platform.packets = parse_protocol(packets, "platform.packets");
  fields.refuse_others();
  return platform;
}

ApplicationRequest parse_application(const Json& json, const std::string& path, Node hosts,
                                     const std::vector<Trace>& traces) {
  Fields fields(json, path);
  ApplicationRequest application;
  application.trace = fields.whole("trace", traces.size() - 1);
  for (const Json& host : fields.list("hosts"))
    application.hosts.push_back(
        static_cast<Node>(Fields::to_whole(host, fields.name("hosts"), hosts - 1)));
  if (application.hosts.size() != traces[application.trace].ranks.size())
    throw InvalidRequest(fields.name("hosts") + ": " + std::to_string(application.hosts.size()) +
                         " hosts for " +
                         std::to_string(traces[application.trace].ranks.size()) + " ranks");
  if (!fields.find("start").is_null()) application.start = fields.number("start", true);
  if (!fields.find("weight").is_null()) application.weight = fields.number("weight", false);
  fields.refuse_others();
  return application;
}

/// Options reach SimGrid as they are, so only the groups that belong to a model are let through.
std::vector<std::pair<std::string, std::string>> parse_options(const Json& json) {
  std::vector<std::pair<std::string, std::string>> options;
  if (json.is_null()) return options;
  if (!json.is_object()) throw InvalidRequest("options: must be an object");
  for (const auto& [key, value] : json.items()) {
    const bool known = std::any_of(
        kOptionPrefixes.begin(), kOptionPrefixes.end(),
        [&name = key](std::string_view prefix) { return name.compare(0, prefix.size(), prefix) == 0; });
    if (!known)
      throw InvalidRequest("options: \"" + key + "\" must begin with smpi/, network/ or cpu/");
    options.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return options;
}

bool flag(Fields& fields, const std::string& key, bool otherwise) {
  const Json& value = fields.find(key);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) throw InvalidRequest(key + ": must be true or false");
  return value == true;
}

}  // namespace

Json id_of(const Json& request) {
  return request.is_object() ? request.value("id", Json()) : Json();
}

Request parse_request(const Json& json, const std::vector<Trace>& traces) {
  Fields fields(json, "");
  fields.find("id");
  Request request;
  request.platform = parse_platform(fields.get("platform"));
  for (const Json& application : fields.list("applications"))
    request.applications.push_back(parse_application(
        application, "applications[" + std::to_string(request.applications.size()) + "]",
        request.platform.hosts, traces));
  if (request.applications.empty()) throw InvalidRequest("applications: is empty");
  const Json& objective = fields.find("objective");
  if (objective == "mean")
    request.objective = Objective::mean;
  else if (!objective.is_null() && objective != "last")
    throw InvalidRequest("objective: must be \"last\" or \"mean\"");
  request.options = parse_options(fields.find("options"));
  request.cutoff = fields.optional_number("cutoff");
  if (!fields.find("memory_bytes").is_null())
    request.memory_bytes = fields.whole("memory_bytes", std::numeric_limits<std::int64_t>::max());
  if (!fields.find("messages").is_null())
    request.messages = fields.whole("messages", std::numeric_limits<std::int64_t>::max());
  request.wall_seconds = fields.optional_number("wall_seconds");
  request.plain_simgrid = flag(fields, "plain_simgrid", false);
  request.expand_collectives = flag(fields, "expand_collectives", true);
  fields.refuse_others();
  return request;
}

}  // namespace hamtune
