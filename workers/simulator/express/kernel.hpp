// Runs the ranks of a replay in rounds, as SimGrid's engine does, and moves simulated time.
//
// A rank runs until it calls the kernel, which is a switch to the main context; then the calls of all
// ranks that ran are served in their order. Served ranks run in the next round, and when nobody can
// run, time moves on. The order of calls within an instant decides about the order of messages and of
// additions, so it is kept as it is in SimGrid 3.32, where some calls change nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <vector>

#include "workers/simulator/express/activity.hpp"
#include "workers/simulator/network.hpp"
#include "workers/simulator/protocol.hpp"
#include "workers/simulator/simgrid/internals.hpp"

namespace hamtune::express {

class Messages;
class Messaging;
class PacketMessages;
class Recording;

/// Does what a rank has to do without a stack of its own.
class Player {
 public:
  virtual ~Player() = default;

  /// Goes on until the rank has to wait, which it has then told the kernel; false if what is next needs the
  /// rank's own context.
  virtual bool go_on() = 0;
};

/// A rank, as the kernel sees it.
struct Actor {
  simgrid::kernel::actor::ActorImpl* library = nullptr;
  simgrid::kernel::context::SwappedContext* context = nullptr;
  Player* player = nullptr;  // which goes on in place of the context
  Recording* recording = nullptr;  // of the collective that runs there, if it is written down
  aid_t number = 0;
  std::size_t host = 0;

  bool ended = false;

  // The call under way.
  bool calling = false;
  int calls_before = 0;
  void (*code)(void*) = nullptr;  // null: a call of the library
  void* arguments = nullptr;
};

/// Of calls that find nothing: they grow with every one in vain, as SMPI's do.
struct Pauses {
  int test = 1;
  int test_any = 1;
  int probe = 1;
};

/// The hosts and the network of a simulation.
class Machine {
 public:
  /// A few of something; the machine keeps them.
  template <typename Item>
  struct Row {
    Item* first = nullptr;
    std::size_t count = 0;

    Item* begin() const { return first; }
    Item* end() const { return first + count; }
    std::size_t size() const { return count; }
  };

  /// What a message between two hosts meets.
  struct Route {
    Row<Constraint*> links;
    Row<Constraint*> back;
    Row<double*> loads;
    double latency = 0;    // s
    double penalty = 0;    // of the message's rate
    double bound = 0;      // most that a message's rate may be, bytes/s
  };

  struct Host {
    simgrid::s4u::Host* library = nullptr;
    double speed = 0;  // flop/s of a core
    std::unique_ptr<Constraint> cpu;
    std::size_t cores = 1;
    std::size_t ranks = 0;  // that were told to run here
    std::vector<const Route*> routes;  // by target, as far as they have been asked for
  };

  /// A factor of messages of so many bytes, envelope included.
  using Factor = std::function<double(double)>;

  /// The network must outlive it.
  Machine(const std::vector<simgrid::s4u::Host*>& hosts, Network& network, Factor latency,
          Factor bandwidth);

  /// A rank will run on this host.
  void expect_rank(std::size_t host) { ++hosts_[host].ranks; }

  const Factor latency_factor;
  const Factor bandwidth_factor;

  Host& host(std::size_t number) { return hosts_[number]; }

  const Route& route(std::size_t source, std::size_t target) {
    const std::vector<const Route*>& routes = hosts_[source].routes;
    if (routes.empty() || routes[target] == nullptr) find_route(source, target);
    return *hosts_[source].routes[target];
  }

 private:
  void find_route(std::size_t source, std::size_t target);

  template <typename Item>
  Row<Item> make_row(std::size_t most) {
    return {static_cast<Item*>(kept_->allocate(most * sizeof(Item), alignof(Item))), 0};
  }

  std::unique_ptr<std::pmr::monotonic_buffer_resource> kept_;  // routes, freed all at once
  std::vector<Host> hosts_;
  Network& network_;
  std::vector<Constraint> links_;  // by their numbers in the network
  double weight_;      // network/weight-S
  double window_;      // network/TCP-gamma, bytes
  bool crosstraffic_;  // network/crosstraffic
};

/// How messages cross the network.
struct NetworkModel {
  Network* network = nullptr;
  const Protocol* packets = nullptr;  // null: as a fluid
};

class Kernel {
 public:
  /// With `estimates`, what SMPI does for itself may be computed rather than simulated. Ranks that have
  /// left the kernel `before` go on in this one; without it all actors of SimGrid begin. The network and
  /// the protocol must outlive the kernel.
  Kernel(Machine machine, const NetworkModel& model, bool estimates, const Kernel* before);
  ~Kernel();

