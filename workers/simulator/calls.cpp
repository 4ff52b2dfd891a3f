#include "workers/simulator/calls.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace hamtune {

namespace {

/// Where each part of a buffer begins when parts of these lengths follow each other.
std::vector<int> displacements(const std::int32_t* counts, std::int32_t length) {
  std::vector<int> begins(static_cast<std::size_t>(length));
  int next = 0;
  for (std::int32_t item = 0; item < length; ++item) {
    begins[static_cast<std::size_t>(item)] = next;
    next += counts[item];
  }
  return begins;
}

/// Whether any of so many counts is not zero.
bool any_of(const std::int32_t* counts, std::int32_t length) {
  return std::any_of(counts, counts + length, [](std::int32_t count) { return count > 0; });
}

/// The arguments of a collective that its blocking and non-blocking forms share.
struct Collective {
  const Operation& operation;
  const std::int32_t* values;
  MPI_Comm communicator;
  Payload& payload;
  MPI_Request* request;  // null for the blocking form

  bool in_place() const { return (operation.flags & kInPlace) != 0; }
  const void* to_send() const { return in_place() ? MPI_IN_PLACE : scratch::send_buffer(); }
  void* to_receive() const { return scratch::receive_buffer(); }
  int root() const { return operation.party; }
  int count() const { return operation.count; }
  MPI_Datatype type() const { return type(count() > 0); }
  MPI_Datatype type(bool is_counted) const {
    return (operation.flags & kDerived) != 0 ? payload.derived_type(operation.type_size)
                                             : payload.type(operation.type_size, is_counted);
  }
  MPI_Op op() const { return payload.reduction((operation.flags & kNotCommutative) == 0); }

  int call() const {
    switch (operation.code) {
      case Code::barrier:
        return request ? MPI_Ibarrier(communicator, request) : MPI_Barrier(communicator);
      case Code::bcast:
        return request ? MPI_Ibcast(to_receive(), count(), type(), root(), communicator, request)
                       : MPI_Bcast(to_receive(), count(), type(), root(), communicator);
      case Code::reduce:
        return request ? MPI_Ireduce(to_send(), to_receive(), count(), type(), op(), root(),
                                     communicator, request)
                       : MPI_Reduce(to_send(), to_receive(), count(), type(), op(), root(),
                                    communicator);
      case Code::allreduce:
        return request ? MPI_Iallreduce(to_send(), to_receive(), count(), type(), op(),
                                        communicator, request)
                       : MPI_Allreduce(to_send(), to_receive(), count(), type(), op(),
                                       communicator);
      case Code::scan:
        return request ? MPI_Iscan(to_send(), to_receive(), count(), type(), op(), communicator,
                                   request)
                       : MPI_Scan(to_send(), to_receive(), count(), type(), op(), communicator);
      case Code::exscan:
        return request ? MPI_Iexscan(to_send(), to_receive(), count(), type(), op(), communicator,
                                     request)
                       : MPI_Exscan(to_send(), to_receive(), count(), type(), op(), communicator);
      case Code::reduce_scatter: {
        const MPI_Datatype reduced = type(any_of(values + 1, values[0]));
        return request ? MPI_Ireduce_scatter(to_send(), to_receive(), values + 1, reduced, op(),
                                             communicator, request)
                       : MPI_Reduce_scatter(to_send(), to_receive(), values + 1, reduced, op(),
                                            communicator);
      }
      case Code::reduce_scatter_block:
        return request ? MPI_Ireduce_scatter_block(to_send(), to_receive(), count(), type(), op(),
                                                   communicator, request)
                       : MPI_Reduce_scatter_block(to_send(), to_receive(), count(), type(), op(),
                                                  communicator);
      case Code::gatherv:
      case Code::scatterv:
      case Code::allgatherv:
      case Code::alltoallv:
      case Code::alltoallw:
        return call_with_lists();
      default:
        return call_with_blocks();
    }
  }

