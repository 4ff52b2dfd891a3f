#include "workers/simulator/express/kernel.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "workers/simulator/express/collective_expansion.hpp"
#include "workers/simulator/express/messages.hpp"
#include "workers/simulator/express/packet_messages.hpp"

namespace hamtune::express {

namespace {

namespace s4u = simgrid::s4u;

constexpr std::size_t kFirstRoutes = 16'384;  // bytes, of which there may be more
constexpr int kSettings = 3;                  // of an execution before it starts

std::unique_ptr<Kernel> in_use;

/// Executions wake the rank that waits for them.
struct Execution : Activity {
  Execution(Kernel& kernel, Model& hosts, Actor& actor)
      : kernel_(kernel), hosts_(hosts), actor_(actor) {}

  /// So many flops, at most at a rate of a core of the host and at this one where it is positive.
  void start(double flops, double most) {
    const Machine::Host& host = kernel_.machine().host(actor_.host);
    started = true;
    remains = flops;
    last_update = Kernel::now();
    const double bound = most > 0 && most < host.speed ? most : host.speed;
    hosts_.system.start(variable, this, 1.0, bound, 1);
    hosts_.system.expand(variable, *host.cpu, 1.0);
    kernel_.wake(actor_);
  }

  void at_end() override {
    hosts_.end(*this);
    kernel_.end_idle(actor_.host);
    kernel_.wake(actor_);
  }

 private:
  Kernel& kernel_;
  Model& hosts_;
  Actor& actor_;
};

/// One of a player, which does not wait for it on a stack.
struct PlayedExecution final : Execution {
  PlayedExecution(Kernel& kernel, Model& hosts, Actor& actor, double all)
      : Execution(kernel, hosts, actor), flops(all) {}

