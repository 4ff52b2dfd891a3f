// Our own engine in place of SimGrid's, for the releases and options whose definitions it knows.
#pragma once

#include <cstddef>
#include <functional>

#include "workers/simulator/platform.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune::express {

/// False if our engine is sure not to run this request.
bool may_suit(const Request& request);

/// Whether the options in force choose the models that ours are made after.
bool suits();

/// Has our engine run the ranks. Called before any runs; the network must outlive it. What SMPI does for
/// itself may be computed rather than simulated where the result `estimates` the time of a whole trace.
void use(const Platform& platform, Network& network, const ModelFactors& factors, bool estimates);

bool in_use();

/// Called first thing by each rank; nothing where our engine is not in use.
void enter(std::size_t host);

/// Called last thing by each rank: it does not run again. Without our engine it returns.
void leave();

/// The calling rank computes.
void execute(double flops);

/// Runs the ranks until nothing can happen any more; `at_advance` is called whenever time has moved.
void run(const std::function<void()>& at_advance);

}  // namespace hamtune::express
