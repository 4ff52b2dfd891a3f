#include "searchspace/kernels/trace/collective_messages.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "searchspace/kernels/trace/row_sum.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"
#include "searchspace/kernels/trace/trace_summary.hpp"

namespace hamtune {

namespace {

/// One call of a collective, as one of its ranks sees it.
struct Call {
  const Operation& operation;
  const std::int32_t* values;  ///< what does not fit into the operation
  std::int64_t me;             ///< its rank in the communicator
  std::int64_t ranks;          ///< of the communicator

  std::int64_t bytes() const {
    return std::int64_t{operation.count} * operation.type_size;
  }
  std::int64_t root() const { return operation.party; }
  /// Numbers from the root on, which is 0 then.
  std::int64_t relative(std::int64_t rank) const { return (rank - root() + ranks) % ranks; }
  std::int64_t absolute(std::int64_t number) const { return (number + root()) % ranks; }
};

/// How many ranks stand in the binomial tree below that number, itself included.
std::int64_t below(std::int64_t number, std::int64_t ranks) {
  const std::int64_t whole = number == 0 ? ranks : number & -number;
  return std::min(whole, ranks - number);
}

/// From the root outwards: all of `bytes`, or with `parts` what each one below gets of it.
template <typename Send>
void outwards(const Call& call, Spread spread, std::int64_t bytes, bool parts, Send send) {
  const std::int64_t mine = call.relative(call.me);
  if (spread == Spread::kDirect) {
    if (mine == 0)
      for (std::int64_t to = 1; to < call.ranks; ++to) send(call.absolute(to), bytes);
  } else if (spread == Spread::kRing) {
    if (mine + 1 < call.ranks)
      send(call.absolute(mine + 1), parts ? bytes * (call.ranks - mine - 1) : bytes);
  } else {
    for (std::int64_t step = 1; step < call.ranks; step *= 2)
      if (mine % (2 * step) == 0 && mine + step < call.ranks)
        send(call.absolute(mine + step), parts ? bytes * below(mine + step, call.ranks) : bytes);
  }
}

/// From everybody to the root.
template <typename Send>
void inwards(const Call& call, Spread spread, std::int64_t bytes, bool parts, Send send) {
  const std::int64_t mine = call.relative(call.me);
  if (mine == 0) return;
  if (spread == Spread::kDirect)
    send(call.root(), bytes);
  else if (spread == Spread::kRing)
    send(call.absolute(mine - 1), parts ? bytes * (call.ranks - mine) : bytes);
  else
    send(call.absolute(mine - (mine & -mine)), parts ? bytes * below(mine, call.ranks) : bytes);
}

/// Every block to everybody.
template <typename Send>
void everywhere(const Call& call, Spread spread, std::int64_t block, Send send) {
  const std::int64_t ranks = call.ranks;
  if (spread == Spread::kDirect) {
    for (std::int64_t step = 1; step < ranks; ++step) send((call.me + step) % ranks, block);
  } else if (spread == Spread::kDoubling) {
    for (std::int64_t step = 1; step < ranks; step *= 2)
      send((call.me + ranks - step) % ranks, block * std::min(step, ranks - step));
  } else if (ranks > 1) {
    send((call.me + 1) % ranks, block * (ranks - 1));
  }
}

template <typename Send>
void allreduce(const Call& call, Spread spread, Send send) {
  const std::int64_t ranks = call.ranks;
  const std::int64_t bytes = call.bytes();
  if (spread == Spread::kRing) {
    if (ranks > 1) send((call.me + 1) % ranks, 2 * bytes * (ranks - 1) / ranks);
  } else if (spread == Spread::kDirect) {
    everywhere(call, spread, bytes, send);
  } else if (spread == Spread::kTree) {
    inwards(call, spread, bytes, false, send);
    outwards(call, spread, bytes, false, send);
  } else {
    std::int64_t paired = 1;
    while (paired * 2 <= ranks) paired *= 2;
    // Ranks beyond the power of two hand theirs over first, and get the result in the end.
    if (call.me >= paired) {
      send(call.me - paired, bytes);
      return;
    }
    if (call.me + paired < ranks) send(call.me + paired, bytes);
    for (std::int64_t step = 1; step < paired; step *= 2) send(call.me ^ step, bytes);
  }
}

template <typename Send>
void alltoall(const Call& call, Spread spread, std::int64_t block, Send send) {
  if (spread != Spread::kDoubling) {
    everywhere(call, Spread::kDirect, block, send);
    return;
  }
  for (std::int64_t step = 1; step < call.ranks; step *= 2) {  // Bruck: blocks whose way has that bit
    std::int64_t blocks = 0;
    for (std::int64_t way = 1; way < call.ranks; ++way) blocks += (way & step) != 0;
    send((call.me + step) % call.ranks, block * blocks);
  }
}

/// Calls `send(rank of the communicator, bytes)` for what the caller sends.
template <typename Send>
void collective_messages(const Call& call, Spread spread, Send send) {
  const Operation& operation = call.operation;
  const bool off_root = call.me != call.root();
  switch (operation.code) {
    case Code::bcast:
      outwards(call, spread, call.bytes(), false, send);
      break;
    case Code::reduce:
      inwards(call, spread, call.bytes(), false, send);
      break;
    case Code::allreduce:
      allreduce(call, spread, send);
      break;
    case Code::gather:
      inwards(call, spread, call.bytes(), true, send);
      break;
    case Code::gatherv:
      inwards(call, Spread::kDirect, call.bytes(), true, send);
      break;
    case Code::scatter:
      // Off the root only what is received is recorded.
      outwards(call, spread,
               off_root ? std::int64_t{call.values[0]} * call.values[1] : call.bytes(), true, send);
      break;
    case Code::scatterv:
      if (!off_root)
        for (std::int64_t to = 0; to < call.values[2]; ++to)
          send(to, std::int64_t{call.values[3 + to]} * operation.type_size);
      break;
    case Code::allgather: {
      const bool in_place = (operation.flags & kInPlace) != 0;
      everywhere(call, spread,
                 in_place ? std::int64_t{call.values[0]} * call.values[1] : call.bytes(), send);
      break;
    }
    case Code::allgatherv:
      everywhere(call, Spread::kDirect,
                 std::int64_t{call.values[2 + call.me]} * call.values[0], send);
      break;
    case Code::alltoall: {
      const bool in_place = (operation.flags & kInPlace) != 0;
      alltoall(call, spread,
               in_place ? std::int64_t{call.values[0]} * call.values[1] : call.bytes(), send);
      break;
    }
    // In place as much is sent as is received, and only that is recorded: after what is sent.
    case Code::alltoallv: {
      const bool in_place = (operation.flags & kInPlace) != 0;
      const std::int64_t ranks = call.values[1];
      const std::int64_t size = in_place ? call.values[0] : operation.type_size;
      for (std::int64_t to = 0; to < ranks; ++to)
        send(to, std::int64_t{call.values[2 + (in_place ? ranks : 0) + to]} * size);
      break;
    }
    case Code::alltoallw: {
      const std::int64_t ranks = call.values[0];
      const std::int64_t from = 1 + ((operation.flags & kInPlace) != 0 ? ranks : 0);
      for (std::int64_t to = 0; to < ranks; ++to) send(to, call.values[from + to]);
      break;
    }
    case Code::reduce_scatter:
      for (std::int64_t to = 0; to < call.values[0]; ++to)
        send(to, std::int64_t{call.values[1 + to]} * operation.type_size);
      break;
    case Code::reduce_scatter_block:
      everywhere(call, spread, call.bytes(), send);
      break;
    case Code::scan:
    case Code::exscan:
      if (call.me + 1 < call.ranks) send(call.me + 1, call.bytes());
      break;
    default:
      break;
  }
}

bool on_communicator(const Members& members, const std::vector<std::uint32_t>& wanted) {
  if (wanted.empty()) return true;
  if (members.size() != wanted.size()) return false;
  Members sorted = members;
  std::sort(sorted.begin(), sorted.end());
  return sorted == wanted;
}

/// Rounds of a rank: one ends where it waits for something after it sent something.
class RoundClock {
 public:
  std::uint32_t now() const { return now_; }
  void sent() { open_ = true; }
  void waited() {
    if (open_) ++now_;
    open_ = false;
  }
  void skip(std::uint32_t rounds) { now_ += rounds; }

