// Requests: what is read of them, and that every field that is wrong is named.
#include "workers/simulator/request.hpp"

#include <string>

#include "tests/native.hpp"

namespace hamtune {
namespace {

using Json = nlohmann::json;

std::vector<Trace> traces() {
  std::vector<Trace> found(1);
  found[0].ranks.resize(3);
  return found;
}

Json protocol() {
  return Json::parse(R"({"switching": "cut-through", "mtu": 2048, "header": 48, "framing": 8,
    "message_header": 20, "control_bytes": 40, "eager_limit": 8192, "send_buffer": 65536, "exchange": "half",
    "exchange_above": 4096, "stagger": 0.001, "trains": 64.5, "turn": 8192, "buffer": 4096, "burst": 0,
    "send_overhead": [[0, 1e-6, 0], [1024, 2e-6, 1e-10]], "isend_overhead": [], "receive_overhead": [],
    "peer_overhead": 0, "processors": 2})");
}

Json request() {
  Json json = Json::parse(R"({"id": "x", "platform": {"hosts": 3, "cores": 2, "host_speed": 1e9,
    "host_speeds": [1e9, 2e9, 3e9], "switches": 1, "edges": [[0, 3], [1, 3], [2, 3, 2]], "link_bandwidth": 1e9,
    "host_link_bandwidth": 2e9, "link_latency": 1e-6, "switch_latency": 0, "switch_bandwidth": 1e10,
    "interface_bandwidth": 1e9, "memory_bandwidth": 1e10, "loopback_bandwidth": 5e9, "loopback_latency": 0,
    "tie_rule": "spread"},
    "applications": [{"trace": 0, "hosts": [0, 1, 2], "start": 0.5, "weight": 2}], "objective": "mean",
    "options": {"smpi/os": "0:1:0", "cpu/optim": 3}, "cutoff": 10, "memory_bytes": 1000000, "messages": 5,
    "wall_seconds": 1.5, "plain_simgrid": true, "expand_collectives": false})");
  json["platform"]["packets"] = protocol();
  return json;
}

