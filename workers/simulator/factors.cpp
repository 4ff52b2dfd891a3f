#include "workers/simulator/factors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "workers/simulator/request.hpp"

namespace hamtune {

namespace {

double parse_number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0)
    throw InvalidRequest("options: " + option + ": \"" + text + "\" is not a number from 0");
  return value;
}

}  // namespace

Factors::Factors(const std::string& option, const std::string& text) {
  if (text.find_first_of(":;") == std::string::npos) {
    below_ = parse_number(option, text);
    return;
  }
  std::istringstream steps(text);
  for (std::string step; std::getline(steps, step, ';');) {
    const std::size_t colon = step.find(':');
    if (colon == std::string::npos)
      throw InvalidRequest("options: " + option + ": \"" + step + "\" is not bytes:factor");
    steps_.emplace_back(parse_number(option, step.substr(0, colon)),
                        parse_number(option, step.substr(colon + 1)));
  }
  std::sort(steps_.begin(), steps_.end());
}

}  // namespace hamtune
