#include "workers/simulator/simulation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "workers/simulator/calls.hpp"
#include "workers/simulator/child.hpp"

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
    start_applications();
    s4u::Engine::on_time_advance_cb([this](double) { stop_at_cutoff(); });
    s4u::Engine::on_deadlock_cb([this] { stop_in_deadlock(); });
    announce_start(result_fd_);
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
    members_.emplace_back();
    const Trace& trace = traces_[application.trace];
    for (const RankTrace& rank : trace.ranks) members_.back().push_back({Rank(rank, payload_), {}});
    running_ += trace.ranks.size();
  }
  for (std::size_t application = 0; application < members_.size(); ++application) {
    SMPI_app_instance_register(instance_name(application).c_str(), nullptr,
                               static_cast<int>(members_[application].size()));
    for (std::size_t rank = 0; rank < members_[application].size(); ++rank)
      start_rank(application, rank);
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
  Member& member = members_[application][number];
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

/// SimGrid has just moved its clock to the next event: past the cutoff nothing before it remains.
void Simulation::stop_at_cutoff() {
  if (request_.cutoff && s4u::Engine::get_clock() > *request_.cutoff && running_ > 0)
    leave({{"status", "censored"}, {"simulated_time", *request_.cutoff}});
}

void Simulation::stop_in_deadlock() {
  for (std::size_t application = 0; application < members_.size(); ++application)
    for (std::size_t rank = 0; rank < members_[application].size(); ++rank)
      if (const Member& member = members_[application][rank]; !member.finished)
        fail("deadlock", std::to_string(running_) + " ranks wait for ever; rank " +
                             std::to_string(rank) + " in " + member.rank.whereabouts());
  fail("crash", "SimGrid reports a deadlock after the ranks have ended");
}

void Simulation::fail(const std::string& kind, const std::string& message) {
  leave({{"status", "failed"}, {"reason", {{"kind", kind}, {"message", message}}}});
}

void Simulation::leave(Json result) {
  result.emplace("reason", nullptr);
  Json applications = Json::array();
  double last = 0;
  for (const auto& members : members_) {
    Json times = Json::array();
    for (const Member& member : members) {
      times.push_back(member.finished ? Json(*member.finished) : Json());
      last = std::max(last, member.finished.value_or(0));
    }
    applications.push_back(std::move(times));
  }
  result["rank_finish_times"] = std::move(applications);
  result.emplace("simulated_time", result["status"] == "completed" ? Json(last) : Json());
  Json loads = Json::array();
  if (platform_)
    for (const auto& [up, down] : platform_->loads()) loads.push_back({up, down});
  result["link_loads"] = std::move(loads);
  write_result_and_leave(result_fd_, result);
}

}  // namespace hamtune
