#include "workers/simulator/express/collective_expansion.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "workers/simulator/express/kernel.hpp"

namespace hamtune::express {

namespace {

using Kind = ExpandedStep::Kind;
using Peer = ExpandedStep::Peer;

constexpr std::size_t kShort = 64;                       // steps that are each told from where they lead
constexpr std::size_t kMostSteps = std::size_t{2} << 20;  // kept: 64 MB

/// What names of algorithms have in common that are not expanded. These leave the choice of another
/// algorithm in a variable for the next call, of whichever rank.
constexpr std::array<std::string_view, 2> kChangeable = {"mvapich2", "impi"};
/// What these do depends on which rank is late.
constexpr std::string_view kLateness = "arrival";
/// And these on which ranks share a host.
constexpr std::array<std::string_view, 4> kNodeAware = {"smp", "SMP", "mpich", "loosely_lr"};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool share_hosts(const Request& request) {
  std::set<Node> hosts;
  std::size_t ranks = 0;
  for (const ApplicationRequest& application : request.applications) {
    hosts.insert(application.hosts.begin(), application.hosts.end());
    ranks += application.hosts.size();
  }
  return hosts.size() < ranks;
}

/// Whether what a rank does in a collective follows from its number.
bool is_by_number(const Request& request) {
  const bool shares = share_hosts(request);
  return std::none_of(request.options.begin(), request.options.end(), [shares](const auto& option) {
    const std::string_view value = option.second;
    const auto is_in = [value](std::string_view mark) { return contains(value, mark); };
    return std::any_of(kChangeable.begin(), kChangeable.end(), is_in) || is_in(kLateness) ||
           (shares && std::any_of(kNodeAware.begin(), kNodeAware.end(), is_in));
  });
}

/// Of the numbers that follow a collective in its trace, those that a rank has for itself, and others.
std::size_t values_of(Code code, const std::int32_t* values) {
  const auto many = [values](std::size_t place, std::size_t lists) {
    return place + 1 + lists * static_cast<std::size_t>(values[place]);
  };
  switch (code) {
    case Code::gather:
    case Code::scatter:
    case Code::allgather:
    case Code::alltoall:
      return 2;
    case Code::gatherv:
    case Code::allgatherv:
      return many(1, 1);
    case Code::scatterv:
      return many(2, 1);
    case Code::alltoallv:
      return many(1, 2);
    case Code::alltoallw:
      return many(0, 2);
    case Code::reduce_scatter:
      return many(0, 1);
    default:
      return 0;
  }
}

void mix(std::uint64_t& hash, std::uint64_t value) {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  hash = (hash ^ value) * kMix;
  hash ^= hash >> 29U;
}

std::uint64_t hash_of(const Expansion& expansion) {
  std::uint64_t hash = expansion.awaited.size();
  for (const ExpandedStep& step : expansion.steps) {
    mix(hash, step.bytes);
    mix(hash, std::uint64_t{static_cast<std::uint32_t>(step.peer)} << 32U |
                  static_cast<std::uint32_t>(step.tag));
    mix(hash, std::uint64_t{step.request} << 32U | step.count);
    mix(hash, static_cast<std::uint64_t>(step.kind) | static_cast<std::uint64_t>(step.relation) << 8U |
                  static_cast<std::uint64_t>(step.mode) << 16U | (step.is_immediate ? 1U : 0U) << 24U);
  }
  for (const std::uint32_t request : expansion.awaited) mix(hash, request);
  return hash;
}

bool is_power_of_two(int number) { return number > 0 && (number & (number - 1)) == 0; }

/// Tells a peer as seen from a rank.
void relate(ExpandedStep& step, Peer relation, int rank, int size) {
  if (step.relation != Peer::numbered) return;
  step.relation = relation;
  if (relation == Peer::ahead) step.peer = (step.peer - rank + size) % size;
  if (relation == Peer::across) step.peer ^= rank;
}

bool has_peer(const ExpandedStep& step) {
  return step.kind == Kind::receive || step.kind == Kind::send;
}

Expansion related(Expansion expansion, Peer relation, int rank, int size) {
  for (ExpandedStep& step : expansion.steps)
    if (has_peer(step)) relate(step, relation, rank, size);
  return expansion;
}

/// Trees and exchanges of growing distance: the first rank is their root, and others differ in a bit.
Expansion related_each(Expansion expansion, int rank, int size) {
  for (ExpandedStep& step : expansion.steps) {
    if (!has_peer(step) || step.peer == 0) continue;
    relate(step, is_power_of_two(step.peer ^ rank) ? Peer::across : Peer::ahead, rank, size);
  }
  return expansion;
}

}  // namespace

int peer_of(const ExpandedStep& step, int rank, int size) {
  switch (step.relation) {
    case Peer::anyone:
      return MPI_ANY_SOURCE;
    case Peer::ahead: {
      const int peer = rank + step.peer;
      return peer < size ? peer : peer - size;
    }
    case Peer::across:
      return rank ^ step.peer;
    default:
      return step.peer;
  }
}

std::uint32_t Recording::send(const MatchEnvelope& envelope, aid_t target, std::size_t bytes,
                              PacketMessages::Mode mode, bool is_immediate) {
  if (envelope.communicator != number_of(communicator_)) give_up();
  if (!is_certain_) return 0;
  ExpandedStep& step = expansion_.steps.emplace_back();
  step.kind = Kind::send;
  step.bytes = bytes;
  step.peer = communicator_->group()->rank(target);
  step.tag = envelope.tag;
  step.mode = mode;
  step.is_immediate = is_immediate;
  if (step.peer < 0) give_up();
  return ++expansion_.requests;
}

std::uint32_t Recording::receive(const MatchEnvelope& envelope, std::size_t room,
                                 std::uint32_t count) {
  if (envelope.communicator != number_of(communicator_)) give_up();
  if (!is_certain_) return 0;
  ExpandedStep& step = expansion_.steps.emplace_back();
  step.kind = Kind::receive;
  step.bytes = room;
  step.tag = envelope.tag;
  step.count = count;
  if (envelope.source == MPI_ANY_SOURCE)
    step.relation = Peer::anyone;
  else
    step.peer = communicator_->group()->rank(envelope.source);
  if (step.peer < 0) give_up();
  return ++expansion_.requests;
}

void Recording::wait(const std::vector<std::uint32_t>& requests, Kind kind) {
  if (std::find(requests.begin(), requests.end(), 0U) != requests.end()) give_up();
  if (!is_certain_) return;
  ExpandedStep& step = expansion_.steps.emplace_back();
  step.kind = kind;
  step.request = static_cast<std::uint32_t>(expansion_.awaited.size());
  step.count = static_cast<std::uint32_t>(requests.size());
  expansion_.awaited.insert(expansion_.awaited.end(), requests.begin(), requests.end());
}

void Recording::wait_and_pay(const std::vector<std::uint32_t>& requests, std::size_t bytes,
                             std::uint32_t received) {
  wait(requests, Kind::wait_unpaid);
  ExpandedStep& step = expansion_.steps.emplace_back();
  step.kind = Kind::pay;
  step.count = received;
  step.bytes = bytes;
}

void Expansions::prepare(const Request& request) {
  played_ = 0;
  may_be_used_ = request.expand_collectives && is_by_number(request);
  if (request.options == options_) return;
  options_ = request.options;
  calls_.clear();
  kept_.clear();
  steps_ = 0;
}

std::size_t Expansions::HashContent::operator()(const Content& content) const {
  std::uint64_t hash = content.size();
  for (const std::int32_t value : content) mix(hash, static_cast<std::uint32_t>(value));
  return hash;
}

ExpandedCall& Expansions::call(const Operation& operation, const std::int32_t* values, int rank,
                               int size) {
  const std::size_t listed = values_of(operation.code, values);
  constexpr std::size_t kSameForAll = 2;
  const bool is_own = listed > kSameForAll;
  content_.assign({static_cast<std::int32_t>(operation.code), operation.flags, operation.party,
                   operation.count, operation.type_size, size, is_own ? rank : -1});
  content_.insert(content_.end(), values, values + listed);
  const auto [found, is_new] = calls_.try_emplace(content_);
  if (is_new) found->second.ranks_.resize(is_own ? 1 : static_cast<std::size_t>(size));
  return found->second;
}

void Expansions::keep(ExpandedCall& call, const Recording& recording) {
  ExpandedCall::Entry& entry = call.ranks_[call.place(recording.rank())];
  entry.is_recorded = true;
  if (recording.is_certain()) entry.expansion = shared(recording);
}

const Expansion* Expansions::find(std::uint64_t hash, const Expansion& expansion) const {
  const auto [first, last] = kept_.equal_range(hash);
  const auto found = std::find_if(first, last, [&expansion](const auto& kept) {
    return *kept.second == expansion;
  });
  return found == last ? nullptr : found->second.get();
}

/// What other ranks do as well, seen from where they are; a new one where none does, null where that would
/// be too many.
const Expansion* Expansions::shared(const Recording& recording) {
  const int rank = recording.rank();
  const int size = recording.size();
  std::vector<Expansion> forms;
  if (recording.expansion().steps.size() <= kShort) {
    forms.push_back(related_each(recording.expansion(), rank, size));
  } else {
    forms.push_back(related(recording.expansion(), Peer::ahead, rank, size));
    forms.push_back(related(recording.expansion(), Peer::across, rank, size));
  }
  for (const Expansion& form : forms)
    if (const Expansion* const known = find(hash_of(form), form); known != nullptr) return known;
  const Expansion* first = nullptr;
  for (Expansion& form : forms) {
    steps_ += form.steps.size();
    if (steps_ > kMostSteps) return first;
    const std::uint64_t hash = hash_of(form);
    const auto kept = kept_.emplace(hash, std::make_unique<const Expansion>(std::move(form)));
    if (first == nullptr) first = kept->second.get();
  }
  return first;
}

void note_uncertainty() {
  if (Kernel* const used = kernel(); used != nullptr && used->packets() != nullptr)
    if (Recording* const recording = used->running().recording; recording != nullptr)
      recording->give_up();
}

Expansions& expansions() {
  static Expansions all;
  return all;
}

}  // namespace hamtune::express
