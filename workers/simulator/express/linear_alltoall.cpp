// SMPI's linear all-to-all: every rank posts all its receives and sends and waits for them. Beside
// packets it is done here, with the same messages in the same order, but with one receive for all of them
// and without requests of SMPI: for a thousand ranks these alone would take half a gigabyte.
#include <cstdint>
#include <vector>

#include "workers/simulator/express/collective_expansion.hpp"
#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/packet_messages.hpp"

namespace hamtune::express {

namespace {

constexpr int kTag = -3001;  // no other of SMPI's collectives has it

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

void exchange(Kernel& kernel, PacketMessages& messages, std::size_t sent, std::size_t received,
              MPI_Comm communicator) {
  simgrid::smpi::Group& group = *communicator->group();
  const int ranks = communicator->size();
  const aid_t self = kernel.running().number;
  const int rank = group.rank(self);
  const int id = number_of(communicator);
  std::vector<Pending*> all;
  Recording* const recording = kernel.running().recording;
  std::vector<std::uint32_t> recorded;
  const auto keep = [&all](Pending* pending) {
    if (pending != nullptr) all.push_back(pending);
  };
  const auto others = static_cast<std::uint32_t>(ranks - 1);
  if (others > 0) {
    if (recording != nullptr)
      recorded.push_back(recording->receive({MPI_ANY_SOURCE, kTag, id}, 0, others));
    keep(&messages.post_receive({MPI_ANY_SOURCE, kTag, id}, nullptr, 0, others));
  }
  for (int distance = 1; distance < ranks; ++distance) {
    Actor& target = kernel.receiver(group.actor((rank + ranks - distance) % ranks), kTag);
    if (recording != nullptr)
      recorded.push_back(
          recording->send({self, kTag, id}, target.number, sent, PacketMessages::Mode::standard, true));
    messages.charge_send(target, sent, true);
    keep(messages.post_send({self, kTag, id}, target, {nullptr, sent},
                            PacketMessages::Mode::standard));
  }
  if (recording != nullptr) recording->wait_and_pay(recorded, received, others);
  messages.wait_all(all);
  for (Pending* const pending : all) messages.release(*pending);
  for (int other = 1; other < ranks && !messages.receives_are_free(); ++other)
    messages.charge_receive(received);
}

}  // namespace

}  // namespace hamtune::express

namespace simgrid::smpi {

int alltoall__basic_linear(const void* from, int count, MPI_Datatype type, void* into,
                           int into_count, MPI_Datatype into_type, MPI_Comm communicator) {
  using namespace hamtune::express;
  if (Kernel* const used = hamtune::express::kernel(); used != nullptr && used->packets() != nullptr) {
    exchange(*used, *used->packets(), bytes_of(count, type), bytes_of(into_count, into_type),
             communicator);
    return MPI_SUCCESS;
  }
  static const auto library =
      hamtune::library_function<int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype,
                                    MPI_Comm)>(
          "_ZN7simgrid4smpi22alltoall__basic_linearEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE");
  return library(from, count, type, into, into_count, into_type, communicator);
}

}  // namespace simgrid::smpi
