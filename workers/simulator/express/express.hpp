// Our own engine in place of SimGrid's, for the releases and options whose definitions it knows.
#pragma once

#include <cstddef>
#include <functional>

#include "workers/simulator/platform.hpp"

namespace hamtune::express {

/// Has our engine run the ranks if it can. Called before any is started.
void use(const Platform& platform);

bool in_use();

/// Called first thing by each rank; nothing where our engine is not in use.
void enter(std::size_t host);

/// The calling rank computes.
void execute(double flops);

/// Runs the ranks until nothing can happen any more; `at_advance` is called whenever time has moved.
void run(const std::function<void()>& at_advance);

}  // namespace hamtune::express
