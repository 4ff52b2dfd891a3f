// Runs requests in child processes and turns whatever becomes of them into answers.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "searchspace/kernels/trace.hpp"

namespace hamtune {

/// Evaluates one request; never throws for what a request or a simulation does wrong.
///
/// The answer holds id, status ("completed", "censored", "failed"), simulated_time, reason,
/// rank_finish_times, link_loads, cpu_seconds, wall_seconds, peak_rss_bytes.
nlohmann::json evaluate(const nlohmann::json& request, const std::vector<Trace>& traces);

/// The answer to a request that cannot be run.
nlohmann::json invalid_answer(const nlohmann::json& id, const std::string& message);

}  // namespace hamtune
