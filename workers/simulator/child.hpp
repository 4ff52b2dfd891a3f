// The process that simulates: its limits, and how it ends.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "workers/simulator/request.hpp"

namespace hamtune {

class Simulation;

constexpr std::size_t kStackKilobytes = 256;  // of each rank

/// What this process, and those forked off it, take from now on counts against the limit of a request,
/// but for the stacks of as many ranks. Where it is not called, that is so from the first request on.
void count_memory(const Request& request);

/// Runs a request in the calling process, which was forked for such. Returns where another one, with the same
/// `result_fd`, can be run in it, when the result and the end of its line are written; otherwise the process ends.
///
/// The memory limit is on the process's private data (RLIMIT_DATA): what it allocates beyond the
/// traces it was forked with and the stacks of the ranks. Shared scratch buffers do not count. The
/// kernel refuses the allocation that would cross the limit. A run whose `peak_rss_bytes` is above the
/// limit has failed as well (`write_result`): what is reported keeps the limit. What the process keeps of
/// earlier requests counts, so a run that comes near its limit may pass in one process and fail in another:
/// failures for want of memory are never cached.
void run_child(const Request& request, Simulation& simulation, int result_fd);

/// Writes the white space before the first result of the process which tells the parent that SimGrid has
/// accepted all options: it ends the process over some of those that it does not know.
void announce_start(int result_fd);

/// Writes the result with `peak_rss_bytes`, the memory that the process has taken but for pages of
/// scratch buffers and code. A process that `waits` for another request ends the line, but one that has taken
/// much leaves instead, and so does one that has taken more than its limit: that is its result.
void write_result(int result_fd, nlohmann::json result, bool waits);

}  // namespace hamtune
