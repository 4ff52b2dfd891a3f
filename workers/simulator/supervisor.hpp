// Runs requests in child processes and turns whatever becomes of them into answers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "searchspace/kernels/trace.hpp"
#include "workers/simulator/request.hpp"
#include "workers/simulator/simulation.hpp"

namespace hamtune {

/// Evaluates one request in a fork of the calling process; never throws for what a request or a
/// simulation does wrong.
///
/// The answer holds id, status ("completed", "censored", "failed"), simulated_time, reason,
/// rank_finish_times, link_loads, cpu_seconds, wall_seconds, peak_rss_bytes.
nlohmann::json evaluate(const nlohmann::json& request, const std::vector<Trace>& traces,
                        Simulation& simulation);

/// The same of a request that was parsed already.
nlohmann::json evaluate(const Request& request, const nlohmann::json& id, Simulation& simulation);

/// An answer as a line. What SimGrid said may be cut within a letter, or hold bytes that are none.
std::string to_line(const nlohmann::json& answer);

/// Waits until there is something to read; leaves the process when the reader of our own answers is
/// gone.
void wait_to_read(int fd);

/// The answer to a request that cannot be run.
nlohmann::json invalid_answer(const nlohmann::json& id, const std::string& message);

}  // namespace hamtune
