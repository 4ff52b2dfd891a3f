#include "workers/simulator/simulation_options.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "workers/simulator/collectives/choice.hpp"

namespace hamtune {

namespace {

/// What the names of algorithms have in common that group ranks by host, and of the selectors that
/// may choose such an algorithm.
constexpr std::array<std::string_view, 6> kNodeAware = {"smp",  "SMP",   "mvapich2",
                                                        "impi", "mpich", "loosely_lr"};

/// SimGrid lists all its options below a complaint about one.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// True for an option that SMPI can be told again after it has started.
bool names_algorithm(const std::string& option) {
  return std::any_of(kAlgorithmOptions.begin(), kAlgorithmOptions.end(),
                     [&option](std::string_view name) { return option == name; });
}

bool is_latency_factor(const std::string& option) {
  return option == "smpi/lat-factor" || option == "network/latency-factor";
}

bool is_bandwidth_factor(const std::string& option) {
  return option == "smpi/bw-factor" || option == "network/bandwidth-factor";
}

}  // namespace

/// Over a fluid network "network/model": "SMPI" counts as well: times known so far hold what that adds.
bool is_node_aware(const Request& request) {
  for (const auto& [key, value] : request.options)
    for (const std::string_view mark : kNodeAware)
      if ((!request.platform.packets || names_algorithm(key)) &&
          value.find(mark) != std::string::npos)
        return true;
  return false;
}

ModelFactors factors_of(const Request& request) {
  ModelFactors factors;
  for (const auto& [key, value] : request.options) {
    if (is_latency_factor(key)) factors.latency = value;
    if (is_bandwidth_factor(key)) factors.bandwidth = value;
  }
  return factors;
}

Options simgrid_options(const Request& request, bool later) {
  Options options;
  for (const auto& option : request.options)
    if (!is_latency_factor(option.first) && !is_bandwidth_factor(option.first) &&
        names_algorithm(option.first) == later)
      options.push_back(option);
  return options;
}

void set_options(const Options& options) {
  for (const auto& [key, value] : options)
    try {
      simgrid::config::set_as_string(key.c_str(), value);
    } catch (const std::exception& error) {
      throw InvalidRequest("options: " + key + ": " + first_line(error.what()));
    }
}

void set_collectives(const Options& options) {
  compat::set_collectives();
  try {
    collectives::choose(options);
  } catch (const std::logic_error& error) {  // of a table
    throw InvalidRequest(std::string("options: ") + error.what());
  }
}

}  // namespace hamtune
