// Broadcasts down trees and reductions up them, in segments or whole.
#pragma once

#include <cstddef>

#include "workers/simulator/collectives/messages.hpp"
#include "workers/simulator/collectives/trees.hpp"

namespace hamtune::collectives {

/// Bytes of a segment; 0 where the message goes whole.
using SegmentBytes = std::size_t;

/// Every rank passes a segment on to all its children at once, while it receives the next one.
int broadcast(const Block& block, int root, MPI_Comm communicator, Tree& tree, SegmentBytes segment);

/// Every rank takes in a segment of its children, one child after the other, while the next one's arrives, and
/// sends the result to its parent.
int reduce(const void* from, const Block& into, MPI_Op op, int root, MPI_Comm communicator, Tree& tree,
           SegmentBytes segment);

}  // namespace hamtune::collectives
