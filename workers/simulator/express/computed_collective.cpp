#include "workers/simulator/express/computed_collective.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "workers/simulator/express/collective_expansion.hpp"
#include "workers/simulator/platform.hpp"

namespace hamtune::express {

namespace {

/// Those of a communicator who have joined.
struct PendingCollective {
  std::vector<Participant> ranks;
  std::size_t joined = 0;
};

/// By the actors of the communicator: collectives that some have still to join.
std::map<std::vector<aid_t>, std::shared_ptr<PendingCollective>> pending_collectives;

}  // namespace

double ComputedCollective::send(const Participant& from, const Participant& to, std::size_t bytes) {
  if (is_free_) return std::max(from.time, to.time);
  const double size = static_cast<double>(bytes) + kEnvelope;
  const Machine::Route& route = machine_.route(from.actor->host, to.actor->host);
  for (double* const load : route.loads) *load += static_cast<double>(bytes);
  return std::max(from.time, to.time) + route.latency * machine_.latency_factor(size) +
         size / (route.bound * machine_.bandwidth_factor(size));
}

void ComputedCollective::shift(std::size_t distance, std::size_t bytes) {
  std::vector<double> after(ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    after[rank] = send(ranks_[(rank + ranks_.size() - distance) % ranks_.size()], ranks_[rank], bytes);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].time = after[rank];
}

void ComputedCollective::gather(std::size_t bytes) {
  double after = ranks_.front().time;
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
    after = std::max(after, send(ranks_[rank], ranks_.front(), bytes));
  ranks_.front().time = after;
}

/// A rank's parent is the one without the lowest of its bits.
void ComputedCollective::broadcast(std::size_t bytes) {
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
    ranks_[rank].time = send(ranks_[rank & (rank - 1)], ranks_[rank], bytes);
}

bool computes(Kernel& kernel, std::size_t bytes) {
  if (kernel.packets() != nullptr) return true;
  if (!kernel.estimates() || static_cast<int>(bytes) >= kernel.detached_below()) return false;
  simgrid::s4u::Host* const here = kernel.machine().host(kernel.running().host).library;
  auto* const times = here->extension<simgrid::smpi::Host>();
  return times->oisend(bytes, here, here) <= 0 && times->osend(bytes, here, here) <= 0 &&
         times->orecv(bytes, here, here) <= 0;
}

void take_part(Kernel& kernel, MPI_Comm communicator, const void* from, void* into,
               void (*collective)(ComputedCollective&)) {
  note_uncertainty();
  simgrid::smpi::Group* const group = communicator->group();
  std::vector<aid_t> actors(static_cast<std::size_t>(communicator->size()));
  for (std::size_t rank = 0; rank < actors.size(); ++rank)
    actors[rank] = group->actor(static_cast<int>(rank));
  Actor& self = kernel.running();
  const auto rank = static_cast<std::size_t>(group->rank(self.number));
  std::shared_ptr<PendingCollective> joined;
  kernel.call(0, [&] {
    std::shared_ptr<PendingCollective>& pending = pending_collectives[actors];
    if (!pending) pending = std::make_shared<PendingCollective>();
    joined = pending;
    joined->ranks.resize(actors.size());
    joined->ranks[rank] = {&self, Kernel::now(), from, into};
    if (++joined->joined < actors.size()) return;
    pending_collectives.erase(actors);
    ComputedCollective messages(kernel.machine(), joined->ranks, kernel.packets() != nullptr);
    collective(messages);
    for (const Participant& each : joined->ranks) kernel.wake(*each.actor);
  });
  kernel.sleep(joined->ranks[rank].time - Kernel::now());
}

}  // namespace hamtune::express
