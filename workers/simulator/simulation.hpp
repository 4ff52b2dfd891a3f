// One evaluation: builds the machine, runs the applications, reports what happened.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workers/simulator/estimate.hpp"
#include "workers/simulator/payload.hpp"
#include "workers/simulator/platform.hpp"
#include "workers/simulator/rank.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune {

/// The state of SimGrid is global, so a process runs one simulation and ends with it.
class Simulation {
 public:
  /// The result is written to `result_fd` as JSON: `status`, `simulated_time`, `reason`,
  /// `rank_finish_times`, `link_loads` of the simulator's answer.
  Simulation(const Request& request, const std::vector<Trace>& traces, int result_fd);

  /// Runs to the end, the cutoff, a deadlock or an error, writes the result and leaves the process.
  [[noreturn]] void run();

 private:
  struct Member {
    Rank rank;
    std::optional<double> finished;  // simulated s
  };

  /// One of the applications; its estimate outlives its ranks.
  struct Running {
    std::vector<Member> members;  // by rank
    std::unique_ptr<Estimate> estimate;
    std::size_t left = 0;         // ranks that have not finished
    double last = 0;              // when the last of those that have did
  };

  void set_options();
  void build_platform();
  void start_applications();
  void start_rank(std::size_t application, std::size_t number);
  void live(std::size_t application, std::size_t number);
  MPI_Comm enter_world();
  double finish_time(const Running& application, double added) const;
  double objective(const std::vector<double>& finish_times) const;
  double least_objective() const;
  void stop_at_cutoff();
  void report_times(nlohmann::json& result) const;
  [[noreturn]] void stop_in_deadlock();
  [[noreturn]] void fail(const std::string& kind, const std::string& message);
  [[noreturn]] void leave(nlohmann::json result);

  const Request& request_;
  const std::vector<Trace>& traces_;
  int result_fd_;
  bool shared_world_;      // one application, so MPI_COMM_WORLD can be its world, as in smpirun
  bool node_aware_;        // an algorithm groups ranks by host
  ModelFactors factors_;
  Payload payload_;
  std::unique_ptr<simgrid::s4u::Engine> engine_;
  std::unique_ptr<Platform> platform_;
  std::vector<Running> applications_;
  std::size_t running_ = 0;
};

}  // namespace hamtune
