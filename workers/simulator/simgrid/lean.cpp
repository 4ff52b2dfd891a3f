// Definitions that take the place of SimGrid's own for what it does at every message and that a
// replay has no use for, or that can be had for less with the same result. Together they save a
// quarter of an evaluation's cost where SimGrid's own engine runs the ranks; ours (express/) needs
// some of them too.
//
// They work because the library calls these functions through its symbol table. Where a release
// has inlined, renamed or changed one, it does without ours.
#include "workers/simulator/simgrid/lean.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "workers/simulator/express/express.hpp"
#include "workers/simulator/numbers.hpp"
#include "workers/simulator/simgrid/internals.hpp"

// SMPI reads the thread's CPU clock at the begin and end of every MPI call, to measure what a
// program computes in between. Ranks that replay a trace compute nothing.
void smpi_bench_begin() {}
void smpi_bench_end() {}

namespace {

hamtune::compat::ActorOfRank sender_in_place;

}  // namespace

namespace hamtune {

SendInPlace::SendInPlace(const compat::ActorOfRank& sender) { sender_in_place = sender; }

SendInPlace::~SendInPlace() { sender_in_place = {}; }

}  // namespace hamtune

#ifdef HAMTUNE_EXPRESS

using hamtune::library_function;

namespace {

/// Messages are counted by these.
struct MessageKey {
  unsigned communicator = 0;  // its serial number
  int source = 0;
  int target = 0;
  int tag = 0;

  bool operator==(const MessageKey& other) const {
    return communicator == other.communicator && source == other.source &&
           target == other.target && tag == other.tag;
  }

  std::size_t hash() const {
    constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
    std::uint64_t mixed = communicator;
    mixed = mixed * kMix + static_cast<std::uint32_t>(source);
    mixed = mixed * kMix + static_cast<std::uint32_t>(target);
    mixed = mixed * kMix + static_cast<std::uint32_t>(tag);
    return mixed * kMix >> 32;
  }
};

/// A communicator. A new one may stand where another one stood.
struct Place {
  const void* address = nullptr;

  bool operator==(const Place& other) const { return address == other.address; }

  std::size_t hash() const {
    constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
    return reinterpret_cast<std::uintptr_t>(address) * kMix >> 32;
  }
};

/// Side by side, since who receives a message finds what its sender has just touched.
struct MessageCounts {
  unsigned sent = 0;
  unsigned received = 0;
};

unsigned last_serial = 0;
hamtune::Numbers<Place, unsigned> serials;  // of communicators in which messages were counted
hamtune::Numbers<MessageKey, MessageCounts> messages;

MessageCounts& counts_of(const void* communicator, int source, int target, int tag) {
  unsigned& serial = serials[{communicator}];
  if (serial == 0) serial = ++last_serial;
  return messages[{serial, source, target, tag}];
}

/// Actors by their number, which is never given twice; null until asked for and when they ended.
std::vector<simgrid::kernel::actor::ActorImpl*> actors;

void forget_ended_actors() {
  simgrid::s4u::Actor::on_termination_cb([](const simgrid::s4u::Actor& actor) {
    const auto number = static_cast<std::size_t>(actor.get_pid());
    if (number < actors.size()) actors[number] = nullptr;
  });
}

struct KnownRoute {
  std::vector<simgrid::kernel::resource::StandardLinkImpl*> links;
  double latency = 0;
};

using NetPoints = std::pair<const simgrid::kernel::routing::NetPoint*,
                            const simgrid::kernel::routing::NetPoint*>;

struct HashNetPoints {
  std::size_t operator()(const NetPoints& points) const {
    return points.first->id() << 20 ^ points.second->id();
  }
};

std::unordered_map<NetPoints, KnownRoute, HashNetPoints> routes;

}  // namespace

namespace hamtune {

unsigned& sent_messages(const simgrid::smpi::Comm* communicator, int source, int target, int tag) {
  return counts_of(communicator, source, target, tag).sent;
}

unsigned& received_messages(const simgrid::smpi::Comm* communicator, int source, int target,
                            int tag) {
  return counts_of(communicator, source, target, tag).received;
}

void forget_messages() {
  serials.forget();
  messages.forget();
}

}  // namespace hamtune

