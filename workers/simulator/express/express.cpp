#include "workers/simulator/express/express.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "workers/simulator/simgrid_compat.hpp"

#if SIMGRID_VERSION < 33300

#include "workers/simulator/express/kernel.hpp"

namespace hamtune::express {

namespace {

/// The one algorithm of SMPI that is made of one-sided communication.
constexpr const char* kOneSided = "pair_rma";

}  // namespace

bool may_suit(const Request& request) {
  return !request.plain_simgrid &&
         std::none_of(request.options.begin(), request.options.end(),
                      [](const auto& option) { return option.second == kOneSided; });
}

bool suits() {
  const auto is = [](const char* option, const char* value) {
    return simgrid::config::get_value<std::string>(option) == value;
  };
  if (is("smpi/alltoall", kOneSided)) return false;
  return is("network/model", "SMPI") && is("network/optim", "Lazy") &&
         is("network/solver", "maxmin") && is("cpu/model", "Cas01") && is("cpu/optim", "Lazy") &&
         is("cpu/solver", "maxmin") &&
         simgrid::config::get_value<int>("smpi/async-small-thresh") == 0;
}

void use(const Platform& platform, Network& network, const ModelFactors& factors, bool estimates) {
  use_kernel(std::make_unique<Kernel>(
      Machine(platform.hosts(), network, latency_factor(factors), bandwidth_factor(factors)),
      estimates));
}

bool in_use() { return kernel() != nullptr; }

void enter(std::size_t host) {
  if (in_use()) kernel()->enter(host);
}

void leave() {
  // SimGrid ends an actor with an exception, and tells many of it; nobody here would listen.
  if (in_use()) kernel()->running().context->suspend();
}

void execute(double flops) {
  if (in_use())
    kernel()->execute(flops);
  else
    simgrid::s4u::this_actor::execute(flops);
}

void run(const std::function<void()>& at_advance) { kernel()->run(at_advance); }

}  // namespace hamtune::express

#else

namespace hamtune::express {

bool may_suit(const Request&) { return false; }

bool suits() { return false; }

void use(const Platform&, Network&, const ModelFactors&, bool) {}

bool in_use() { return false; }

void enter(std::size_t) {}

void leave() {}

void execute(double flops) { simgrid::s4u::this_actor::execute(flops); }

void run(const std::function<void()>&) {}

}  // namespace hamtune::express

#endif
