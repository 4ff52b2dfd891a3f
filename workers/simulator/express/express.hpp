// Our own engine in place of SimGrid's, for the releases and options whose definitions it knows.
#pragma once

#include <cstddef>
#include <functional>

#include "workers/simulator/platform.hpp"
#include "workers/simulator/request.hpp"
#include "workers/simulator/simgrid_compat.hpp"

namespace hamtune::express {

/// False if our engine is sure not to run this request.
bool may_suit(const Request& request);

/// Whether the options in force choose the models that ours are made after.
bool suits();

/// Has our engine run the ranks from time zero on. Called before any runs, or when all have left; the
/// network must outlive it. What SMPI does for itself may be computed rather than simulated where the
/// result `estimates` the time of a whole trace.
void use(const Platform& platform, Network& network, const ModelFactors& factors, bool estimates);

bool in_use();

/// Called first thing by each rank; nothing where our engine is not in use.
void enter(std::size_t host);

/// Called by a rank that has nothing left to do: it goes on when our engine is set to use again, and
/// must then enter again. Without our engine it returns.
void leave();

/// A communicator of the same ranks in which nothing has happened yet, made in the place of the last
/// one.
MPI_Comm as_new(MPI_Comm world);

/// Keeps what SMPI's collectives have in variables before the first of them is called, and puts it
/// back. False if this library's variables are not those that we know.
bool keep_choices();
void restore_choices();

/// The calling rank computes.
void execute(double flops);

/// Runs the ranks until nothing can happen any more; `at_advance` is called whenever time has moved.
void run(const std::function<void()>& at_advance);

}  // namespace hamtune::express