 private:
  std::uint32_t now_ = 0;
  bool open_ = false;
};

bool waits(Code code) {
  return code == Code::recv || code == Code::wait || code == Code::waitall || code == Code::sendrecv;
}

std::uint32_t bits(std::int64_t number) {
  std::uint32_t found = 0;
  for (; number > 0; number /= 2) ++found;
  return found;
}

/// Where the bytes really go: from each rank straight to each other, whatever round them is called.
Spread route_of(Code code, Spread spread) {
  switch (code) {
    case Code::alltoall:
      return spread == Spread::kDoubling ? spread : Spread::kDirect;
    case Code::gatherv:
    case Code::scatterv:
    case Code::allgatherv:
    case Code::alltoallv:
    case Code::alltoallw:
    case Code::reduce_scatter:
      return Spread::kDirect;
    default:
      return spread;
  }
}

/// The step of a collective in which a rank sends to another: by how far it is, once around.
std::uint32_t step_of(Spread spread, std::int64_t from, std::int64_t to, std::int64_t ranks) {
  if (spread == Spread::kRing) return 0;
  const std::int64_t ahead = (to - from + ranks) % ranks;
  if (spread == Spread::kDirect) return static_cast<std::uint32_t>(ahead);
  return bits(std::min(ahead, ranks - ahead));
}

/// How many steps ranks that take part in a collective count for it.
std::uint32_t steps_of(Spread spread, std::int64_t ranks) {
  if (spread == Spread::kRing) return 1;
  return spread == Spread::kDirect ? static_cast<std::uint32_t>(ranks) : bits(ranks) + 1;
}

/// The ranks of a communicator, the first few of many.
std::string listed(const Members& members) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t at = 0; at < std::min(members.size(), kShown); ++at)
    text += (at > 0 ? "," : "") + std::to_string(members[at]);
  if (members.size() > kShown) text += ",... (" + std::to_string(members.size()) + " ranks)";
  return text;
}

