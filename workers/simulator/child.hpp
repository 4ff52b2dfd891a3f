// The process that simulates: its limits, and how it ends.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "workers/simulator/request.hpp"

namespace hamtune {

class Simulation;

constexpr std::size_t kStackKilobytes = 256;  // of each rank

/// Runs a request in the calling process, which was forked for it.
///
/// The memory limit is on the process's private data (RLIMIT_DATA): what it allocates beyond the
/// traces it was forked with and the stacks of the ranks. Shared scratch buffers do not count. The
/// kernel refuses the allocation that would cross the limit, so the outcome is repeatable.
[[noreturn]] void run_child(const Request& request, Simulation& simulation, int result_fd);

/// Writes the white space before the result which tells the parent that SimGrid has accepted all
/// options: it ends the process over some of those that it does not know.
void announce_start(int result_fd);

/// Writes the result and leaves the process at once, whatever SimGrid still has in hand.
[[noreturn]] void write_result_and_leave(int result_fd, nlohmann::json result);

}  // namespace hamtune
