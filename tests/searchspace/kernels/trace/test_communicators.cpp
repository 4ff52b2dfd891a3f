// Who is in which communicator, where many ranks share their calls.
#include "searchspace/kernels/trace/communicators.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/native.hpp"

namespace hamtune {
namespace {

/// A trace whose ranks all make communicators of some ranks of the world, so many times, by the same calls.
Trace trace_of(std::size_t ranks, Code code, const Members& group, std::size_t times) {
  std::vector<std::int32_t> values;
  std::vector<Operation> operations(times);
  std::vector<std::uint32_t> creations(times);
  std::iota(creations.begin(), creations.end(), 0U);
  for (Operation& operation : operations) {
    operation.code = code;
    operation.more = static_cast<std::uint32_t>(values.size());
    values.push_back(static_cast<std::int32_t>(group.size()));
    values.insert(values.end(), group.begin(), group.end());
  }
  RankTrace rank;
  rank.operations = std::move(operations);
  rank.values = std::move(values);
  rank.creations = std::move(creations);
  Trace trace;
  trace.ranks.assign(ranks, rank);
  return trace;
}

Members first(std::uint32_t ranks) {
  Members members(ranks);
  std::iota(members.begin(), members.end(), 0U);
  return members;
}

// If each rank read the list of the group anew, that would take minutes.
TEST_CASE("groups of very many ranks that share their calls are made in time") {
  constexpr std::uint32_t kRanks = 32'768;
  constexpr std::size_t kTimes = 30;
  for (const Code code : {Code::comm_create_group, Code::comm_create}) {
    const Members everyone = first(kRanks);
    Trace trace = trace_of(kRanks, code, everyone, kTimes);
    resolve_communicators(trace);
    bool right = true;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      const RankTrace& made = trace.ranks[rank];
      right = right && made.communicators.size() == 2 + kTimes && made.places.back() == rank &&
              made.communicators.back() == trace.ranks[0].communicators.back();
    }
    CHECK(right);
    CHECK(*trace.ranks[0].communicators.back() == everyone);
  }
}

TEST_CASE("ranks outside of a group get no communicator, whoever shares their calls") {
  constexpr std::uint32_t kRanks = 32'768;
  constexpr std::size_t kTimes = 30;
  Members group = first(kRanks / 2);
  std::reverse(group.begin(), group.end());
  Trace trace = trace_of(kRanks, Code::comm_create, group, kTimes);
  resolve_communicators(trace);
  bool right = true;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const RankTrace& made = trace.ranks[rank];
    right = right && made.communicators.size() == 2 + kTimes &&
            (made.communicators.back() != nullptr) == (rank < group.size()) &&
            made.places.back() == (rank < group.size() ? group.size() - 1 - rank : 0);
  }
  CHECK(right);
  CHECK(*trace.ranks[0].communicators.back() == group);
}

}  // namespace
}  // namespace hamtune
