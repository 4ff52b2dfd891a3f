// Collective operations of a trace as MPI calls.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "searchspace/kernels/trace/trace.hpp"
#include "workers/simulator/payload.hpp"

namespace hamtune {

/// A call that MPI refused; the message is MPI's name of the error.
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MpiError unless the call succeeded.
void check_mpi(int status);

/// Calls the collective `operation`, whose further values are `values`, on a communicator. Its
/// non-blocking form, where that is recorded, sets `request`.
///
/// Throws MpiError.
void call_collective(const Operation& operation, const std::int32_t* values, MPI_Comm communicator,
                     Payload& payload, MPI_Request& request);

}  // namespace hamtune
