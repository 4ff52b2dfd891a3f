// One evaluation: builds the machine, runs the applications, reports what happened.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workers/simulator/estimate.hpp"
#include "workers/simulator/payload.hpp"
#include "workers/simulator/platform.hpp"
#include "workers/simulator/rank.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune {

/// The state of SimGrid is global, so a process runs one simulation at a time. What several have in
/// common can be done before the processes are forked that run them, and where ranks wait behind
/// MPI_Init, a simulation that comes to its end leaves them there for the next one.
class Simulation {
 public:
  /// Starts SimGrid's engine, without a machine.
  explicit Simulation(const std::vector<Trace>& traces);

  /// Has the ranks of a request stand ready to run. Throws InvalidRequest, or SimGrid ends the
  /// process.
  void make_ready(const Request& request);

  const std::vector<Trace>& traces() const { return traces_; }

  bool is_ready() const { return platform_ != nullptr; }

  /// Has the ranks that stand ready run until MPI_Init is behind them, if they can wait there. Throws
  /// std::runtime_error if that takes simulated time.
  void initialize_ranks();

  /// Whether a simulation that was made ready for one request can run the other: they may differ in
  /// the algorithms of collectives, the network and the limits.
  static bool share_readiness(const Request& one, const Request& other);

  /// Runs to the end, the cutoff, a deadlock or an error, and writes the result. Returns where all ranks
  /// came to their end and wait for another request; otherwise it leaves the process. The request must
  /// outlive the next run. The result is written to `result_fd` as JSON: `status`, `simulated_time`,
  /// `reason`, `rank_finish_times`, `link_loads` of the simulator's answer.
  void run(const Request& request, int result_fd);

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

  bool can_wait() const;
  void start_applications();
  void describe_applications();
  void choose_algorithms();
  void begin_again();
  void begin_progress();
  void simulate();
  void start_rank(std::size_t application, std::size_t number);
  void live(std::size_t application, std::size_t number);
  void play(std::size_t application, std::size_t number);
  void end(Running& running, Member& member, double time);
  MPI_Comm enter_world();
  double finish_time(const Running& application, double added) const;
  bool is_estimate() const;
  double objective(const std::vector<double>& finish_times) const;
  double least_objective() const;
  void stop_at_cutoff();
  void report_times(nlohmann::json& result) const;
  [[noreturn]] void stop_in_deadlock();
  nlohmann::json completed() const;
  [[noreturn]] void fail(const std::string& kind, const std::string& message);
  [[noreturn]] void leave(nlohmann::json result);
  nlohmann::json whole(nlohmann::json result) const;

  const std::vector<Trace>& traces_;
  const Request* request_ = nullptr;
  int result_fd_ = -1;
  bool shared_world_ = false;  // one application, so MPI_COMM_WORLD can be its world, as in smpirun
  bool node_aware_ = false;    // an algorithm groups ranks by host
  Payload payload_;
  std::unique_ptr<simgrid::s4u::Engine> engine_;
  std::unique_ptr<Platform> platform_;
  std::unique_ptr<Network> network_;
  std::vector<Running> applications_;
  std::size_t running_ = 0;

  // Where ranks wait behind MPI_Init for the next request.
  bool ranks_wait_ = false;
  MPI_Comm first_world_ = MPI_COMM_NULL;
  MPI_Comm world_ = MPI_COMM_NULL;  // of the request that is run
  std::vector<std::pair<std::string, std::string>> algorithms_;  // options as they were
  std::vector<std::pair<std::string, std::string>> chosen_;      // the same, as they are
  bool collectives_set_ = false;                                 // to those
  std::optional<nlohmann::json> result_;
};

}  // namespace hamtune