  /// Blocks of one size: receive count and type follow in `values`.
  int call_with_blocks() const {
    const int received = values[0];
    const MPI_Datatype received_type = payload.type(values[1], received > 0);
    switch (operation.code) {
      case Code::gather: {
        // Off the root the receive side is recorded as nothing, but some of SMPI's algorithms look
        // at it, and programs mostly give what they give at the root.
        const bool recorded = values[1] > 0;
        const int count_at_root = recorded ? received : count();
        const MPI_Datatype type_at_root = recorded ? received_type : type();
        return request ? MPI_Igather(to_send(), count(), type(), to_receive(), count_at_root,
                                     type_at_root, root(), communicator, request)
                       : MPI_Gather(to_send(), count(), type(), to_receive(), count_at_root,
                                    type_at_root, root(), communicator);
      }
      case Code::scatter: {
        void* const into = in_place() ? MPI_IN_PLACE : to_receive();
        const bool recorded = operation.type_size > 0;  // the send side, as above
        const int count_at_root = recorded ? count() : received;
        const MPI_Datatype type_at_root = recorded ? type() : received_type;
        return request ? MPI_Iscatter(scratch::send_buffer(), count_at_root, type_at_root, into,
                                      received, received_type, root(), communicator, request)
                       : MPI_Scatter(scratch::send_buffer(), count_at_root, type_at_root, into,
                                     received, received_type, root(), communicator);
      }
      case Code::allgather:
        return request ? MPI_Iallgather(to_send(), count(), type(), to_receive(), received,
                                        received_type, communicator, request)
                       : MPI_Allgather(to_send(), count(), type(), to_receive(), received,
                                       received_type, communicator);
      case Code::alltoall:
        return request ? MPI_Ialltoall(to_send(), count(), type(), to_receive(), received,
                                       received_type, communicator, request)
                       : MPI_Alltoall(to_send(), count(), type(), to_receive(), received,
                                      received_type, communicator);
      default:
        return MPI_ERR_OTHER;
    }
  }

  int call_with_lists() const {
    switch (operation.code) {
      case Code::gatherv: {
        const auto begins = displacements(values + 2, values[1]);
        const MPI_Datatype received = payload.type(values[0], any_of(values + 2, values[1]));
        return request ? MPI_Igatherv(to_send(), count(), type(), to_receive(), values + 2,
                                      begins.data(), received, root(), communicator, request)
                       : MPI_Gatherv(to_send(), count(), type(), to_receive(), values + 2,
                                     begins.data(), received, root(), communicator);
      }
      case Code::scatterv: {
        const auto begins = displacements(values + 3, values[2]);
        const MPI_Datatype sent = payload.type(operation.type_size, any_of(values + 3, values[2]));
        const MPI_Datatype received = payload.type(values[1], values[0] > 0);
        void* const into = in_place() ? MPI_IN_PLACE : to_receive();
        return request ? MPI_Iscatterv(scratch::send_buffer(), values + 3, begins.data(), sent, into,
                                       values[0], received, root(), communicator, request)
                       : MPI_Scatterv(scratch::send_buffer(), values + 3, begins.data(), sent, into,
                                      values[0], received, root(), communicator);
      }
      case Code::allgatherv: {
        const auto begins = displacements(values + 2, values[1]);
        const MPI_Datatype received = payload.type(values[0], any_of(values + 2, values[1]));
        return request ? MPI_Iallgatherv(to_send(), count(), type(), to_receive(), values + 2,
                                         begins.data(), received, communicator, request)
                       : MPI_Allgatherv(to_send(), count(), type(), to_receive(), values + 2,
                                        begins.data(), received, communicator);
      }
      case Code::alltoallv: {
        const std::int32_t ranks = values[1];
        const std::int32_t* const receives = values + 2 + ranks;
        const auto from = displacements(values + 2, ranks);
        const auto to = displacements(receives, ranks);
        const MPI_Datatype sent = payload.type(operation.type_size, any_of(values + 2, ranks));
        const MPI_Datatype received = payload.type(values[0], any_of(receives, ranks));
        return request ? MPI_Ialltoallv(to_send(), values + 2, from.data(), sent, to_receive(),
                                        receives, to.data(), received, communicator, request)
                       : MPI_Alltoallv(to_send(), values + 2, from.data(), sent, to_receive(),
                                       receives, to.data(), received, communicator);
      }
      default: {
        const std::int32_t ranks = values[0];
        const std::int32_t* const receives = values + 1 + ranks;
        const auto from = displacements(values + 1, ranks);
        const auto to = displacements(receives, ranks);
        const std::vector<MPI_Datatype> bytes(static_cast<std::size_t>(ranks), MPI_BYTE);
        return request
                   ? MPI_Ialltoallw(to_send(), values + 1, from.data(), bytes.data(), to_receive(),
                                    receives, to.data(), bytes.data(), communicator, request)
                   : MPI_Alltoallw(to_send(), values + 1, from.data(), bytes.data(), to_receive(),
                                   receives, to.data(), bytes.data(), communicator);
      }
    }
  }
};

}  // namespace

void check_mpi(int status) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  PMPI_Error_string(status, text.data(), &length);
  throw MpiError(text[0] == '\0' ? "error " + std::to_string(status) : text.data());
}

void call_collective(const Operation& operation, const std::int32_t* values, MPI_Comm communicator,
                     Payload& payload, MPI_Request& request) {
  check_mpi(Collective{operation, values, communicator, payload,
                       operation.nonblocking ? &request : nullptr}
                .call());
}

}  // namespace hamtune
