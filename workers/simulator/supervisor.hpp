// Runs requests in child processes and turns whatever becomes of them into answers.
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"
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

class Child;

/// Evaluates requests that share readiness, one after the other in the same child while it comes to an
/// end of each: what it has touched need not be copied nor fetched again. After anything else than an
/// end (a cutoff, a failure, too much time) the next one has a fresh fork.
class ReusableWorker {
 public:
  explicit ReusableWorker(Simulation& simulation);
  ~ReusableWorker();

  /// Gives a child that waits the request as it came: it can begin while the caller looks into it.
  void begin(const std::string& line);

  /// Where the request that was begun turns out to be none for it.
  void give_up();

  /// The answer to the request that was begun, as a line; `cpu_seconds_before` are added to those that it
  /// took. Empty where there is too little memory: what the children have in hand already counts, so a
  /// process that has nothing must tell.
  std::string finish(const Request& request, const nlohmann::json& id, double cpu_seconds_before);

 private:
  Simulation& simulation_;
  std::unique_ptr<Child> child_;
};

/// What a process has taken so far; 0 if it is not there.
double cpu_seconds_of(pid_t process);

/// An answer as a line. What SimGrid said may be cut within a letter, or hold bytes that are none.
std::string to_line(const nlohmann::json& answer);

/// Waits until there is something to read; leaves the process when the reader of our own answers is
/// gone.
void wait_to_read(int fd);

/// Sends a line; false if there is nobody to read it.
bool send_line(int socket, std::string line);

/// Nothing if the other end is closed. There is one line under way at a time.
std::optional<std::string> receive_line(int socket);

/// The answer to a request that cannot be run.
nlohmann::json invalid_answer(const nlohmann::json& id, const std::string& message);

}  // namespace hamtune
