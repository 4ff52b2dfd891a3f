#include "workers/simulator/server.hpp"

#include <iostream>
#include <string>

#include "workers/simulator/supervisor.hpp"

namespace hamtune {

void serve(const std::vector<Trace>& traces) {
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const nlohmann::json request = nlohmann::json::parse(line, nullptr, false);
    const nlohmann::json answer = request.is_discarded()
                                      ? invalid_answer(nullptr, "the request is not JSON")
                                      : evaluate(request, traces);
    std::cout << answer.dump() << std::endl;
    if (!std::cout) return;  // nobody reads any more
  }
}

}  // namespace hamtune
