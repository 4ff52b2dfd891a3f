// Messages between the ranks that call a collective, apart from those of the program.
//
// They become requests of SMPI, as the messages of its own algorithms do, and so go whichever way those go.
#pragma once

#include <cstddef>
#include <vector>

#include "workers/simulator/simgrid/compat.hpp"

namespace hamtune::collectives {

/// `count` elements of a type, somewhere in memory.
struct Block {
  void* begin = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  /// `length` of its elements, from one on.
  Block part(int first, int length) const;
};

void send(const Block& block, int target, MPI_Comm communicator);
MPI_Request start_send(const Block& block, int target, MPI_Comm communicator);
MPI_Request start_receive(const Block& block, int source, MPI_Comm communicator);
void wait(MPI_Request& request);
void wait_all(std::vector<MPI_Request>& requests);

/// What stands in a block, where it matters at all.
void copy(const Block& from, const Block& into);

int rank_in(MPI_Comm communicator);
int ranks_of(MPI_Comm communicator);
std::size_t bytes_of(int count, MPI_Datatype type);

/// Bytes from one element to the next.
std::size_t stride_of(MPI_Datatype type);

}  // namespace hamtune::collectives
