// Before the first collective that minds which ranks share a host, SMPI has all ranks of a communicator
// tell each other a number: twice n (n - 1) messages of four bytes, on 16 ranks as much as several
// iterations of a program. Where a truncated trace is played, which is an estimate anyway, the times of
// these messages are computed from what each takes alone, and none is sent. Whole traces send them.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/payload.hpp"
#include "workers/simulator/platform.hpp"

namespace hamtune::express {

namespace {

/// A rank that takes part, while it waits in its call.
struct Member {
  Actor* actor = nullptr;
  double time = 0;  // of the call, s; later of its end
  const void* from = nullptr;
  unsigned char* into = nullptr;
};

/// An exchange among the ranks of a communicator: each sends its bytes to all others, in the order of
/// SMPI's algorithm "ring" (Faraj and Yuan 2005), which is that of their distance in ranks.
class Exchange {
 public:
  Exchange(std::size_t ranks, std::size_t bytes) : members_(ranks), bytes_(bytes) {}

  Member& member(std::size_t rank) { return members_[rank]; }

  /// True for the last one.
  bool join(std::size_t rank, const Member& member) {
    members_[rank] = member;
    return ++joined_ == members_.size();
  }

  void finish(Kernel& kernel) {
    compute_times(kernel.machine());
    for (const Member& target : members_)
      for (std::size_t rank = 0; rank < members_.size(); ++rank)
        std::memcpy(target.into + rank * bytes_, members_[rank].from, bytes_);
    for (const Member& each : members_) kernel.wake(*each.actor);
  }

 private:
  /// A message sets out when both ends are ready for it, and either goes on when it has arrived.
  void compute_times(Machine& machine) {
    const std::size_t ranks = members_.size();
    const double size = static_cast<double>(bytes_) + kEnvelope;
    const double latency = machine.latency_factor(size);
    const double bandwidth = machine.bandwidth_factor(size);
    // Seconds of a message that shares its cables with no other.
    const auto send = [&](const Actor& from, const Actor& to) {
      const Machine::Route& route = machine.route(from.host, to.host);
      for (double* const load : route.loads) *load += static_cast<double>(bytes_);
      return route.latency * latency + size / (route.bound * bandwidth);
    };
    std::vector<double> after(ranks);
    for (std::size_t distance = 1; distance < ranks; ++distance) {
      for (std::size_t target = 0; target < ranks; ++target) {
        const Member& to = members_[target];
        const Member& from = members_[(target + ranks - distance) % ranks];
        after[target] = std::max(from.time, to.time) + send(*from.actor, *to.actor);
      }
      for (std::size_t rank = 0; rank < ranks; ++rank) members_[rank].time = after[rank];
    }
  }

  std::vector<Member> members_;
  std::size_t bytes_;
  std::size_t joined_ = 0;
};

/// By the actors of the communicator: those under way, which no rank has left.
std::map<std::vector<aid_t>, std::shared_ptr<Exchange>> exchanges;

/// Whether SMPI adds times of its own to such a message, or has its sender wait.
bool is_plain(Kernel& kernel, std::size_t bytes) {
  simgrid::s4u::Host* const here = kernel.machine().host(kernel.running().host).library;
  auto* const times = here->extension<simgrid::smpi::Host>();
  return static_cast<int>(bytes) < kernel.detached_below() &&
         times->oisend(bytes, here, here) <= 0 && times->orecv(bytes, here, here) <= 0;
}

void exchange(Kernel& kernel, const std::vector<aid_t>& actors, std::size_t rank, const void* from,
              void* into, std::size_t bytes) {
  Actor& self = kernel.running();
  std::shared_ptr<Exchange> joined;
  kernel.call(0, [&] {
    std::shared_ptr<Exchange>& under_way = exchanges[actors];
    if (!under_way) under_way = std::make_shared<Exchange>(actors.size(), bytes);
    joined = under_way;
    if (!joined->join(rank, {&self, Kernel::now(), from, static_cast<unsigned char*>(into)})) return;
    exchanges.erase(actors);
    joined->finish(kernel);
  });
  kernel.sleep(joined->member(rank).time - Kernel::now());
}

}  // namespace

}  // namespace hamtune::express

namespace simgrid::smpi {

/// Called by SMPI itself, or as an algorithm of a rank's MPI_Allgather, which is left alone: its payload
/// stands in the scratch buffers.
int allgather__ring(const void* from, int count, MPI_Datatype type, void* into, int into_count,
                    MPI_Datatype into_type, MPI_Comm communicator) {
  hamtune::express::Kernel* const kernel = hamtune::express::kernel();
  int size = 0;
  PMPI_Type_size(type, &size);
  const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  if (kernel == nullptr || !kernel->estimates() || hamtune::scratch::contains(from) ||
      hamtune::scratch::contains(into) || !hamtune::express::is_plain(*kernel, bytes)) {
    static const auto library =
        hamtune::library_function<int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype,
                                      MPI_Comm)>(
            "_ZN7simgrid4smpi15allgather__ringEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE");
    return library(from, count, type, into, into_count, into_type, communicator);
  }
  Group* const group = communicator->group();
  std::vector<aid_t> actors(static_cast<std::size_t>(communicator->size()));
  for (std::size_t rank = 0; rank < actors.size(); ++rank)
    actors[rank] = group->actor(static_cast<int>(rank));
  const int rank = group->rank(kernel->running().number);
  hamtune::express::exchange(*kernel, actors, static_cast<std::size_t>(rank), from, into, bytes);
  return MPI_SUCCESS;
}

}  // namespace simgrid::smpi