  double flops;
};

}  // namespace

Kernel* kernel() { return in_use.get(); }

void use_kernel(std::unique_ptr<Kernel> kernel) { in_use = std::move(kernel); }

Machine::Machine(const std::vector<s4u::Host*>& hosts, Network& network, Factor latency,
                 Factor bandwidth)
    : latency_factor(std::move(latency)),
      bandwidth_factor(std::move(bandwidth)),
      kept_(std::make_unique<std::pmr::monotonic_buffer_resource>(kFirstRoutes)),
      network_(network),
      links_(network.links().size()),
      weight_(simgrid::config::get_value<double>("network/weight-S")),
      window_(simgrid::config::get_value<double>("network/TCP-gamma")),
      crosstraffic_(simgrid::config::get_value<bool>("network/crosstraffic")) {
  for (s4u::Host* const each : hosts) {
    Host& host = hosts_.emplace_back();
    host.library = each;
    host.speed = each->get_speed();
    host.cores = static_cast<std::size_t>(each->get_core_count());
    host.cpu = std::make_unique<Constraint>();
    host.cpu->bound = each->get_core_count() * host.speed;
  }
  for (std::size_t index = 0; index < links_.size(); ++index) {
    links_[index].bound = network.links()[index].bandwidth;
    links_[index].shared = network.links()[index].shared;
  }
}

void Machine::find_route(std::size_t source, std::size_t target) {
  hosts_[source].routes.resize(hosts_.size());
  auto& route = *::new (kept_->allocate(sizeof(Route), alignof(Route))) Route;
  double bandwidth = -1;
  const auto from = static_cast<Node>(source);
  const auto to = static_cast<Node>(target);
  const std::vector<std::uint32_t>& way = network_.route(from, to);
  route.links = make_row<Constraint*>(way.size());
  route.loads = make_row<double*>(way.size());
  for (const std::uint32_t number : way) {
    const Network::Link& link = network_.links()[number];
    route.links.first[route.links.count++] = &links_[number];
    if (link.load != nullptr) route.loads.first[route.loads.count++] = link.load;
    route.latency += link.latency;
    if (bandwidth < 0 || link.bandwidth < bandwidth) bandwidth = link.bandwidth;
  }
  route.penalty = route.latency;
  if (weight_ > 0)
    for (const Constraint* const link : route.links) route.penalty += weight_ / link->bound;
  route.bound = route.latency > 0 ? std::min(bandwidth, window_ / (2.0 * route.latency))
                                  : bandwidth;
  if (crosstraffic_) {
    const std::vector<std::uint32_t>& way_back = network_.route(to, from);
    route.back = make_row<Constraint*>(way_back.size());
    for (const std::uint32_t number : way_back)
      route.back.first[route.back.count++] = &links_[number];
  }
  hosts_[source].routes[target] = &route;
}

Kernel::Kernel(Machine machine, const NetworkModel& model, bool estimates, const Kernel* before)
    : detached_below_(simgrid::config::get_value<int>("smpi/send-is-detached-thresh")),
      estimates_(estimates),
      machine_(std::move(machine)) {
  if (model.packets == nullptr) {
    auto messages = std::make_unique<Messages>(*this, before == nullptr ? nullptr : before->fluid_);
    fluid_ = messages.get();
    messaging_ = std::move(messages);
  } else {
    auto messages = std::make_unique<PacketMessages>(*this, *model.network, *model.packets);
    packets_ = messages.get();
    messaging_ = std::move(messages);
  }
  if (before == nullptr) return;
  for (const std::unique_ptr<Actor>& left : before->actors_) {
    Actor& actor = add_actor(left->number);
    actor.library = left->library;
    actor.context = left->context;
  }
}

Kernel::~Kernel() = default;

Actor& Kernel::add_actor(aid_t number) {
  Actor& actor = *actors_.emplace_back(std::make_unique<Actor>());
  actor.number = number;
  const auto place = static_cast<std::size_t>(number);
  if (by_number_.size() <= place) by_number_.resize(place + 1, nullptr);
  by_number_[place] = &actor;
  return actor;
}

void Kernel::enter(std::size_t host) {
  const aid_t number = s4u::this_actor::get_pid();
  const auto place = static_cast<std::size_t>(number);
  const bool is_known = place < by_number_.size() && by_number_[place] != nullptr;
  Actor& actor = is_known ? *by_number_[place] : add_actor(number);
  actor.library = simgrid::kernel::actor::ActorImpl::self();
  actor.context = simgrid::kernel::context::Context::self();
  actor.host = host;
  running_ = &actor;
  ran_.push_back(&actor);
  // Who sends packets does so at once, and must know where the others are.
  if (packets_ != nullptr) call(0, [this, &actor] { wake(actor); });
}

Actor& Kernel::receiver(aid_t number, int tag) {
  Actor* const found = number >= 0 && static_cast<std::size_t>(number) < by_number_.size()
                           ? by_number_[static_cast<std::size_t>(number)]
                           : nullptr;
  if (found == nullptr || (found->ended && tag < 0))
    throw std::runtime_error("actor " + std::to_string(number) +
                             ", to which a message is sent, is gone");
  return *found;
}

void Kernel::run(const std::function<void()>& at_advance) {
  // Until each has made its first call.
  if (actors_.empty())
    simgrid::kernel::EngineImpl::instance_->run_all_actors();
  else
    for (const std::unique_ptr<Actor>& actor : actors_) actor->context->resume();
  serve();
  for (;;) {
    while (!to_run_.empty()) {
      ran_.swap(to_run_);
      to_run_.clear();
      for (Actor* const actor : ran_) {
        if (actor->calling) continue;
        running_ = actor;
        run(*actor);
      }
      serve();
    }
    if (!advance()) return;
    at_advance();
    hosts_.handle_ended();
    network_.handle_ended();
  }
}

void Kernel::run(Actor& actor) {
  for (;;) {
    if (actor.player != nullptr) {
      if (actor.player->go_on()) return;
      actor.player = nullptr;
    }
    actor.context->resume();
    if (actor.player == nullptr) return;
  }
}

void Kernel::serve() {
  for (Actor* const actor : ran_) {
    if (!actor->calling) {  // it came back without a call
      actor->ended = true;
      continue;
    }
    if (actor->calls_before > 0) {
      --actor->calls_before;
      to_run_.push_back(actor);
      continue;
    }
    actor->calling = false;
    if (actor->code != nullptr)
      actor->code(actor->arguments);
    else
      actor->library->simcall_handle(0);
  }
}

/// Moves on to the next event; false if there is none.
bool Kernel::advance() {
  if (packets_ != nullptr) return advance_packets();
  double& now = simgrid::kernel::EngineImpl::now_;
  double step = -1;
  for (Model* const model : {&hosts_, &network_}) {
    const double next = model->next_event(now);
    if ((step < 0 || next < step) && next >= 0) step = next;
  }
  if (step < 0) return false;
  now += step;
  hosts_.advance_to(now);
  network_.advance_to(now);
  return true;
}

/// Moves on to the next event after which a rank goes on. What packets do comes before what hosts do in
/// the same instant.
bool Kernel::advance_packets() {
  double& now = simgrid::kernel::EngineImpl::now_;
  double until = timers_.empty() ? PacketNetwork::kNever : timers_.front().date;
  const double step = std::max(hosts_.next_event(now), 0.0);  // a packet's event may have come an ulp later
  if (hosts_.has_event()) until = std::min(until, now + step);
  packets_->advance(until, now);
  if (is_woken()) return true;
  if (until == PacketNetwork::kNever) return false;
  now = until;
  hosts_.advance_to(now);
  while (!timers_.empty() && timers_.front().date <= now) {
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
    wake(*timers_.back().actor);
    timers_.pop_back();
  }
  return true;
}

bool Kernel::has_core_of_its_own(const Actor& actor) {
  const Machine::Host& host = machine_.host(actor.host);
  return host.ranks <= host.cores;
}

void Kernel::set_timer(double date) {
  timers_.push_back({date, next_timer_++, running_});
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

void Kernel::note_library_call() {
  if (running_ == nullptr || simgrid::kernel::context::Context::self() != running_->context) return;
  if (running_->recording != nullptr) running_->recording->give_up();
  running_->calling = true;
  running_->calls_before = 0;
  running_->code = nullptr;
}

bool Kernel::wake(const simgrid::kernel::actor::ActorImpl* library) {
  const auto found =
      std::find_if(actors_.begin(), actors_.end(),
                   [library](const auto& actor) { return actor->library == library; });
  if (found == actors_.end()) return false;
  wake(**found);
  return true;
}

void Kernel::start_idle(const Actor& actor) { hosts_.system.start_idle(*machine_.host(actor.host).cpu); }

void Kernel::end_idle(std::size_t host) { hosts_.system.end_idle(*machine_.host(host).cpu); }

void Kernel::execute(double flops, double most) {
  Actor& actor = *running_;
  const Machine::Host& host = machine_.host(actor.host);
  if (packets_ != nullptr && has_core_of_its_own(actor)) {
    set_timer(now() + flops / (most > 0 ? std::min(most, host.speed) : host.speed));
    block();
    return;
  }
  Execution execution(*this, hosts_, actor);
  call(kSettings, [&] { execution.start(flops, most); });
  call(0, [&] { start_idle(actor); });
}

std::unique_ptr<Activity> Kernel::start_execution(double flops) {
  Actor& actor = *running_;
  if (has_core_of_its_own(actor)) {
    set_timer(now() + flops / machine_.host(actor.host).speed);
    pause();
    return nullptr;
  }
  auto execution = std::make_unique<PlayedExecution>(*this, hosts_, actor, flops);
  const auto start = [](void* played) {
    auto* const self = static_cast<PlayedExecution*>(played);
    self->start(self->flops, 0);
  };
  set_call(kSettings, start, execution.get());
  return execution;
}

void Kernel::pause_idle() {
  set_call(0, [](void* actor) { kernel()->start_idle(*static_cast<Actor*>(actor)); }, running_);
}

void Kernel::start_sleep(double seconds) {
  set_timer(now() + seconds);
  pause();
}

void Kernel::sleep(double seconds) {
  if (packets_ != nullptr) {
    set_timer(now() + seconds);
    block();
    return;
  }
  Actor& actor = *running_;
  Execution rest(*this, hosts_, actor);
  call(0, [&] {
    rest.started = true;
    rest.remains = 1;
    rest.last_update = now();
    rest.deadline = now() + std::max(seconds, kInstant);
    start_idle(actor);
    hosts_.system.start(rest.variable, &rest, 0, 0, 0);
    hosts_.change_first(rest);
  });
}

}  // namespace hamtune::express
