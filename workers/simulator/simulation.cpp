#include "workers/simulator/simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "workers/simulator/calls.hpp"
#include "workers/simulator/child.hpp"
#include "workers/simulator/express/express.hpp"

namespace hamtune {

namespace {

using Json = nlohmann::json;
namespace s4u = simgrid::s4u;

/// What the names of algorithms have in common that group ranks by host, and of the selectors that
/// may choose such an algorithm.
constexpr std::array<std::string_view, 6> kNodeAware = {"smp",  "SMP",   "mvapich2",
                                                        "impi", "mpich", "loosely_lr"};

bool is_node_aware(const Request& request) {
  for (const auto& [key, value] : request.options)
    for (const std::string_view mark : kNodeAware)
      if (value.find(mark) != std::string::npos) return true;
  return false;
}

/// SimGrid lists all its options below a complaint about one.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string instance_name(std::size_t application) { return "app" + std::to_string(application); }

}  // namespace

Simulation::Simulation(const Request& request, const std::vector<Trace>& traces, int result_fd)
    : request_(request),
      traces_(traces),
      result_fd_(result_fd),
      shared_world_(request.applications.size() == 1),
      node_aware_(is_node_aware(request)) {}

void Simulation::run() {
  try {
    set_options();
    build_platform();
    if (!request_.plain_simgrid) express::use(*platform_);
    start_applications();
    announce_start(result_fd_);
    if (express::in_use()) {
      express::run([this] { stop_at_cutoff(); });
      stop_in_deadlock();
    }
    s4u::Engine::on_time_advance_cb([this](double) { stop_at_cutoff(); });
    s4u::Engine::on_deadlock_cb([this] { stop_in_deadlock(); });
    engine_->run();
  } catch (const InvalidRequest& error) {
    fail("invalid", error.what());
  } catch (const std::exception& error) {
    fail("crash", error.what());
  }
  fail("crash", "SimGrid ended before the ranks did");
}

/// The options are those that smpirun sets silently, then the request's.
void Simulation::set_options() {
  static std::array<std::string, 9> arguments = {
      "hamtune-simulator",
      "--cfg=" + std::string(compat::kTimingPrecision) + ":1e-9",
      "--cfg=network/model:SMPI",
      "--cfg=smpi/simulate-computation:no",
      "--cfg=smpi/errors-are-fatal:no",  // each call is checked instead, for a better message
      "--cfg=contexts/stack-size:" + std::to_string(kStackKilobytes),
      "--log=root.threshold:error",
      "--log=root.fmt:%m%n",
      "--log=no_loc",
  };
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  smpi_init_options();  // or options such as smpi/alltoall are unknown
  engine_ = std::make_unique<s4u::Engine>(&argc, argv.data());
  for (const auto& [key, value] : request_.options) {
    if (key == "smpi/lat-factor" || key == "network/latency-factor")
      factors_.latency = value;
    else if (key == "smpi/bw-factor" || key == "network/bandwidth-factor")
      factors_.bandwidth = value;
    else
      try {
        simgrid::config::set_as_string(key.c_str(), value);
      } catch (const std::exception& error) {
        throw InvalidRequest("options: " + key + ": " + first_line(error.what()));
      }
  }
}

void Simulation::build_platform() {
  std::vector<bool> used(request_.platform.hosts, false);
  for (const ApplicationRequest& application : request_.applications)
    for (const Node host : application.hosts) used[host] = true;
  platform_ = std::make_unique<Platform>(*engine_, request_.platform, used, factors_);
}

void Simulation::start_applications() {
  SMPI_init();
  leave_payload_in_place();
  for (const ApplicationRequest& application : request_.applications) {
    const Trace& trace = traces_[application.trace];
    Running& running = applications_.emplace_back();
    running.estimate = std::make_unique<Estimate>(trace);
    running.left = trace.ranks.size();
    running_ += trace.ranks.size();
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
      std::function<void()> at_mark;
      if (!trace.weights.empty())
        at_mark = [estimate = running.estimate.get(), rank] {
          estimate->pass(rank, s4u::Engine::get_clock());
        };
      running.members.push_back({Rank(trace.ranks[rank], payload_, std::move(at_mark)), {}});
    }
  }
  for (std::size_t application = 0; application < applications_.size(); ++application) {
    const std::size_t ranks = applications_[application].members.size();
    SMPI_app_instance_register(instance_name(application).c_str(), nullptr,
                               static_cast<int>(ranks));
    for (std::size_t rank = 0; rank < ranks; ++rank) start_rank(application, rank);
  }
}

void Simulation::start_rank(std::size_t application, std::size_t number) {
  const ApplicationRequest& description = request_.applications[application];
  const auto actor = s4u::Actor::init(instance_name(application) + "-" + std::to_string(number),
                                      platform_->host(description.hosts[number]));
  actor->set_property("instance_id", instance_name(application));
  actor->set_property("rank", std::to_string(number));
  actor->start([this, application, number] { live(application, number); });
}

