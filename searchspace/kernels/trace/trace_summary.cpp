#include "searchspace/kernels/trace/trace_summary.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {

namespace {

constexpr std::size_t kMostMembers = 65'536;  // listed of a collective's communicators
constexpr std::size_t kGivenCommunicators = 2;  // the world and self come first
/// What ranks that share their calls have in common.
struct StreamTotals {
  struct Sent {
    std::uint64_t messages = 0;
    std::int64_t bytes = 0;
  };
  std::map<std::pair<Code, bool>, std::uint64_t> calls;                // and whether they block
  std::map<std::pair<std::uint32_t, std::int32_t>, Sent> sent;         // communicator and party
  std::set<std::pair<Code, std::uint32_t>> collectives;                // and communicator; blocking
  std::set<Code> non_commutative;  // blocking reductions by operations that do not commute
  std::map<Code, std::map<int, SizeBin>> sizes;                        // blocking
};

/// The bytes by which libraries decide the algorithm of a call; 0 where they do not.
std::uint64_t decided_bytes(const RankTrace& rank, const Operation& operation) {
  const auto own = static_cast<std::uint64_t>(operation.count) * static_cast<std::uint64_t>(operation.type_size);
  const std::int32_t* const more = rank.values.data() + operation.more;
  switch (operation.code) {
    case Code::bcast:
    case Code::reduce:
    case Code::allreduce:
      return own;
    case Code::gather:
    case Code::scatter:
    case Code::allgather:
    case Code::alltoall:
      return std::max(own, static_cast<std::uint64_t>(more[0]) * static_cast<std::uint64_t>(more[1]));
    case Code::reduce_scatter:
      return std::accumulate(more + 1, more + 1 + more[0], std::uint64_t{0}) *
             static_cast<std::uint64_t>(operation.type_size);
    default:
      return 0;
  }
}

int power_of_two_below(std::uint64_t bytes) {
  int power = 0;
  while (bytes >>= 1U) ++power;
  return power;
}

void add(SizeBin& bin, const SizeBin& more) {
  bin.least = bin.calls == 0 ? more.least : std::min(bin.least, more.least);
  bin.most = std::max(bin.most, more.most);
  bin.calls += more.calls;
}

StreamTotals totals_of(const RankTrace& rank) {
  StreamTotals totals;
  for (const Operation& operation : rank.operations) {
    if (operation.code != Code::compute && operation.code != Code::finalize)
      ++totals.calls[{operation.code, operation.nonblocking}];
    if (is_collective(operation.code) && !operation.nonblocking)
      totals.collectives.emplace(operation.code, operation.communicator);
    if (is_collective(operation.code) && !operation.nonblocking && (operation.flags & kNotCommutative) != 0)
      totals.non_commutative.insert(operation.code);
    if (is_collective(operation.code) && !operation.nonblocking)
      if (const std::uint64_t bytes = decided_bytes(rank, operation); bytes > 0)
        add(totals.sizes[operation.code][power_of_two_below(bytes)], {bytes, bytes, 1});
    if (!is_send(operation.code) || operation.party == kNoPeer) continue;
    StreamTotals::Sent& sent = totals.sent[{operation.communicator, operation.party}];
    ++sent.messages;
    sent.bytes += std::int64_t{operation.count} * operation.type_size;
  }
  return totals;
}

/// The totals of each rank's calls, made once for those that share them.
class Totals {
 public:
  const StreamTotals& of(const RankTrace& rank) {
    const auto [known, is_new] = known_.try_emplace(rank.operations.data());
    if (is_new) known->second = totals_of(rank);
    return known->second;
  }

 private:
  std::map<const Operation*, StreamTotals> known_;
};

/// Calls `visit(sender, receiver, sent)` for whom a rank sends to, with ranks of the world.
template <typename Visit>
void for_each_receiver(const Trace& trace, Totals& totals, Visit visit) {
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const RankTrace& own = trace.ranks[rank];
    for (const auto& [to, sent] : totals.of(own).sent) {
      const Members& members = *own.communicators[to.first];
      visit(rank, std::size_t{members[static_cast<std::size_t>(own.party(to.second))]}, sent);
    }
  }
}

