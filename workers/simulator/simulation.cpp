#include "workers/simulator/simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "workers/simulator/calls.hpp"
#include "workers/simulator/child.hpp"
#include "workers/simulator/collectives/choice.hpp"
#include "workers/simulator/express/express.hpp"
#include "workers/simulator/progress.hpp"
#include "workers/simulator/simulation_options.hpp"

namespace hamtune {

namespace {

using Json = nlohmann::json;
namespace s4u = simgrid::s4u;

std::string instance_name(std::size_t application) { return "app" + std::to_string(application); }

/// The options are those that smpirun sets silently.
std::unique_ptr<s4u::Engine> make_engine() {
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
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  smpi_init_options();  // or options such as smpi/alltoall are unknown
  auto engine = std::make_unique<s4u::Engine>(&argc, argv.data());
  std::signal(SIGINT, SIG_DFL);  // SimGrid would tell of its actors first
  return engine;
}

bool are_alike(const PlatformRequest& platform) {
  return std::all_of(platform.host_speeds.begin(), platform.host_speeds.end(),
                     [&platform](double speed) { return speed == platform.host_speeds.front(); });
}

/// Whether no two ranks share a host. To SMPI one such placement on hosts that are alike is as good as
/// any other: only the network tells them apart, which is ours.
bool have_hosts_of_their_own(const Request& request) {
  std::vector<bool> used(request.platform.hosts, false);
  for (const ApplicationRequest& application : request.applications)
    for (const Node host : application.hosts) {
      if (used[host]) return false;
      used[host] = true;
    }
  return true;
}

std::vector<bool> used_hosts(const Request& request) {
  std::vector<bool> used(request.platform.hosts, false);
  for (const ApplicationRequest& application : request.applications)
    for (const Node host : application.hosts) used[host] = true;
  return used;
}

}  // namespace

Simulation::Simulation(const std::vector<Trace>& traces)
    : traces_(traces), engine_(make_engine()) {}

bool Simulation::share_readiness(const Request& one, const Request& other) {
  const bool alike = are_alike(one.platform) && have_hosts_of_their_own(one) &&
                     have_hosts_of_their_own(other);
  const auto same_place = [alike](const ApplicationRequest& a, const ApplicationRequest& b) {
    return a.trace == b.trace && a.start == b.start &&
           (alike ? a.hosts.size() == b.hosts.size() : a.hosts == b.hosts);
  };
  return one.platform.hosts == other.platform.hosts &&
         one.platform.cores == other.platform.cores &&
         one.platform.host_speeds == other.platform.host_speeds &&
         std::equal(one.applications.begin(), one.applications.end(), other.applications.begin(),
                    other.applications.end(), same_place) &&
         simgrid_options(one, false) == simgrid_options(other, false);
}

void Simulation::make_ready(const Request& request) {
  request_ = &request;
  shared_world_ = request.applications.size() == 1;
  set_options(simgrid_options(request, false));
  platform_ = std::make_unique<Platform>(*engine_, request.platform);
  start_applications();
}

/// A rank of several applications, or one that starts later, has more in its past than MPI_Init, and
/// so has one that waits for the others in the end.
bool Simulation::can_wait() const {
  return shared_world_ && request_->applications.front().start <= 0 &&
         simgrid::config::get_value<double>("smpi/init") <= 0 &&
         !simgrid::config::get_value<bool>("smpi/finalization-barrier");
}

void Simulation::initialize_ranks() {
  if (!can_wait() || !express::save_mvapich_state()) return;
  ranks_wait_ = true;
  for (const std::string_view name : kAlgorithmOptions)
    algorithms_.emplace_back(name,
                             simgrid::config::get_value<std::string>(std::string(name).c_str()));
  chosen_ = algorithms_;
  network_ = std::make_unique<Network>(request_->platform);
  express::use(*platform_, *network_, *request_, factors_of(*request_), is_estimate());
  express::run([] { throw std::runtime_error("MPI_Init takes simulated time"); });
}

/// Tells SimGrid what differs from the request before.
void Simulation::choose_algorithms() {
  auto wanted = algorithms_;
  for (const auto& [name, value] : simgrid_options(*request_, true))
    for (auto& [option, text] : wanted)
      if (option == name) text = value;
  for (std::size_t place = 0; place < wanted.size(); ++place) {
    if (wanted[place].second == chosen_[place].second) continue;
    set_options(collectives::for_smpi({wanted[place]}));
    collectives_set_ = false;
  }
  chosen_ = std::move(wanted);
}

/// Whatever the last request has left behind is undone.
void Simulation::begin_again() {
  choose_algorithms();
  express::restore_mvapich_state();
  applications_.clear();
  running_ = 0;
  describe_applications();
  world_ = express::as_new(first_world_);
}

void Simulation::run(const Request& request, int result_fd) {
  result_fd_ = result_fd;
  try {
    if (!is_ready()) make_ready(request);
    request_ = &request;
    begin_progress();
    if (ranks_wait_) begin_again();
    simulate();
    write_result(result_fd, *std::exchange(result_, std::nullopt), true);
    return;
  } catch (const InvalidRequest& error) {
    fail("invalid", error.what());
  } catch (const std::exception& error) {
    fail("crash", error.what());
  }
}

void Simulation::begin_progress() {
  std::uint64_t operations = 0;
  for (const ApplicationRequest& application : request_->applications)
    for (const RankTrace& rank : traces_[application.trace].ranks)
      operations += rank.operations.size();
  progress::begin(operations, request_->messages.value_or(progress::kNoLimit), [this] {
    fail("messages", "more than " + std::to_string(*request_->messages) +
                         " messages, collectives' own with them");
  });
}

void Simulation::simulate() {
  const auto algorithms = simgrid_options(*request_, true);
  if (!ranks_wait_) set_options(collectives::for_smpi(algorithms));
  if (!ranks_wait_ || !collectives_set_) set_collectives(algorithms);
  collectives_set_ = true;
  node_aware_ = is_node_aware(*request_);
  network_ = std::make_unique<Network>(request_->platform);
  if (express::may_suit(*request_) && express::suits()) {
    express::use(*platform_, *network_, *request_, factors_of(*request_), is_estimate());
    announce_start(result_fd_);
    express::run([this] { stop_at_cutoff(); });
    if (!result_) stop_in_deadlock();
    return;
  }
  if (request_->platform.packets)
    throw InvalidRequest("platform.packets: needs our own engine, which does not run under SimGrid " +
                         compat::version() + " with these options");
  platform_->add_network(*network_, used_hosts(*request_), factors_of(*request_));
  announce_start(result_fd_);
  s4u::Engine::on_time_advance_cb([this](double) { stop_at_cutoff(); });
  s4u::Engine::on_deadlock_cb([this] { stop_in_deadlock(); });
  engine_->run();
  fail("crash", "SimGrid ended before the ranks did");
}

void Simulation::describe_applications() {
  for (const ApplicationRequest& application : request_->applications) {
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
}

void Simulation::start_applications() {
  SMPI_init();
  leave_payload_in_place();
  describe_applications();
  for (std::size_t application = 0; application < applications_.size(); ++application) {
    const std::size_t ranks = applications_[application].members.size();
    SMPI_app_instance_register(instance_name(application).c_str(), nullptr,
                               static_cast<int>(ranks));
    for (std::size_t rank = 0; rank < ranks; ++rank) start_rank(application, rank);
  }
}

void Simulation::start_rank(std::size_t application, std::size_t number) {
  const ApplicationRequest& description = request_->applications[application];
  const auto actor = s4u::Actor::init(instance_name(application) + "-" + std::to_string(number),
                                      platform_->host(description.hosts[number]));
  actor->set_property("instance_id", instance_name(application));
  actor->set_property("rank", std::to_string(number));
  actor->start([this, application, number] { live(application, number); });
}

void Simulation::live(std::size_t application, std::size_t number) {
  express::enter(request_->applications[application].hosts[number]);
  try {
    s4u::this_actor::sleep_until(request_->applications[application].start);
    MPI_Init(nullptr, nullptr);
    Rank::prepare();
    if (ranks_wait_) first_world_ = compat::world_of_caller();
    while (ranks_wait_) {
      express::leave();
      express::enter(request_->applications[application].hosts[number]);
      play(application, number);
    }
    play(application, number);
  } catch (const std::exception& error) {
    fail("crash", "rank " + std::to_string(number) + ", " +
                      applications_[application].members[number].rank.whereabouts() + ": " +
                      error.what());
  }
  express::leave();
}

void Simulation::play(std::size_t application, std::size_t number) {
  Running& running = applications_[application];
  Member& member = running.members[number];
  member.rank.replay(enter_world());
  if (shared_world_ && !ranks_wait_) MPI_Finalize();
  end(running, member, s4u::Engine::get_clock());
  if (running_ > 0) return;
  if (!ranks_wait_) leave(completed());
  result_ = whole(completed());
}

void Simulation::end(Running& running, Member& member, double time) {
  member.finished = time;
  running.last = std::max(running.last, time);
  --running.left;
  --running_;
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
  if (ranks_wait_) {
    MPI_COMM_WORLD = world_;
    if (node_aware_) express::group_by_host(world_);
    return world_;
  }
  const MPI_Comm world = compat::world_of_caller();
  // Beside packets ranks are played where SMPI does not see which one calls.
  if (!shared_world_ && !node_aware_) return request_->platform.packets ? world : MPI_COMM_WORLD;
  static const MPI_Comm first = MPI_COMM_WORLD = world;
  if (shared_world_) {
    if (node_aware_) express::group_by_host(first);
    return first;
  }
  MPI_Comm duplicate = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(world, &duplicate));
  express::group_by_host(duplicate);
  return duplicate;
}

/// When an application finishes, or what is certain of that while it runs.
double Simulation::finish_time(const Running& application, double added) const {
  return (application.left == 0 ? application.last : s4u::Engine::get_clock()) + added;
}

double Simulation::objective(const std::vector<double>& finish_times) const {
  if (request_->objective == Objective::last)
    return *std::max_element(finish_times.begin(), finish_times.end());
  double sum = 0;
  double weights = 0;
  for (std::size_t index = 0; index < finish_times.size(); ++index) {
    sum += request_->applications[index].weight * finish_times[index];
    weights += request_->applications[index].weight;
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
  progress::move_to(s4u::Engine::get_clock());
  if (request_->cutoff && running_ > 0 && least_objective() > *request_->cutoff)
    leave({{"status", "censored"}, {"simulated_time", *request_->cutoff}});
}

/// Ranks that have only freed requests left are at their end. Any other waits for ever.
void Simulation::stop_in_deadlock() {
  for (Running& running : applications_)
    for (Member& member : running.members) {
      const std::optional<double> since = member.rank.only_freed_since();
      if (!member.finished && since) end(running, member, *since);
    }
  if (running_ == 0) leave(completed());
  if (express::is_network_blocked())
    fail("deadlock", "the network is blocked: cables wait for each other's buffers in a circle, which "
                     "larger ones or other routes would avoid");
  for (const Running& application : applications_)
    for (std::size_t rank = 0; rank < application.members.size(); ++rank)
      if (const Member& member = application.members[rank]; !member.finished)
        fail("deadlock", std::to_string(running_) + " ranks wait for ever; rank " +
                             std::to_string(rank) + " in " + member.rank.whereabouts());
  fail("crash", "SimGrid reports a deadlock after the ranks have ended");
}

/// The result when the last rank has finished. What was certain on the way may have been less than the
/// estimate.
Json Simulation::completed() const {
  Json result = {{"status", "completed"}};
  report_times(result);
  if (request_->cutoff && result["simulated_time"].get<double>() > *request_->cutoff)
    result = {{"status", "censored"}, {"simulated_time", *request_->cutoff}};
  return result;
}

void Simulation::fail(const std::string& kind, const std::string& message) {
  leave({{"status", "failed"}, {"reason", {{"kind", kind}, {"message", message}}}});
}

/// Whether a trace is truncated.
bool Simulation::is_estimate() const {
  return std::any_of(request_->applications.begin(), request_->applications.end(),
                     [this](const ApplicationRequest& application) {
                       return !traces_[application.trace].weights.empty();
                     });
}

/// The objective, the finish time of each application, and where traces are truncated how far other
/// estimates, and what the rank that adds least has seen, lie from the one used.
void Simulation::report_times(Json& result) const {
  std::size_t estimates = 1;
  std::vector<std::vector<double>> added;
  for (const Running& application : applications_) {
    added.push_back(application.estimate->all());
    estimates = std::max(estimates, added.back().size());
  }
  std::vector<double> objectives;
  std::vector<double> played;
  std::vector<double> least;
  for (std::size_t estimate = 0; estimate < estimates; ++estimate) {
    std::vector<double> times;
    for (std::size_t index = 0; index < applications_.size(); ++index) {
      const Running& application = applications_[index];
      times.push_back(application.last + (estimate < added[index].size() ? added[index][estimate] : 0));
      if (estimate > 0) continue;
      played.push_back(application.last);
      least.push_back(application.last + application.estimate->least());
    }
    if (estimate == 0) result["application_times"] = times;
    objectives.push_back(objective(times));
  }
  const double time = objectives.front();
  result["simulated_time"] = time;
  double error = 0;
  objectives.push_back(objective(least));
  for (const double other : objectives)
    if (time > 0) error = std::max(error, std::abs(other - time) / time);
  if (is_estimate()) result["estimate"] = {{"played", objective(played)}, {"error", error}};
}

/// With what every result has.
Json Simulation::whole(Json result) const {
  result.emplace("reason", nullptr);
  Json rank_times = Json::array();
  for (const Running& application : applications_) {
    Json times = Json::array();
    for (const Member& member : application.members)
      times.push_back(member.finished ? Json(*member.finished) : Json());
    rank_times.push_back(std::move(times));
  }
  result["rank_finish_times"] = std::move(rank_times);
  result.emplace("application_times", Json::array());
  result.emplace("estimate", nullptr);
  result.emplace("simulated_time", nullptr);
  result["messages"] = progress::page->messages.load();
  Json loads = Json::array();
  express::tell_loads();
  if (network_)
    for (const auto& [up, down] : network_->loads()) loads.push_back({up, down});
  result["link_loads"] = std::move(loads);
  if (request_->platform.packets) result["expanded_collectives"] = express::expanded_collectives();
  return result;
}

void Simulation::leave(Json result) {
  write_result(result_fd_, whole(std::move(result)), false);
  _exit(0);  // whatever SimGrid still has in hand
}

}  // namespace hamtune