namespace simgrid::smpi {

/// Whether payloads may stay where they are. SMPI asks the sender when it makes a request, and the
/// receiver's actor when it would copy; only there it is told so.
bool ActorExt::replaying() const {
  return sender_in_place.number >= 0 && this != sender_in_place.extension &&
         sender_in_place.number == s4u::this_actor::get_pid();
}

// The library keeps these in tables by a text that it composes at each call.
unsigned Comm::get_sent_messages_count(int source, int target, int tag) {
  return hamtune::sent_messages(this, source, target, tag);
}

void Comm::increment_sent_messages_count(int source, int target, int tag) {
  ++hamtune::sent_messages(this, source, target, tag);
}

unsigned Comm::get_received_messages_count(int source, int target, int tag) {
  return hamtune::received_messages(this, source, target, tag);
}

void Comm::increment_received_messages_count(int source, int target, int tag) {
  ++hamtune::received_messages(this, source, target, tag);
}

/// Only MPI_Init, before any message, needs the register: nobody asks for an object by its Fortran
/// number here. What stands where a communicator stood may be another one.
int F2C::add_f() {
  static const auto library = library_function<int(F2C*)>("_ZN7simgrid4smpi3F2C5add_fEv");
  if (last_serial == 0) return library(this);
  if (unsigned* const serial = serials.find({this}); serial != nullptr) *serial = ++last_serial;
  return -1;
}

}  // namespace simgrid::smpi

namespace simgrid::kernel {

namespace routing {

// Once a message. The machine is one zone, of which our factors do not ask to be told.
void NetZoneImpl::get_global_route_with_netzones(const NetPoint* source, const NetPoint* target,
                                                 std::vector<resource::StandardLinkImpl*>& links,
                                                 double* latency,
                                                 std::unordered_set<NetZoneImpl*>& zones) {
  static const auto library =
      library_function<void(const NetPoint*, const NetPoint*, std::vector<resource::StandardLinkImpl*>&,
                    double*, std::unordered_set<NetZoneImpl*>&)>(
          "_ZN7simgrid6kernel7routing11NetZoneImpl30get_global_route_with_netzonesEPKNS1_8NetPointES5_"
          "RSt6vectorIPNS0_8resource16StandardLinkImplESaIS9_EEPdRSt13unordered_setIPS2_St4hashISF_"
          "ESt8equal_toISF_ESaISF_EE");
  if (latency == nullptr || !links.empty()) return library(source, target, links, latency, zones);
  const auto [entry, is_new] = routes.try_emplace({source, target});
  KnownRoute& route = entry->second;
  if (is_new) library(source, target, route.links, &route.latency, zones);
  links = route.links;
  *latency += route.latency;
}

}  // namespace routing

// Asked for several times a message; the library searches a tree.
actor::ActorImpl* EngineImpl::get_actor_by_pid(aid_t number) {
  const auto index = static_cast<std::size_t>(number);
  if (index < actors.size() && actors[index] != nullptr) return actors[index];
  static const auto library = library_function<actor::ActorImpl*(EngineImpl*, aid_t)>(
      "_ZN7simgrid6kernel10EngineImpl16get_actor_by_pidEl");
  actor::ActorImpl* const found = library(this, number);
  if (found == nullptr) return nullptr;
  if (actors.empty()) forget_ended_actors();
  if (actors.size() <= index) actors.resize(index + 1, nullptr);
  actors[index] = found;
  return found;
}

}  // namespace simgrid::kernel

namespace simgrid::s4u {

// Counted at every look at an actor, with locks; those of our engine last as long as their process.
void intrusive_ptr_add_ref(const Actor* actor) {
  if (hamtune::express::in_use()) return;
  static const auto library = library_function<void(const Actor*)>(
      "_ZN7simgrid3s4u21intrusive_ptr_add_refEPKNS0_5ActorE");
  library(actor);
}

void intrusive_ptr_release(const Actor* actor) {
  if (hamtune::express::in_use()) return;
  static const auto library = library_function<void(const Actor*)>(
      "_ZN7simgrid3s4u21intrusive_ptr_releaseEPKNS0_5ActorE");
  library(actor);
}

// Asked for a dozen times a message; the library goes a long way to a variable.
Engine* Engine::get_instance() {
  static Engine* const engine = library_function<Engine*()>("_ZN7simgrid3s4u6Engine12get_instanceEv")();
  return engine;
}

}  // namespace simgrid::s4u

#endif
