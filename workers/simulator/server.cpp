#include "workers/simulator/server.hpp"

#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "searchspace/kernels/trace/shallow_json.hpp"
#include "workers/simulator/prepared_process.hpp"
#include "workers/simulator/own_code.hpp"
#include "workers/simulator/supervisor.hpp"

namespace hamtune {

namespace {

/// Answers where no ranks stand ready yet.
std::string answer_afresh(const std::string& line, const std::vector<Trace>& traces,
                          Simulation& simulation, PreparedProcess& prepared) {
  const nlohmann::json json = parse_shallow(line);
  if (json.is_discarded()) return to_line(invalid_answer(nullptr, "the request is not JSON"));
  try {
    const Request request = parse_request(json, traces);
    if (prepared.consider(request))
      if (const std::optional<std::string> answer = prepared.ask(line)) return *answer;
    return to_line(evaluate(request, id_of(json), simulation));
  } catch (const std::exception& error) {
    return to_line(invalid_answer(id_of(json), error.what()));
  }
}

}  // namespace

void serve(const std::vector<Trace>& traces) {
  std::ios::sync_with_stdio(false);  // or input is read letter by letter
  Simulation simulation(traces);
  own_code();
  PreparedProcess prepared(traces, simulation);
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (const std::optional<std::string> answer = prepared.ask(line))
      std::cout << *answer << std::endl;
    else
      std::cout << answer_afresh(line, traces, simulation, prepared) << std::endl;
    if (!std::cout) return;  // nobody reads any more
  }
}

}  // namespace hamtune
