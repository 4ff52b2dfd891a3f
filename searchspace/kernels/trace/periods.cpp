#include "searchspace/kernels/trace/periods.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace hamtune {

namespace {

constexpr std::size_t kShort = 512;        // items up to which every period is tried
constexpr std::size_t kWindow = 8;         // items of a window
constexpr std::size_t kMostPeriods = 32;   // tried in longer sequences
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;

/// Distances from each window of the sequence to the one before that equals it, most common first.
std::vector<std::size_t> common_distances(const std::vector<std::uint32_t>& items) {
  std::uint64_t leaving = 1;
  for (std::size_t item = 0; item < kWindow; ++item) leaving *= kBase;
  std::unordered_map<std::uint64_t, std::size_t> last_seen;
  std::unordered_map<std::size_t, std::size_t> how_often;
  std::uint64_t window = 0;
  for (std::size_t end = 0; end < items.size(); ++end) {
    window = window * kBase + items[end] + 1;
    if (end >= kWindow) window -= leaving * (std::uint64_t{items[end - kWindow]} + 1);
    if (end + 1 < kWindow) continue;
    const auto [seen, is_new] = last_seen.try_emplace(window, end);
    if (!is_new) ++how_often[end - seen->second];
    seen->second = end;
  }
  std::vector<std::pair<std::size_t, std::size_t>> counted(how_often.begin(), how_often.end());
  std::sort(counted.begin(), counted.end(), [](const auto& one, const auto& other) {
    return one.second != other.second ? one.second > other.second : one.first < other.first;
  });
  std::vector<std::size_t> distances;
  for (const auto& [distance, count] : counted) {
    if (distances.size() == kMostPeriods) break;
    distances.push_back(distance);
  }
  return distances;
}

std::vector<std::size_t> periods_to_try(const std::vector<std::uint32_t>& items) {
  if (items.size() > kShort) return common_distances(items);
  std::vector<std::size_t> all;
  for (std::size_t period = 1; 2 * period <= items.size(); ++period) all.push_back(period);
  return all;
}

}  // namespace

std::vector<Repetition> repetitions(const std::vector<std::uint32_t>& items,
                                    std::size_t least_count) {
  std::vector<std::pair<std::size_t, Repetition>> found;  // with the items covered
  for (const std::size_t period : periods_to_try(items)) {
    std::pair<std::size_t, Repetition> longest = {0, {0, 0, 0}};
    std::size_t first = 0;
    for (std::size_t at = 0; at + period <= items.size(); ++at) {
      if (at + period < items.size() && items[at] == items[at + period]) continue;
      const std::size_t covered = at - first + period;
      // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a period is 1 at least
      if (covered > longest.first) longest = {covered, {first, period, covered / period}};
      first = at + 1;
    }
    if (longest.second.count >= least_count) found.push_back(longest);
  }
  std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
    return one.first != other.first ? one.first > other.first
                                    : one.second.period < other.second.period;
  });
  std::vector<Repetition> sorted;
  sorted.reserve(found.size());
  for (const auto& [covered, repetition] : found) sorted.push_back(repetition);
  return sorted;
}

}  // namespace hamtune
