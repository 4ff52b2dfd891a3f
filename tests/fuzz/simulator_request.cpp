// The bytes are a line that the simulator is asked.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/shallow_json.hpp"
#include "tests/fuzz/trace_reading.hpp"
#include "workers/simulator/request.hpp"

namespace {

using hamtune::fuzz::require;

const std::vector<hamtune::Trace>& traces() {
  static const std::vector<hamtune::Trace> all = [] {
    std::vector<hamtune::Trace> made(2);
    made[0].ranks.resize(2);
    made[1].ranks.resize(4);
    return made;
  }();
  return all;
}

/// What the simulation takes for granted of a request.
void check(const hamtune::Request& request) {
  const hamtune::PlatformRequest& platform = request.platform;
  require(platform.hosts > 0 && platform.host_speeds.size() == platform.hosts,
          "every host has a speed");
  require(platform.widths.size() == platform.edges.size(), "every edge has a width");
  require(std::all_of(platform.edges.begin(), platform.edges.end(),
                      [&](const hamtune::Edge& edge) {
                        return edge.u < edge.v && edge.v < platform.nodes();
                      }),
          "every edge joins two nodes");
  require(!request.applications.empty(), "there is an application");
  for (const hamtune::ApplicationRequest& application : request.applications) {
    require(application.trace < traces().size() &&
                application.hosts.size() == traces()[application.trace].ranks.size(),
            "every rank of a trace has a host");
    require(std::all_of(application.hosts.begin(), application.hosts.end(),
                        [&](hamtune::Node host) { return host < platform.hosts; }),
            "every rank is on a host");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nlohmann::json json =
      hamtune::parse_shallow(std::string(reinterpret_cast<const char*>(data), size));
  if (json.is_discarded()) return 0;
  try {
    check(hamtune::parse_request(json, traces()));
  } catch (const hamtune::InvalidRequest& error) {
    require(error.what()[0] != '\0', "a request is refused with words");
  }
  const nlohmann::json answer = {{"id", hamtune::id_of(json)}};
  require(hamtune::parse_shallow(answer.dump()) == answer, "the id comes back in the answer");
  return 0;
}
