// The mapper `auto`: starts, refinement, and annealing while time lasts. Plain C++17.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/mapper/flows.hpp"

namespace hamtune::mapper {

struct Limits {
  double seconds = 0;       ///< CPU seconds of each thread, starts included; 0: fast
  std::uint64_t steps = 0;  ///< annealing steps instead, when positive: the same result everywhere
  std::size_t threads = 1;  ///< that anneal; each makes `steps`
};

struct Progress {
  double seconds;     ///< CPU seconds so far
  std::int64_t cost;  ///< of the best mapping so far, bytes x hops (rounded as `Flows` does)
};

struct Found {
  std::vector<Slot> slots;  ///< of each rank
  std::string start;        ///< what the mapping grew out of
  std::uint64_t steps;      ///< annealing steps made
  double seconds;           ///< CPU seconds
};

/// Is told of progress, by the calling thread; ends the search when it says false. May be empty.
using Proceed = std::function<bool(const Progress&)>;

/// Maps ranks on cores, hop-bytes low.
///
/// Starts: the given one; where the traffic is a lattice (a stencil, a ring), one made from its
/// structure; dual recursive bisection. The best one is refined by improving swaps, and annealed as
/// long as there is time, by several threads (see Plan and BestExchange). Without seconds or steps, or with steps, the result is a function of the
/// arguments. The result is never worse than `start`.
Found map_auto(const Flows& flows, const CoreHops& cores, const Limits& limits, std::uint64_t seed,
               const Proceed& proceed, std::vector<Slot> start);

}  // namespace hamtune::mapper