/// Drops communicators of a size that was kept before.
std::vector<Members> one_of_each_size(const std::vector<Members>& groups) {
  std::vector<Members> kept;
  std::set<std::size_t> sizes;
  for (const Members& group : groups)
    if (sizes.insert(group.size()).second) kept.push_back(group);
  return kept;
}

std::map<std::string, std::vector<Members>> collective_communicators(const Trace& trace, Totals& totals) {
  Members world(trace.ranks.size());
  std::iota(world.begin(), world.end(), 0U);
  std::map<std::string, std::set<Members>> found;
  // Ranks share what they know of a communicator, so each is looked at once and not by every rank.
  std::set<std::pair<std::string, const Members*>> known;
  const auto note = [&](const std::string& name, const Members& members) {
    if (known.emplace(name, &members).second)
      found[name].insert(members == world ? Members{} : members);
  };
  for (const RankTrace& rank : trace.ranks) {
    for (const auto& [code, communicator] : totals.of(rank).collectives)
      note(operation_name(code, false), *rank.communicators[communicator]);
  }
  // SMPI numbers a new communicator by a broadcast among its members.
  if (const std::string broadcast = operation_name(Code::bcast, false);
      found.find(broadcast) != found.end())
    for (const RankTrace& rank : trace.ranks)
      for (std::size_t made = kGivenCommunicators; made < rank.communicators.size(); ++made)
        if (const auto& members = rank.communicators[made]; members != nullptr)
          note(broadcast, *members);
  std::map<std::string, std::vector<Members>> result;
  for (const auto& [name, groups] : found) {
    std::vector<Members> listed(groups.begin(), groups.end());
    std::size_t members = 0;
    for (const Members& group : listed) members += group.size();
    result[name] = members > kMostMembers ? one_of_each_size(listed) : listed;
  }
  return result;
}

}  // namespace

std::vector<std::int64_t> traffic_matrix(const Trace& trace) {
  const std::size_t ranks = trace.ranks.size();
  if (ranks > kMaxMatrixRanks)
    throw TraceError("traffic matrices have at most " + std::to_string(kMaxMatrixRanks) + " ranks");
  std::vector<std::int64_t> bytes(ranks * ranks, 0);
  Totals totals;
  for_each_receiver(trace, totals, [&](std::size_t sender, std::size_t receiver, const auto& sent) {
    bytes[sender * ranks + receiver] += sent.bytes;
  });
  return bytes;
}

TraceSummary summarize(const Trace& trace) {
  TraceSummary summary;
  Totals totals;
  std::map<const double*, double> flops;
  for (const RankTrace& rank : trace.ranks) {
    for (const auto& [call, count] : totals.of(rank).calls)
      summary.calls[operation_name(call.first, call.second)] += count;
    for (const Code code : totals.of(rank).non_commutative) summary.non_commutative.insert(operation_name(code, false));
    for (const auto& [code, bins] : totals.of(rank).sizes)
      for (const auto& [power, bin] : bins) add(summary.sizes[operation_name(code, false)][power], bin);
    const auto [known, is_new] = flops.try_emplace(rank.flops.data(), 0.0);
    if (is_new) known->second = std::accumulate(rank.flops.begin(), rank.flops.end(), 0.0);
    summary.flops += known->second;
  }
  summary.communicators = collective_communicators(trace, totals);
  // Counted as NPB's traffic is published: partners are whom a rank sends to, itself included.
  std::vector<std::set<std::size_t>> partners(trace.ranks.size());
  for_each_receiver(trace, totals, [&](std::size_t sender, std::size_t receiver, const auto& sent) {
    summary.messages += sent.messages;
    summary.bytes += static_cast<std::uint64_t>(sent.bytes);
    partners[sender].insert(receiver);
  });
  summary.least_partners = partners.front().size();
  for (std::size_t rank = 0; rank < partners.size(); ++rank) {
    const std::set<std::size_t>& others = partners[rank];
    for (const std::size_t other : others)
      if (rank <= other || partners[other].count(rank) == 0) ++summary.pairs;
    summary.least_partners = std::min<std::uint64_t>(summary.least_partners, others.size());
    summary.most_partners = std::max<std::uint64_t>(summary.most_partners, others.size());
  }
  return summary;
}

}  // namespace hamtune