std::string refusal(const Json& json) {
  static const std::vector<Trace> known = traces();
  try {
    parse_request(json, known);
  } catch (const InvalidRequest& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("all fields of a request are read") {
  const std::vector<Trace> known = traces();
  const Request found = parse_request(request(), known);
  CHECK(found.platform.nodes() == 4);
  CHECK(found.platform.host_speeds[2] == 3e9);
  CHECK(found.platform.widths == std::vector<std::uint32_t>{1, 1, 2});
  CHECK(found.platform.is_host_link(found.platform.edges[0]));
  CHECK(found.platform.tie_rule == TieRule::kSpread);
  CHECK(found.applications[0].weight == 2);
  CHECK(found.objective == Objective::mean);
  CHECK(found.options.size() == 2);
  CHECK(found.cutoff == 10);
  CHECK(found.plain_simgrid);
  CHECK_FALSE(found.expand_collectives);
  REQUIRE(found.platform.packets);
  CHECK(found.platform.packets->cuts_through);
  CHECK(found.platform.packets->trains == 64);
  CHECK(found.platform.packets->exchange == Exchange::half);
  CHECK(found.platform.packets->send_overhead(2000) == doctest::Approx(2e-6 + 2e-7));
  CHECK(found.platform.packets->processors == 2);
  CHECK(id_of(request()) == "x");
  CHECK(id_of(Json::array()) == nullptr);
}

/// Calls `tell` with the request in which one field after the other was replaced, and the field's name.
template <typename Tell>
void each_field(const Json& whole, const Json::json_pointer& at, const Tell& tell) {
  const Json& here = whole[at];
  if (!here.is_object()) return;
  for (const auto& [key, value] : here.items()) {
    tell(at / key, key);
    each_field(whole, at / key, tell);
  }
}

TEST_CASE("a field of any wrong kind is refused by its name") {
  const Json whole = request();
  const std::vector<Json> wrong{Json::object({{"a", 1}}), Json::array({Json::array({"a"})}), "no such", -1, true};
  std::size_t refused = 0;
  each_field(whole, Json::json_pointer(), [&](const Json::json_pointer& at, const std::string& key) {
    CAPTURE(key);
    if (key == "id" || at.to_string().find("/options/") == 0) return;  // anything goes
    for (const Json& value : wrong) {
      if (value == whole[at]) continue;
      Json changed = whole;
      changed[at] = value;
      const std::string message = refusal(changed);
      if (value.is_boolean() && whole[at].is_boolean()) continue;
      if (key == "options" && value.is_object()) {
        CHECK(message.find("must begin with") != std::string::npos);
        continue;
      }
      CAPTURE(value);
      CHECK(message.find(key) != std::string::npos);
      refused += message.empty() ? 0 : 1;
    }
    Json more = whole;
    if (!whole[at].is_object() || key == "options") return;
    more[at]["unheard_of"] = 1;
    CHECK(refusal(more).find("unheard_of: unknown field") != std::string::npos);
  });
  CHECK(refused > 200);
}

TEST_CASE("fields that must be there are missed by name") {
  const std::vector<std::string> optional{
      "id", "host_speeds", "switches", "host_link_bandwidth", "switch_bandwidth", "interface_bandwidth",
      "memory_bandwidth", "packets", "start", "weight", "objective", "options", "cutoff", "memory_bytes",
      "messages", "wall_seconds", "plain_simgrid", "expand_collectives", "eager_limit", "send_buffer",
      "stagger", "turn", "buffer", "processors", "smpi/os", "cpu/optim"};
  const Json whole = request();
  each_field(whole, Json::json_pointer(), [&](const Json::json_pointer& at, const std::string& key) {
    CAPTURE(key);
    Json less = whole;
    less[at.parent_pointer()].erase(key);
    if (key == "switches") return;  // then the edges name a node that is not there
    if (std::find(optional.begin(), optional.end(), key) != optional.end())
      CHECK(refusal(less) == "");
    else
      CHECK(refusal(less).find(key + ": is missing") != std::string::npos);
  });
}

TEST_CASE("what fits no machine or no trace is refused") {
  const auto with = [](const char* at, const char* value) {
    Json json = request();
    json[Json::json_pointer(at)] = Json::parse(value);
    return refusal(json);
  };
  CHECK(with("/platform/edges", R"([[0, 1]])") == "platform.edges[0]: joins two hosts of a network with switches");
  CHECK(with("/platform/edges", R"([[3, 0]])") == "platform.edges[0]: u must be smaller than v");
  CHECK(with("/platform/edges", R"([[0, 3, 0]])") == "platform.edges[0]: must stand for at least one cable");
  CHECK(with("/platform/edges", R"([[0, 4]])") != "");
  CHECK(with("/platform/hosts", R"(0)") == "platform.hosts: must be at least 1");
  CHECK(with("/platform/hosts", R"(65537)") != "");
  CHECK(with("/platform/host_speeds", R"([1, 2])") == "platform.host_speeds: must have an entry for each of the 3 hosts");
  CHECK(with("/applications", R"([])") == "applications: is empty");
  CHECK(with("/applications/0/hosts", R"([0, 1])") == "applications[0].hosts: 2 hosts for 3 ranks");
  CHECK(with("/applications/0/hosts", R"([0, 1, 3])") != "");
  CHECK(with("/applications/0/trace", R"(1)") != "");
  CHECK(with("/options", R"({"tracing": "yes"})") == "options: \"tracing\" must begin with smpi/, network/ or cpu/");
  CHECK(with("/platform/packets/header", R"(2048)") == "platform.packets.header: must be less than the mtu");
  CHECK(with("/platform/packets/trains", R"(0.5)") != "");
  CHECK(with("/platform/packets/buffer", R"(2055)") == "platform.packets.buffer: must hold a packet");
  CHECK(with("/platform/packets/send_overhead", R"([[5, 0, 0], [5, 0, 0]])") ==
        "platform.packets.send_overhead: sizes must increase");
  CHECK(refusal(Json::array()) == ": must be an object");
}

}  // namespace
}  // namespace hamtune
