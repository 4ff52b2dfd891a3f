#include "workers/simulator/express/express.hpp"

#include <memory>
#include <string>

#include "workers/simulator/simgrid_compat.hpp"

#if SIMGRID_VERSION < 33300

#include "workers/simulator/express/kernel.hpp"

namespace hamtune::express {

namespace {

/// Whether the options choose the models that ours are made after.
bool fits() {
  const auto is = [](const char* option, const char* value) {
    return simgrid::config::get_value<std::string>(option) == value;
  };
  // The one algorithm of SMPI that is made of one-sided communication.
  if (is("smpi/alltoall", "pair_rma")) return false;
  return is("network/model", "SMPI") && is("network/optim", "Lazy") &&
         is("network/solver", "maxmin") && is("cpu/model", "Cas01") && is("cpu/optim", "Lazy") &&
         is("cpu/solver", "maxmin") &&
         simgrid::config::get_value<int>("smpi/async-small-thresh") == 0;
}

}  // namespace

void use(const Platform& platform) {
  if (!fits()) return;
  use_kernel(std::make_unique<Kernel>(
      Machine(platform.hosts(), platform.latency_factor(), platform.bandwidth_factor())));
}

bool in_use() { return kernel() != nullptr; }

void enter(std::size_t host) {
  if (in_use()) kernel()->enter(host);
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

void use(const Platform&) {}

bool in_use() { return false; }

void enter(std::size_t) {}

void execute(double flops) { simgrid::s4u::this_actor::execute(flops); }

void run(const std::function<void()>&) {}

}  // namespace hamtune::express

#endif
