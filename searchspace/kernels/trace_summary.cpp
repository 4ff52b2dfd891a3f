#include "searchspace/kernels/trace_summary.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "searchspace/kernels/trace_reader.hpp"

namespace hamtune {

namespace {

constexpr std::size_t kMostMembers = 65'536;  // listed of a collective's communicators
constexpr std::size_t kGivenCommunicators = 2;  // the world and self come first
/// Calls `visit(sender, receiver, bytes)` for every message, with ranks of the world.
template <typename Visit>
void for_each_message(const Trace& trace, Visit visit) {
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const RankTrace& operations = trace.ranks[rank];
    for (const Operation& operation : operations.operations) {
      if (!is_send(operation.code) || operation.peer == kNoPeer) continue;
      const Members& members = *operations.communicators[operation.communicator];
      visit(rank, std::size_t{members[static_cast<std::size_t>(operation.peer)]},
            std::int64_t{operation.count} * operation.type_size);
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

std::map<std::string, std::vector<Members>> collective_communicators(const Trace& trace) {
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
    std::set<std::pair<Code, std::uint32_t>> seen;  // most calls are on communicators seen before
    for (const Operation& operation : rank.operations) {
      if (!is_collective(operation.code) || operation.nonblocking) continue;
      if (!seen.emplace(operation.code, operation.communicator).second) continue;
      const Members& members = *rank.communicators[operation.communicator];
      note(operation_name(operation.code, false), members);
    }
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
  for_each_message(trace, [&](std::size_t sender, std::size_t receiver, std::int64_t size) {
    bytes[sender * ranks + receiver] += size;
  });
  return bytes;
}

TraceSummary summarize(const Trace& trace) {
  TraceSummary summary;
  for (const RankTrace& rank : trace.ranks) {
    for (const Operation& operation : rank.operations)
      if (operation.code != Code::compute && operation.code != Code::finalize)
        ++summary.calls[operation_name(operation.code, operation.nonblocking)];
    for (const double flops : rank.flops) summary.flops += flops;
  }
  summary.communicators = collective_communicators(trace);
  // Counted as NPB's traffic is published: partners are whom a rank sends to, itself included.
  std::vector<std::set<std::size_t>> partners(trace.ranks.size());
  for_each_message(trace, [&](std::size_t sender, std::size_t receiver, std::int64_t size) {
    ++summary.messages;
    summary.bytes += static_cast<std::uint64_t>(size);
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
