#include "workers/simulator/protocol.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

#include "workers/simulator/fields.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune {

namespace {

using Json = nlohmann::json;

constexpr double kMostTrains = 1e9;
constexpr std::uint64_t kMostProcessors = 1U << 20U;

/// One of two words.
bool choice(Fields& fields, const std::string& key, const std::string& no, const std::string& yes) {
  const Json& word = fields.get(key);
  if (word != yes && word != no)
    throw InvalidRequest(fields.name(key) + ": must be \"" + no + "\" or \"" + yes + "\"");
  return word == yes;
}

Exchange exchange(Fields& fields) {
  const Json& word = fields.get("exchange");
  if (word == "full") return Exchange::full;
  if (word == "half") return Exchange::half;
  if (word == "ordered") return Exchange::ordered;
  throw InvalidRequest(fields.name("exchange") + ": must be \"full\", \"half\" or \"ordered\"");
}

/// Reads [[bytes, seconds, seconds per byte], ...].
Overhead overhead(Fields& fields, const std::string& key) {
  const std::string field = fields.name(key);
  std::vector<Overhead::Step> steps;
  for (const Json& step : fields.list(key)) {
    if (!step.is_array() || step.size() != 3)
      throw InvalidRequest(field + ": must list [bytes, seconds, seconds per byte]");
    steps.push_back({Fields::to_number(step[0], field, true), Fields::to_number(step[1], field, true),
                     Fields::to_number(step[2], field, true)});
    if (steps.size() > 1 && !(steps[steps.size() - 2].from < steps.back().from))
      throw InvalidRequest(field + ": sizes must increase");
  }
  return Overhead(std::move(steps));
}

}  // namespace

Protocol parse_protocol(const Json& json, const std::string& path) {
  Fields fields(json, path);
  Protocol protocol;
  protocol.cuts_through = choice(fields, "switching", "store-and-forward", "cut-through");
  protocol.mtu = fields.number("mtu", false);
  protocol.header = fields.number("header", true);
  if (!(protocol.header < protocol.mtu))
    throw InvalidRequest(fields.name("header") + ": must be less than the mtu");
  protocol.framing = fields.number("framing", true);
  protocol.message_header = fields.number("message_header", true);
  protocol.control_bytes = fields.number("control_bytes", true);
  protocol.eager_limit = fields.optional_number("eager_limit", true);
  protocol.send_buffer = fields.optional_number("send_buffer", true);
  protocol.exchange = exchange(fields);
  protocol.turns_above = fields.number("exchange_above", true);
  if (!fields.find("stagger").is_null()) protocol.stagger = fields.number("stagger", true);
  protocol.trains = std::floor(fields.number("trains", false));
  if (!(protocol.trains >= 1 && protocol.trains <= kMostTrains))
    throw InvalidRequest(fields.name("trains") + ": must be from 1 to 1e9");
  if (!fields.find("turn").is_null()) protocol.turn = fields.number("turn", true);
  protocol.buffer = fields.optional_number("buffer");
  if (protocol.buffer && *protocol.buffer < protocol.mtu + protocol.framing)
    throw InvalidRequest(fields.name("buffer") + ": must hold a packet");
  protocol.burst = fields.number("burst", true);
  protocol.send_overhead = overhead(fields, "send_overhead");
  protocol.isend_overhead = overhead(fields, "isend_overhead");
  protocol.receive_overhead = overhead(fields, "receive_overhead");
  protocol.peer_overhead = fields.number("peer_overhead", true);
  if (!fields.find("processors").is_null())
    protocol.processors = static_cast<std::size_t>(fields.whole("processors", kMostProcessors));
  fields.refuse_others();
  return protocol;
}

}  // namespace hamtune