void Simulation::live(std::size_t application, std::size_t number) {
  express::enter(request_.applications[application].hosts[number]);
  Running& running = applications_[application];
  Member& member = running.members[number];
  try {
    s4u::this_actor::sleep_until(request_.applications[application].start);
    MPI_Init(nullptr, nullptr);
    member.rank.replay(enter_world());
    if (shared_world_) MPI_Finalize();
  } catch (const std::exception& error) {
    fail("crash", "rank " + std::to_string(number) + ", " + member.rank.whereabouts() + ": " +
                      error.what());
  }
  member.finished = s4u::Engine::get_clock();
  running.last = std::max(running.last, *member.finished);
  --running.left;
  if (--running_ == 0) leave({{"status", "completed"}});
}

/// Returns the communicator that stands for MPI_COMM_WORLD in the calling rank.
///
/// SMPI's variable MPI_COMM_WORLD first means "the world of the calling rank". SMPI's grouping of
/// ranks by host (mvapich2, impi, smp_*) breaks on that meaning, in 3.32 and 4.1 alike, unless the
/// variable is set to the one world there is, as smpirun does. Where several applications run
/// there is no such world: their ranks then work on duplicates, which SMPI groups rightly. Making
/// one costs a broadcast of 4 bytes when the application starts. Worlds must then outlive all
/// ranks, so ranks of several applications do not finalize.
MPI_Comm Simulation::enter_world() {
  if (!shared_world_ && !node_aware_) return MPI_COMM_WORLD;
  const MPI_Comm world = compat::world_of_caller();
  static const MPI_Comm first = MPI_COMM_WORLD = world;
  if (shared_world_) return first;
  MPI_Comm duplicate = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(world, &duplicate));
  return duplicate;
}

/// When an application finishes, or what is certain of that while it runs.
double Simulation::finish_time(const Running& application, double added) const {
  return (application.left == 0 ? application.last : s4u::Engine::get_clock()) + added;
}

double Simulation::objective(const std::vector<double>& finish_times) const {
  if (request_.objective == Objective::last)
    return *std::max_element(finish_times.begin(), finish_times.end());
  double sum = 0;
  double weights = 0;
  for (std::size_t index = 0; index < finish_times.size(); ++index) {
    sum += request_.applications[index].weight * finish_times[index];
    weights += request_.applications[index].weight;
  }
  return sum / weights;
}

/// The objective if all applications finished now.
double Simulation::least_objective() const {
  const double now = s4u::Engine::get_clock();
  if (applications_.size() == 1) return now + applications_.front().estimate->added(now);
  std::vector<double> times;
  for (const Running& application : applications_)
    times.push_back(finish_time(application, application.estimate->added(now)));
  return objective(times);
}

/// SimGrid has just moved its clock to the next event: past the cutoff nothing before it remains.
void Simulation::stop_at_cutoff() {
  if (request_.cutoff && running_ > 0 && least_objective() > *request_.cutoff)
    leave({{"status", "censored"}, {"simulated_time", *request_.cutoff}});
}

void Simulation::stop_in_deadlock() {
  for (const Running& application : applications_)
    for (std::size_t rank = 0; rank < application.members.size(); ++rank)
      if (const Member& member = application.members[rank]; !member.finished)
        fail("deadlock", std::to_string(running_) + " ranks wait for ever; rank " +
                             std::to_string(rank) + " in " + member.rank.whereabouts());
  fail("crash", "SimGrid reports a deadlock after the ranks have ended");
}

void Simulation::fail(const std::string& kind, const std::string& message) {
  leave({{"status", "failed"}, {"reason", {{"kind", kind}, {"message", message}}}});
}

/// The objective, the finish time of each application, and where traces are truncated how far other
/// estimates lie from the one used.
void Simulation::report_times(Json& result) const {
  std::size_t estimates = 1;
  for (const Running& application : applications_)
    estimates = std::max(estimates, application.estimate->all().size());
  std::vector<double> objectives;
  std::vector<double> played;
  for (std::size_t estimate = 0; estimate < estimates; ++estimate) {
    std::vector<double> times;
    for (const Running& application : applications_) {
      const std::vector<double>& added = application.estimate->all();
      times.push_back(application.last + (estimate < added.size() ? added[estimate] : 0));
      if (estimate == 0) played.push_back(application.last);
    }
    if (estimate == 0) result["application_times"] = times;
    objectives.push_back(objective(times));
  }
  const double time = objectives.front();
  result["simulated_time"] = time;
  double error = 0;
  for (const double other : objectives)
    if (time > 0) error = std::max(error, std::abs(other - time) / time);
  const bool truncated = std::any_of(
      applications_.begin(), applications_.end(),
      [](const Running& application) { return !application.estimate->all().empty(); });
  if (truncated) result["estimate"] = {{"played", objective(played)}, {"error", error}};
}

void Simulation::leave(Json result) {
  result.emplace("reason", nullptr);
  Json rank_times = Json::array();
  for (const Running& application : applications_) {
    Json times = Json::array();
    for (const Member& member : application.members)
      times.push_back(member.finished ? Json(*member.finished) : Json());
    rank_times.push_back(std::move(times));
  }
  result["rank_finish_times"] = std::move(rank_times);
  result["estimate"] = nullptr;
  if (result["status"] == "completed") report_times(result);
  result.emplace("simulated_time", nullptr);
  Json loads = Json::array();
  if (platform_)
    for (const auto& [up, down] : platform_->loads()) loads.push_back({up, down});
  result["link_loads"] = std::move(loads);
  write_result_and_leave(result_fd_, result);
}

}  // namespace hamtune
