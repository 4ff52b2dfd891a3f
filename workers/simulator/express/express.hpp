// Our own engine in place of SimGrid's, for the releases and options whose definitions it knows.
#pragma once

#include <cstddef>
#include <functional>

#include "workers/simulator/platform.hpp"
#include "workers/simulator/request.hpp"
#include "workers/simulator/simgrid/compat.hpp"

namespace hamtune::express {

/// False if our engine is sure not to run this request.
bool may_suit(const Request& request);

/// Whether the options in force choose the models that ours are made after.
bool suits();

/// Has our engine run the ranks of a request from time zero on. Called before any runs, or when all have
/// left; the network and the request must outlive it. What SMPI does for itself may be computed rather
/// than simulated where the result `estimates` the time of a whole trace.
void use(const Platform& platform, Network& network, const Request& request,
         const ModelFactors& factors, bool estimates);

bool in_use();

/// Called first thing by each rank; nothing where our engine is not in use.
void enter(std::size_t host);

/// Called by a rank that has nothing left to do: it goes on when our engine is set to use again, and
/// must then enter again. Without our engine it returns.
void leave();

/// A communicator of the same ranks in which nothing has happened yet, made in the place of the last
/// one.
MPI_Comm as_new(MPI_Comm world);

/// A communicator of the same ranks without a topology, called by all of them, where messages go as packets;
/// elsewhere null. SMPI's own copies each have a list of all ranks in every rank.
MPI_Comm with_same_ranks(MPI_Comm communicator);

/// Has SMPI find out which ranks of a communicator share a host, where messages go as packets: as real
/// MPI libraries do when they start, and not before the first collective that asks. Called by all ranks.
void group_by_host(MPI_Comm communicator);

/// Saves what SMPI's collectives after MVAPICH2 have in variables before the first of them is called, and
/// puts it back. False if this library's variables are not those that we know.
bool save_mvapich_state();
void restore_mvapich_state();

/// The calling rank computes.
void execute(double flops);

/// How many calls of collectives were played as they were written down, in this evaluation.
std::size_t expanded_collectives();

/// Whether messages wait for ever for room in the network's buffers.
bool is_network_blocked();

/// Has the network know what has crossed its cables so far.
void tell_loads();

/// Runs the ranks until nothing can happen any more; `at_advance` is called whenever time has moved.
void run(const std::function<void()>& at_advance);

}  // namespace hamtune::express
