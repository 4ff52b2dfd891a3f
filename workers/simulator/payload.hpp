// Messages without contents: buffers, datatypes and reduction operators that cost next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "workers/simulator/simgrid/compat.hpp"

namespace hamtune {

/// Address space for all buffers of all ranks, backed again and again by the same few megabytes.
///
/// What stands in a buffer never matters here, so buffers may overlap. The temporary buffers of
/// SMPI's collective algorithms, which come from operator new[] and can add up to gigabytes, are
/// taken from here too when they are large (see payload.cpp).
namespace scratch {

/// Maps room for two buffers of this size. Called once, before any child is forked.
void map(std::size_t largest_buffer);

const void* send_buffer();
void* receive_buffer();
bool contains(const void* pointer);

}  // namespace scratch

/// Whether a message of `size` bytes from this buffer is small enough to be SMPI's own book-keeping, so
/// that its payload matters.
bool is_bookkeeping(const void* from, std::size_t size);

/// Makes SMPI move only messages small enough to be its own book-keeping (communicator ids, the
/// headers of the arrival-pattern broadcasts); the payload of others stays where it is.
void leave_payload_in_place();

/// The datatypes and operators with which the ranks of one simulation call MPI.
class Payload {
 public:
  /// A datatype of this many bytes: predefined where SMPI has one. One of none is made only for what is
  /// counted in it; elsewhere it stands for an argument that does not matter.
  MPI_Datatype type(std::int32_t size, bool is_counted);

  /// A derived datatype of this many bytes.
  MPI_Datatype derived_type(std::int32_t size);

  /// Whether SMPI has a datatype of this many bytes.
  static bool is_plain(std::int32_t size) { return plain_type(size) != MPI_DATATYPE_NULL; }

  /// A reduction operator that does nothing.
  MPI_Op reduction(bool commutative);

 private:
  static MPI_Datatype plain_type(std::int32_t size);

  std::unordered_map<std::int32_t, MPI_Datatype> derived_;
  MPI_Op commutative_ = MPI_OP_NULL;
  MPI_Op ordered_ = MPI_OP_NULL;
};

}  // namespace hamtune
