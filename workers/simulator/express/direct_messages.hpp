// Messages between ranks that cross the network as packets without becoming requests of SMPI first.
//
// SMPI keeps for each request what datatypes, Fortran and one-sided communication need. The messages of a
// trace need none of it, and of thousands of ranks it does not fit into the caches.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "workers/simulator/simgrid_compat.hpp"

namespace hamtune::express {

/// One end of a message that its rank waits for.
struct Pending;

enum class SendMode { standard, synchronous, buffered };

/// What goes from the calling rank to another one, or comes from it.
struct DirectMessage {
  MPI_Comm communicator;
  int peer = 0;  // there; of a receive also MPI_ANY_SOURCE
  int tag = 0;   // of a receive also MPI_ANY_TAG
  std::size_t bytes = 0;
};

/// Whether messages go as packets. Only then may the functions below be called.
bool sends_directly();

/// These give what has to be finished, if anything; else null.
Pending* start_send(const DirectMessage& message, SendMode mode, bool is_immediate);
Pending* start_receive(const DirectMessage& message);

/// Waits until all of these are done, and forgets them; `before_each` is called whenever it begins to wait for
/// another one. Returns false if a message was longer than its receive.
bool finish(const std::vector<Pending*>& all, const std::function<void()>& before_each = {});

}  // namespace hamtune::express
