#include "searchspace/kernels/mapping/symmetric_traffic.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "searchspace/kernels/trace/row_sum.hpp"

namespace hamtune {
namespace {

/// Each pair in the row of its lower rank, by the higher one.
struct UpperRows {
  std::vector<std::size_t> first;
  std::vector<std::uint32_t> higher;
  std::vector<std::int64_t> size;
};

/// Calls `visit(lower, higher, size)` for what counts of an entry.
template <typename Visit>
void as_pair(std::size_t one, std::size_t other, std::int64_t size, const Visit& visit) {
  if (one != other && size > 0) visit(std::min(one, other), std::max(one, other), size);
}

/// Entries by their lower ranks. `each` calls what it gets for every entry, the same ones each time.
template <typename Each>
UpperRows by_lower_rank(std::size_t ranks, const Each& each) {
  UpperRows rows;
  std::vector<std::size_t> next(ranks + 1, 0);
  each([&](std::size_t one, std::size_t other, std::int64_t size) {
    as_pair(one, other, size, [&](std::size_t lower, std::size_t higher, std::int64_t) {
      // A number below 0 is a very high one here.
      if (higher >= ranks) throw std::out_of_range("traffic of a rank that there is not");
      ++next[lower + 1];
    });
  });
  std::partial_sum(next.begin(), next.end(), next.begin());
  rows.first = next;
  rows.higher.resize(next[ranks]);
  rows.size.resize(next[ranks]);
  each([&](std::size_t one, std::size_t other, std::int64_t size) {
    as_pair(one, other, size, [&](std::size_t lower, std::size_t higher, std::int64_t bytes) {
      const std::size_t at = next[lower]++;
      rows.higher[at] = static_cast<std::uint32_t>(higher);
      rows.size[at] = bytes;
    });
  });
  return rows;
}

/// Sorts rows, and adds up what is there of the same pair; in place, since a row does not get longer.
void merge(UpperRows& rows) {
  const std::size_t ranks = rows.first.size() - 1;
  RowSum sum(ranks);
  std::size_t kept = 0;
  for (std::size_t lower = 0; lower < ranks; ++lower) {
    for (std::size_t at = rows.first[lower]; at < rows.first[lower + 1]; ++at)
      sum.add(rows.higher[at], rows.size[at]);
    rows.first[lower] = kept;
    sum.finish([&](std::uint32_t higher, std::int64_t size) {
      rows.higher[kept] = higher;
      rows.size[kept++] = size;
    });
  }
  rows.first[ranks] = kept;
  rows.higher.resize(kept);
  rows.size.resize(kept);
  rows.higher.shrink_to_fit();
  rows.size.shrink_to_fit();
}

/// Each pair in both rows. Lower partners of a rank come before higher ones, since their rows do.
SparseTraffic both_ways(const UpperRows& rows) {
  const std::size_t ranks = rows.first.size() - 1;
  SparseTraffic traffic;
  traffic.first.assign(ranks + 1, 0);
  for (std::size_t lower = 0; lower < ranks; ++lower) {
    traffic.first[lower + 1] += static_cast<std::int64_t>(rows.first[lower + 1] - rows.first[lower]);
    for (std::size_t at = rows.first[lower]; at < rows.first[lower + 1]; ++at)
      ++traffic.first[rows.higher[at] + 1];
  }
  std::partial_sum(traffic.first.begin(), traffic.first.end(), traffic.first.begin());
  traffic.partner.resize(2 * rows.higher.size());
  traffic.size.resize(2 * rows.size.size());
  std::vector<std::int64_t> next = traffic.first;
  const auto put = [&](std::size_t rank, std::size_t partner, std::int64_t size) {
    const auto at = static_cast<std::size_t>(next[rank]++);
    traffic.partner[at] = static_cast<std::uint32_t>(partner);
    traffic.size[at] = size;
  };
  for (std::size_t lower = 0; lower < ranks; ++lower)
    for (std::size_t at = rows.first[lower]; at < rows.first[lower + 1]; ++at) {
      put(lower, rows.higher[at], rows.size[at]);
      put(rows.higher[at], lower, rows.size[at]);
    }
  return traffic;
}

template <typename Each>
SparseTraffic added_up(std::size_t ranks, const Each& each) {
  UpperRows rows = by_lower_rank(ranks, each);
  merge(rows);
  return both_ways(rows);
}

}  // namespace

SparseTraffic symmetric_traffic(std::size_t ranks, const PairList& pairs) {
  return added_up(ranks, [&](const auto& visit) {
    for (std::size_t at = 0; at < pairs.count; ++at)
      visit(static_cast<std::size_t>(pairs.one[at]), static_cast<std::size_t>(pairs.other[at]),
            pairs.size[at]);
  });
}

SparseTraffic symmetric_traffic(const SentView& sent) {
  return added_up(sent.ranks, [&](const auto& visit) {
    for (std::size_t sender = 0; sender < sent.ranks; ++sender)
      for (std::int64_t at = sent.first[sender]; at < sent.first[sender + 1]; ++at)
        visit(sender, std::size_t{sent.receiver[at]}, sent.size[at]);
  });
}

}  // namespace hamtune
