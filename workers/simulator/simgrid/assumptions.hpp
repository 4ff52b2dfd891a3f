// What our engine takes for granted of SimGrid, held against the library that this process runs.
#pragma once

#include <string>
#include <vector>

namespace hamtune {

/// The version of our engine; empty where this program was built without it.
std::string engine_version();

/// What does not hold, a line each; our engine must not run then. SimGrid's engine must have been started,
/// and the process is of no use afterwards.
std::vector<std::string> broken_assumptions();

}  // namespace hamtune
