// What SimGrid 3.32 exports without declaring it in its public headers: the declarations that our
// definitions need, with the members of its objects in their places.
#pragma once

#include "workers/simulator/simgrid/compat.hpp"

#ifdef HAMTUNE_EXPRESS

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace hamtune {

/// More than a communicator takes, bytes.
inline constexpr std::size_t kCommunicatorRoom = 2048;

/// The library's own function of this name.
template <typename Function>
Function* library_function(const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, symbol));
}

}  // namespace hamtune

namespace simgrid::kernel {

class EngineImpl {
 public:
  static EngineImpl* instance_;
  static double now_;  // the simulated time, s

  actor::ActorImpl* get_actor_by_pid(aid_t number);
  void add_actor_to_run_list_no_check(actor::ActorImpl* actor);
  void run_all_actors();
};

namespace context {

/// Where an actor runs.
class SwappedContext {
 public:
  void suspend();
  void resume();
};

class Context {
 public:
  static SwappedContext* self();
};

}  // namespace context

namespace actor {

class ActorImpl {
 public:
  static ActorImpl* self();
  void simcall_handle(int value);
};

}  // namespace actor

}  // namespace simgrid::kernel

namespace simgrid::smpi {

/// What every MPI object is registered as, for Fortran, when it is made.
class F2C {
 public:
  virtual ~F2C();
  virtual std::string name() const = 0;
  int add_f();

 private:
  int number_ = -1;
  bool deleted_ = false;
  std::string call_location_;
};

class Group : public F2C {
 public:
  int rank(aid_t actor) const;
  aid_t actor(int rank) const;
  void ref();
};

class Topo;

class Comm {
 public:
  Comm(Group* group, std::shared_ptr<Topo> topology, bool of_neighbours, int id);
  Group* group();
  int id() const;
  int size() const;
  bool is_smp_comm() const;
  void init_smp();
  static void unref(Comm* comm);
  void ref();
  unsigned get_sent_messages_count(int source, int target, int tag);
  void increment_sent_messages_count(int source, int target, int tag);
  unsigned get_received_messages_count(int source, int target, int tag);
  void increment_received_messages_count(int source, int target, int tag);
};

class Status {
 public:
  static void empty(MPI_Status* status);
};

/// Times that SMPI adds to sends and receives, s.
class Host {
 public:
  static xbt::Extension<s4u::Host, Host> EXTENSION_ID;
  double orecv(size_t size, s4u::Host* source, s4u::Host* target);
  double osend(size_t size, s4u::Host* source, s4u::Host* target);
  double oisend(size_t size, s4u::Host* source, s4u::Host* target);
};

}  // namespace simgrid::smpi

#endif
