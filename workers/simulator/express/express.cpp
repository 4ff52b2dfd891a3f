#include "workers/simulator/express/express.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "workers/simulator/express/trace_player.hpp"
#include "workers/simulator/simgrid/compat.hpp"

#ifdef HAMTUNE_EXPRESS

#include "workers/simulator/express/collective_expansion.hpp"
#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/packet_messages.hpp"
#include "workers/simulator/simgrid/lean.hpp"

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

void use(const Platform& platform, Network& network, const Request& request,
         const ModelFactors& factors, bool estimates) {
  simgrid::kernel::EngineImpl::now_ = 0;
  Machine machine(platform.hosts(), network, latency_factor(factors), bandwidth_factor(factors));
  for (const ApplicationRequest& application : request.applications)
    for (const Node host : application.hosts) machine.expect_rank(host);
  const auto& packets = request.platform.packets;
  if (packets) expansions().prepare(request);
  use_kernel(std::make_unique<Kernel>(std::move(machine),
                                      NetworkModel{&network, packets ? &*packets : nullptr},
                                      estimates, kernel()));
}

MPI_Comm with_same_ranks(MPI_Comm communicator) {
  if (!in_use() || kernel()->packets() == nullptr) return MPI_COMM_NULL;
  communicator->group()->ref();
  return ::new (::operator new(kCommunicatorRoom))
      simgrid::smpi::Comm(communicator->group(), nullptr, false, MPI_UNDEFINED);
}

void group_by_host(MPI_Comm communicator) {
  if (in_use() && kernel()->packets() != nullptr) communicator->init_smp();
}

bool in_use() { return kernel() != nullptr; }

void enter(std::size_t host) {
  if (in_use()) kernel()->enter(host);
}

void leave() {
  // SimGrid ends an actor with an exception, and tells many of it; nobody here would listen.
  if (in_use()) kernel()->running().context->suspend();
}

MPI_Comm as_new(MPI_Comm world) {
  alignas(std::max_align_t) static std::array<unsigned char, kCommunicatorRoom> place;
  forget_messages();  // some algorithms send what nobody receives
  return ::new (static_cast<void*>(place.data()))
      simgrid::smpi::Comm(world->group(), nullptr, world->is_smp_comm(), world->id());
}

void execute(double flops) {
  if (in_use())
    kernel()->execute(flops);
  else
    simgrid::s4u::this_actor::execute(flops);
}

bool is_network_blocked() {
  return in_use() && kernel()->packets() != nullptr && kernel()->packets()->is_blocked();
}

std::size_t expanded_collectives() { return expansions().played(); }

void tell_loads() {
  if (in_use() && kernel()->packets() != nullptr) kernel()->packets()->tell_loads();
}

void run(const std::function<void()>& at_advance) { kernel()->run(at_advance); }

}  // namespace hamtune::express

#else

namespace hamtune::express {

bool may_suit(const Request&) { return false; }

bool suits() { return false; }

void use(const Platform&, Network&, const Request&, const ModelFactors&, bool) {}

MPI_Comm with_same_ranks(MPI_Comm) { return MPI_COMM_NULL; }

void group_by_host(MPI_Comm) {}

bool in_use() { return false; }

void enter(std::size_t) {}

void leave() {}

MPI_Comm as_new(MPI_Comm world) { return world; }

bool save_mvapich_state() { return false; }

void restore_mvapich_state() {}

void execute(double flops) { simgrid::s4u::this_actor::execute(flops); }

bool is_network_blocked() { return false; }

std::size_t expanded_collectives() { return 0; }

void tell_loads() {}

std::unique_ptr<TracePlayer> make_player(const Score&) { return nullptr; }

void run(const std::function<void()>&) {}

}  // namespace hamtune::express

#endif
