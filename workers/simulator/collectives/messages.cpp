#include "workers/simulator/collectives/messages.hpp"

#include <cstring>

#include "workers/simulator/payload.hpp"

namespace simgrid::smpi {

/// What SMPI's algorithms are made of; the library exports it without a public header.
class Request {
 public:
  static void send(const void* from, int count, MPI_Datatype type, int target, int tag,
                   MPI_Comm communicator);
  static MPI_Request isend(const void* from, int count, MPI_Datatype type, int target, int tag,
                           MPI_Comm communicator);
  static MPI_Request irecv(void* into, int count, MPI_Datatype type, int source, int tag,
                           MPI_Comm communicator);
  static int wait(MPI_Request* request, MPI_Status* status);
  static int waitall(int count, MPI_Request* requests, MPI_Status* statuses);
};

}  // namespace simgrid::smpi

namespace hamtune::collectives {

namespace {

using simgrid::smpi::Request;

constexpr int kTag = -3002;  // neither a program nor SMPI's collectives have it

}  // namespace

Block Block::part(int first, int length) const {
  return {static_cast<char*>(begin) + static_cast<std::size_t>(first) * stride_of(type), length, type};
}

void send(const Block& block, int target, MPI_Comm communicator) {
  Request::send(block.begin, block.count, block.type, target, kTag, communicator);
}

MPI_Request start_send(const Block& block, int target, MPI_Comm communicator) {
  return Request::isend(block.begin, block.count, block.type, target, kTag, communicator);
}

MPI_Request start_receive(const Block& block, int source, MPI_Comm communicator) {
  return Request::irecv(block.begin, block.count, block.type, source, kTag, communicator);
}

void wait(MPI_Request& request) { Request::wait(&request, MPI_STATUS_IGNORE); }

void wait_all(std::vector<MPI_Request>& requests) {
  Request::waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();
}

void copy(const Block& from, const Block& into) {
  const std::size_t bytes = static_cast<std::size_t>(from.count) * stride_of(from.type);
  if (from.begin != into.begin && is_bookkeeping(from.begin, bytes))
    std::memcpy(into.begin, from.begin, bytes);
}

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int ranks_of(MPI_Comm communicator) {
  int ranks = 0;
  MPI_Comm_size(communicator, &ranks);
  return ranks;
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

std::size_t stride_of(MPI_Datatype type) {
  MPI_Aint least = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &least, &extent);
  return static_cast<std::size_t>(extent);
}

}  // namespace hamtune::collectives
