// Before the first collective that minds which ranks share a host, SMPI has all ranks of a communicator
// tell each other numbers: 2 n (n - 1) messages of four bytes in rings, and whether all are in order. In an
// estimate they are computed. What ranks call themselves, with payload in the scratch buffers, is left alone.
#include <cstring>

#include "workers/simulator/express/computed_collective.hpp"
#include "workers/simulator/payload.hpp"

namespace hamtune::express {

namespace {

constexpr std::size_t kNumber = sizeof(int);

/// In the order of SMPI's algorithm "ring" (Faraj and Yuan 2005), which is that of the distance in ranks.
void ring_allgather(ComputedCollective& collective) {
  for (std::size_t distance = 1; distance < collective.ranks().size(); ++distance)
    collective.shift(distance, kNumber);
  for (const Participant& target : collective.ranks()) {
    auto* into = static_cast<unsigned char*>(target.into);
    for (const Participant& source : collective.ranks()) {
      std::memcpy(into, source.from, kNumber);
      into += kNumber;
    }
  }
}

/// SMPI's "default": all to the first, and from there along a binomial tree.
void tree_allreduce(ComputedCollective& collective) {
  collective.gather(kNumber);
  collective.broadcast(kNumber);
  int all = 1;
  for (const Participant& each : collective.ranks()) {
    int one = 0;
    std::memcpy(&one, each.from, kNumber);
    all = all != 0 && one != 0 ? 1 : 0;
  }
  for (const Participant& each : collective.ranks()) std::memcpy(each.into, &all, kNumber);
}

/// The kernel, where it computes what SMPI has to say in a number a rank.
Kernel* computing(const void* from, const void* into, int count, MPI_Datatype type) {
  Kernel* const used = kernel();
  const bool is_own = count == 1 && type == MPI_INT && !scratch::contains(from) &&
                      !scratch::contains(into);
  return used != nullptr && is_own && computes(*used, kNumber) ? used : nullptr;
}

}  // namespace

}  // namespace hamtune::express

namespace simgrid::smpi {

int allgather__ring(const void* from, int count, MPI_Datatype type, void* into, int into_count,
                    MPI_Datatype into_type, MPI_Comm communicator) {
  using namespace hamtune::express;
  if (Kernel* const kernel = computing(from, into, count, type); kernel != nullptr) {
    take_part(*kernel, communicator, from, into, &ring_allgather);
    return MPI_SUCCESS;
  }
  static const auto library =
      hamtune::library_function<int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype,
                                    MPI_Comm)>(
          "_ZN7simgrid4smpi15allgather__ringEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE");
  return library(from, count, type, into, into_count, into_type, communicator);
}

int allreduce__default(const void* from, void* into, int count, MPI_Datatype type, MPI_Op operation,
                       MPI_Comm communicator) {
  using namespace hamtune::express;
  Kernel* const kernel = computing(from, into, count, type);
  if (kernel != nullptr && operation == MPI_LAND) {
    take_part(*kernel, communicator, from, into, &tree_allreduce);
    return MPI_SUCCESS;
  }
  static const auto library =
      hamtune::library_function<int(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm)>(
          "_ZN7simgrid4smpi18allreduce__defaultEPKvPviPNS0_8DatatypeEPNS0_2OpEPNS0_4CommE");
  return library(from, into, count, type, operation, communicator);
}

}  // namespace simgrid::smpi
