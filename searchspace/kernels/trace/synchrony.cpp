#include "searchspace/kernels/trace/synchrony.hpp"

#include <algorithm>
#include <vector>

namespace hamtune {

namespace {

/// Where the calls of a rank from one call on begin in a list that is in order of calls.
template <typename Item>
auto from_call(const std::vector<Item>& items, std::uint32_t call) {
  return std::lower_bound(items.begin(), items.end(), call,
                          [](const Item& item, std::uint32_t value) { return item.call < value; });
}

/// Whether rank 0 leads to all others, over messages in their direction or against it.
bool reaches_all(const AllCalls& all, const Cut& first, const Cut& last, bool forwards) {
  std::vector<bool> reached(all.ranks(), false);
  std::vector<bool> entered;  // of each context
  std::vector<std::uint32_t> open{0};
  std::size_t count = 1;
  reached[0] = true;
  const auto reach = [&](std::uint32_t rank) {
    if (reached[rank]) return;
    reached[rank] = true;
    ++count;
    open.push_back(rank);
  };
  while (!open.empty()) {
    const std::uint32_t rank = open.back();
    open.pop_back();
    const Calls& calls = all.of(rank);
    for (auto end = from_call(calls.messages, first[rank]); end != calls.messages.end() && end->call < last[rank]; ++end)
      if (end->sends == forwards) reach(end->peer);
    for (auto call = from_call(calls.collectives, first[rank]);
         call != calls.collectives.end() && call->call < last[rank]; ++call) {
      if (call->context >= entered.size()) entered.resize(call->context + 1, false);
      if (entered[call->context]) continue;
      entered[call->context] = true;
      for (const auto member : all.members(call->context)) reach(static_cast<std::uint32_t>(member));
    }
  }
  return count == all.ranks();
}

}  // namespace

bool synchronises(const AllCalls& all, const Cut& first, const Cut& last) {
  return reaches_all(all, first, last, true) && reaches_all(all, first, last, false);
}

}  // namespace hamtune