/// Throws where nothing could be selected: there is no such phase or communicator.
void check_selection(const Trace& trace, const MessageFilter& filter) {
  std::size_t marks = 0;
  for (const RankTrace& own : trace.ranks) marks = std::max(marks, own.marks.size());
  if (filter.phase > static_cast<std::int64_t>(marks))
    throw TraceError("there is no phase " + std::to_string(filter.phase) + ": the last one is " +
                     std::to_string(marks) + " (each MPI_Pcontrol begins one)");
  if (filter.members.empty()) return;
  std::set<Members> communicators;
  std::set<const Members*> seen;
  for (const RankTrace& own : trace.ranks)
    for (const auto& members : own.communicators)
      if (members && seen.insert(members.get()).second) communicators.insert(*members);
  const auto chosen = [&](const Members& members) { return on_communicator(members, filter.members); };
  if (std::any_of(communicators.begin(), communicators.end(), chosen)) return;
  constexpr std::size_t kShown = 6;
  std::string text;
  std::size_t shown = 0;
  for (const Members& members : communicators)
    if (++shown <= kShown) text += (text.empty() ? "" : "; ") + listed(members);
  if (shown > kShown) text += "; and " + std::to_string(shown - kShown) + " more";
  throw TraceError("there is no communicator of exactly these ranks; there are " + text);
}

}  // namespace

void visit_messages(const Trace& trace, const MessageFilter& filter,
                    const std::function<bool(const CountedMessage&)>& visit) {
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const RankTrace& own = trace.ranks[rank];
    std::vector<int> counts_here(own.communicators.size(), -1);
    std::size_t marks = 0;
    RoundClock clock;
    for (std::size_t index = 0; index < own.operations.size(); ++index) {
      while (marks < own.marks.size() && own.marks[marks].before <= index) ++marks;
      if (filter.phase >= 0 && marks != static_cast<std::size_t>(filter.phase)) continue;
      const Operation& operation = own.operations[index];
      const bool collective = is_collective(operation.code);
      const bool message = is_send(operation.code) && operation.party != kNoPeer;
      if (!message && (waits(operation.code) || collective)) clock.waited();
      if (!(message && filter.point_to_point) && !(collective && !filter.collectives.empty()))
        continue;
      const Members& members = *own.communicators[operation.communicator];
      int& known = counts_here[operation.communicator];
      if (known < 0) known = on_communicator(members, filter.members) ? 1 : 0;
      if (known == 0) continue;
      if (message) {
        if (!visit({rank, members[static_cast<std::size_t>(own.party(operation.party))],
                    std::int64_t{operation.count} * operation.type_size, clock.now()}))
          return;
        clock.sent();
        if (waits(operation.code)) clock.waited();
        continue;
      }
      const auto family = static_cast<std::size_t>(operation.code) - static_cast<std::size_t>(Code::barrier);
      const Spread spread = filter.collectives.at(family);
      if (spread == Spread::kNone) continue;
      const std::int64_t me = own.places[operation.communicator];
      const auto ranks = static_cast<std::int64_t>(members.size());
      const Call call{operation, own.values.data() + operation.more, me, ranks};
      const Spread route = route_of(operation.code, spread);
      bool goes_on = true;
      collective_messages(call, spread, [&](std::int64_t to, std::int64_t size) {
        goes_on = goes_on && visit({rank, members[static_cast<std::size_t>(to)], size,
                                    clock.now() + step_of(route, me, to, ranks)});
      });
      if (!goes_on) return;
      clock.skip(steps_of(route, ranks));
    }
  }
}

SparseTraffic filtered_traffic(const Trace& trace, const MessageFilter& filter) {
  const std::size_t ranks = trace.ranks.size();
  if (ranks > kMaxMatrixRanks)
    throw TraceError("traffic matrices have at most " + std::to_string(kMaxMatrixRanks) + " ranks");
  check_selection(trace, filter);
  SparseTraffic sent;
  sent.first.reserve(ranks + 1);
  sent.first.push_back(0);
  RowSum row(ranks);
  const auto finish_row = [&] {
    row.finish([&](std::uint32_t receiver, std::int64_t size) {
      sent.partner.push_back(receiver);
      sent.size.push_back(size);
    });
    sent.first.push_back(static_cast<std::int64_t>(sent.partner.size()));
  };
  visit_messages(trace, filter, [&](const CountedMessage& message) {
    while (sent.first.size() <= message.sender) finish_row();  // senders come in order
    row.add(message.receiver, message.size);
    return true;
  });
  while (sent.first.size() <= ranks) finish_row();
  return sent;
}

}  // namespace hamtune