  Machine& machine() { return machine_; }
  Model& network() { return network_; }
  Messaging& messages() { return *messaging_; }
  /// The messages of whichever model is used; null of the other one.
  Messages* fluid() { return fluid_; }
  PacketMessages* packets() { return packets_; }
  Actor& running() { return *running_; }
  /// The receiver of a message. MPI_Finalize is collective, so a program's messages, whose tags are not
  /// negative, may come to a rank that has played its trace. Throws std::runtime_error for others, and where
  /// there never was such a rank: some of SMPI's algorithms send what nobody receives.
  Actor& receiver(aid_t number, int tag);
  /// Smaller messages, bytes, do not keep their sender.
  int detached_below() const { return detached_below_; }
  bool estimates() const { return estimates_; }
  Pauses& pauses() { return pauses_; }
  static double now() { return simgrid::kernel::EngineImpl::now_; }

  /// Called first thing by each rank, in its own context.
  void enter(std::size_t host);

  /// Runs until nothing can happen any more. `at_advance` is called whenever time has moved.
  void run(const std::function<void()>& at_advance);

  /// The running rank has `code` called by the kernel, after some calls that change nothing, and
  /// goes on when somebody wakes it.
  template <typename Code>
  void call(int calls_before, Code code) {
    set_call(calls_before, [](void* arguments) { (*static_cast<Code*>(arguments))(); }, &code);
    running_->context->suspend();
  }

  /// The running rank goes on when somebody wakes it.
  void block() {
    set_call(0, nothing, nullptr);
    running_->context->suspend();
  }

  /// Has a player go on in place of the running rank's context, until that is needed again.
  void play(Player& player) {
    running_->player = &player;
    running_->context->suspend();
  }

  // What follows is for players, who then return: they go on when the rank is woken.

  /// As `block`.
  void pause() { set_call(0, nothing, nullptr); }
  /// As `sleep`, beside packets.
  void start_sleep(double seconds);
  /// As `execute`. What it returns, if anything, must be kept until the rank goes on twice: the first time
  /// it calls `pause_idle`.
  std::unique_ptr<Activity> start_execution(double flops);
  void pause_idle();

  /// The running rank is about to make a call of the library.
  void note_library_call();

  void wake(Actor& actor) { to_run_.push_back(&actor); }
  /// Whether any rank can go on.
  bool is_woken() const { return !to_run_.empty(); }
  /// False if it is not known.
  bool wake(const simgrid::kernel::actor::ActorImpl* library);

  /// The running rank computes, at most at this rate (flop/s) where it is positive.
  void execute(double flops, double most = 0);
  void sleep(double seconds);
  /// The running rank keeps a core of its host busy.
  void execute_for(double seconds) {
    if (seconds > 0) execute(seconds * machine_.host(running_->host).speed);
  }

  /// While an actor waits for one message, SimGrid has it sleep on its host.
  void start_idle(const Actor& actor);
  void end_idle(std::size_t host);

 private:
  static void nothing(void*) {}

  void set_call(int calls_before, void (*code)(void*), void* arguments) {
    running_->calls_before = calls_before;
    running_->code = code;
    running_->arguments = arguments;
    running_->calling = true;
  }

  Actor& add_actor(aid_t number);
  void run(Actor& actor);
  void serve();
  bool advance();
  bool advance_packets();
  bool has_core_of_its_own(const Actor& actor);
  void set_timer(double date);

  /// A rank that sleeps beside packets.
  struct Timer {
    double date;
    std::uint64_t order;
    Actor* actor;

    bool operator>(const Timer& other) const {
      return date > other.date || (date == other.date && order > other.order);
    }
  };

  int detached_below_;
  bool estimates_;
  Pauses pauses_;
  Machine machine_;
  Model hosts_{false};
  Model network_{true};
  std::unique_ptr<Messaging> messaging_;
  Messages* fluid_ = nullptr;
  PacketMessages* packets_ = nullptr;
  std::vector<Timer> timers_;  // a heap, the first due first
  std::uint64_t next_timer_ = 0;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::vector<Actor*> by_number_;
  std::vector<Actor*> to_run_;
  std::vector<Actor*> ran_;
  Actor* running_ = nullptr;
};

/// The kernel of this process, or null where SimGrid's own engine runs the ranks.
Kernel* kernel();
void use_kernel(std::unique_ptr<Kernel> kernel);

}  // namespace hamtune::express
