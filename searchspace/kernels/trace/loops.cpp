#include "searchspace/kernels/trace/loops.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "searchspace/kernels/trace/periods.hpp"

namespace hamtune {

namespace {

constexpr std::int32_t kIterationLevel = 1;  // of marks
constexpr double kLeastShare = 0.05;  // of a stretch's calls that a loop worth cutting covers
constexpr double kLikeVolume = 1.1;   // most bytes of an iteration over least, where they may vary
constexpr double kLeastLikeVolume = 2;  // the same for iterations that nothing but marks tells
// A loop takes memory with iterations x ranks, which a file of some bytes can make without end.
constexpr std::size_t kMostPlaces = std::size_t{1} << 25U;  // of ranks in iterations, 4 bytes each
constexpr std::size_t kLeastTakingPart = 4;  // where there are more: one of so many ranks, in the mean
constexpr double kMostlyAlike = 0.8;  // share of marked iterations that make the loop regular

constexpr std::array<Likeness, 3> kLikenesses = {Likeness::exact, Likeness::sizes,
                                                 Likeness::shape};
constexpr std::size_t kMostTried = 12;  // repetitions that might be loops

Regularity regularity_of(Likeness likeness) {
  switch (likeness) {
    case Likeness::exact:
      return Regularity::exact;
    case Likeness::sizes:
      return Regularity::sizes;
    default:
      return Regularity::shape;
  }
}

bool within(const Cut& cut, const Cut& limit) {
  for (std::size_t rank = 0; rank < cut.size(); ++rank)
    if (cut[rank] > limit[rank]) return false;
  return true;
}

std::size_t busiest_rank(const Cut& first, const Cut& last) {
  std::size_t busiest = 0;
  for (std::size_t rank = 1; rank < first.size(); ++rank)
    if (last[rank] - first[rank] > last[busiest] - first[busiest]) busiest = rank;
  return busiest;
}

bool makes_communicators(const AllCalls& all, const Cut& first, const Cut& last) {
  for (std::size_t rank = 0; rank < all.ranks(); ++rank) {
    const auto& settings = all.of(rank).settings;
    const auto next = std::lower_bound(settings.begin(), settings.end(), first[rank]);
    if (next != settings.end() && *next < last[rank]) return true;
  }
  return false;
}

/// Whether iteration `index` and the next are alike in every rank.
bool followed_by_like(const AllCalls& all, const std::vector<Cut>& cuts, std::size_t index,
                      Likeness likeness) {
  for (std::size_t rank = 0; rank < all.ranks(); ++rank)
    if (!all.alike(rank, cuts[index][rank], cuts[index + 1][rank], cuts[index + 1][rank],
                   cuts[index + 2][rank], likeness))
      return false;
  return true;
}

/// Whether the iteration before `index` is like it but for what is computed before its first call:
/// that belongs to whatever came before the loop.
bool preceded_by_first(const AllCalls& all, const std::vector<Cut>& cuts, std::size_t index,
                       Likeness likeness) {
  for (std::size_t rank = 0; rank < all.ranks(); ++rank) {
    const std::uint32_t first = cuts[index - 1][rank];
    const std::uint32_t next = cuts[index][rank];
    const std::uint32_t end = cuts[index + 1][rank];
    if (first == next && next == end) continue;
    if (first == next || next == end || !all.same_call(rank, first, next, likeness) ||
        !all.alike(rank, first + 1, next, next + 1, end, likeness))
      return false;
  }
  return true;
}

/// The longest run of cuts between which all iterations are alike.
std::vector<Cut> longest_regular(const AllCalls& all, const std::vector<Cut>& cuts,
                                 Likeness likeness) {
  std::size_t best_first = 0;
  std::size_t best_length = 0;  // iterations
  std::size_t first = 0;
  for (std::size_t index = 0; index + 1 < cuts.size(); ++index) {
    if (index + 1 - first > best_length) {
      best_first = first;
      best_length = index + 1 - first;
    }
    if (index + 2 < cuts.size() && !followed_by_like(all, cuts, index, likeness))
      first = index + 1;
  }
  if (best_first > 0 && preceded_by_first(all, cuts, best_first, likeness)) {
    --best_first;
    ++best_length;
  }
  const auto begin = cuts.begin() + static_cast<std::ptrdiff_t>(best_first);
  return {begin, begin + static_cast<std::ptrdiff_t>(best_length) + 1};
}

double sum(const std::int32_t* counts, std::int32_t length) {
  return std::accumulate(counts, counts + length, 0.0);
}

/// The payload of a call in place of those of which then only what is received is recorded, as in
/// collective_messages.cpp.
std::optional<double> volume_in_place(const RankTrace& rank, const Operation& operation) {
  const std::int32_t* const values = rank.values.data() + operation.more;
  switch (operation.code) {
    case Code::allgather:
    case Code::alltoall:
      return static_cast<double>(values[0]) * values[1];
    case Code::allgatherv:
      return static_cast<double>(values[2 + rank.places[operation.communicator]]) * values[0];
    case Code::alltoallv:
      return sum(values + 2 + values[1], values[1]) * values[0];
    case Code::alltoallw:
      return sum(values + 1 + values[0], values[0]);
    default:
      return std::nullopt;
  }
}

/// The payload of a call, sent and received.
double volume(const RankTrace& rank, const Operation& operation) {
  const std::int32_t* const values = rank.values.data() + operation.more;
  const double bytes = static_cast<double>(operation.count) * operation.type_size;
  if (is_collective(operation.code) && (operation.flags & kInPlace) != 0)
    if (const std::optional<double> received = volume_in_place(rank, operation)) return bytes + *received;
  switch (operation.code) {
    case Code::scatterv:
      return bytes + sum(values + 3, values[2]) * operation.type_size;
    case Code::alltoallv:
      return bytes + sum(values + 2, values[1]) * operation.type_size;
    case Code::alltoallw:
      return bytes + sum(values + 1, values[0]);
    case Code::reduce_scatter:
      return bytes + sum(values + 1, values[0]) * operation.type_size;
    default:
      return bytes;
  }
}

/// Whether no iteration moves more than so many times the bytes of another.
bool of_like_volume(const AllCalls& all, const std::vector<Cut>& cuts, double factor) {
  double least = 0;
  double most = 0;
  for (std::size_t index = 0; index + 1 < cuts.size(); ++index) {
    double bytes = 0;
    for (std::size_t rank = 0; rank < all.ranks(); ++rank) {
      const RankTrace& trace = all.trace().ranks[rank];
      for (std::uint32_t call = cuts[index][rank]; call < cuts[index + 1][rank]; ++call)
        bytes += volume(trace, trace.operations[all.of(rank).operation[call]]);
    }
    least = index == 0 ? bytes : std::min(least, bytes);
    most = std::max(most, bytes);
  }
  return most <= factor * least;
}

/// Most cuts of a loop between two cuts.
std::size_t most_cuts(const Cut& first, const Cut& last) {
  std::size_t calls = 0;
  for (std::size_t rank = 0; rank < first.size(); ++rank) calls += last[rank] - first[rank];
  return std::max(kMostPlaces, kLeastTakingPart * calls) / first.size();
}

/// The loop that repeats `repetition` of the calls of one rank, which begin at `first`.
std::optional<Loop> follow_repetition(const AllCalls& all, const Cut& first, const Cut& last,
                                      std::size_t rank, const Repetition& repetition,
                                      std::size_t least, Likeness likeness) {
  MovingCut moving(all, first);
  const std::size_t most = most_cuts(first, last);
  const auto period = static_cast<std::uint32_t>(repetition.period);
  const auto end = static_cast<std::uint32_t>(first[rank] + repetition.first +
                                              repetition.period * repetition.count);
  std::vector<Cut> cuts;
  auto wanted = static_cast<std::uint32_t>(first[rank] + repetition.first);
  while (wanted <= end) {
    Cut targets = moving.at();
    targets[rank] = wanted;
    const Cut& reached = moving.reach(targets);
    if (!within(reached, last)) break;
    // What ties the first cut to others may move it; by the period, no later one may move again.
    if (!cuts.empty() && reached[rank] != wanted) break;
    if (cuts.size() == most) return std::nullopt;
    cuts.push_back(reached);
    wanted = reached[rank] + period;
  }
  if (cuts.size() < 2) return std::nullopt;
  cuts = longest_regular(all, cuts, likeness);
  if (cuts.size() <= least || makes_communicators(all, cuts.front(), cuts.back()))
    return std::nullopt;
  if (likeness != Likeness::exact && !of_like_volume(all, cuts, kLikeVolume)) return std::nullopt;
  return Loop{std::move(cuts), regularity_of(likeness), false};
}

std::optional<Loop> longest_loop(const AllCalls& all, const Cut& first, const Cut& last,
                                 std::size_t least) {
  const std::size_t rank = busiest_rank(first, last);
  const std::uint32_t calls = last[rank] - first[rank];
  for (const Likeness likeness : kLikenesses) {
    std::vector<std::uint32_t> signatures(calls);
    for (std::uint32_t call = 0; call < calls; ++call)
      signatures[call] = all.signature(rank, first[rank] + call, likeness);
    std::size_t tried = 0;
    for (const Repetition& repetition : repetitions(signatures, least)) {
      const auto covered = static_cast<double>(repetition.period * repetition.count);
      if (covered < kLeastShare * calls || ++tried > kMostTried) break;
      auto loop = follow_repetition(all, first, last, rank, repetition, least, likeness);
      if (loop) return loop;
    }
  }
  return std::nullopt;
}

/// Of each rank the calls before which its marks of an iteration stand.
std::vector<std::vector<std::uint32_t>> marked_calls(const AllCalls& all) {
  std::vector<std::vector<std::uint32_t>> marked;
  for (std::size_t rank = 0; rank < all.ranks(); ++rank) {
    const auto& operations = all.of(rank).operation;
    marked.emplace_back();
    for (const Mark& mark : all.trace().ranks[rank].marks)
      if (mark.level == kIterationLevel)
        marked.back().push_back(static_cast<std::uint32_t>(
            std::lower_bound(operations.begin(), operations.end(), mark.before) -
            operations.begin()));
  }
  return marked;
}

/// The end of the last marked iteration, where it is like the one before it.
std::optional<Cut> end_of_last(const AllCalls& all, const std::vector<Cut>& cuts,
                               MovingCut& moving) {
  const Cut& start = cuts.back();
  const Cut& previous = cuts[cuts.size() - 2];
  Cut end = start;
  for (std::size_t rank = 0; rank < all.ranks(); ++rank) end[rank] += start[rank] - previous[rank];
  if (!within(end, ending(all))) return std::nullopt;
  const std::vector<Cut> last_two = {previous, start, end};
  if (!followed_by_like(all, last_two, 0, Likeness::shape) &&
      !(cuts.size() == 2 && preceded_by_first(all, last_two, 1, Likeness::shape)))
    return std::nullopt;
  return moving.reach(end) == end ? std::optional(end) : std::nullopt;
}

std::optional<Loop> marked_loop(const AllCalls& all, std::size_t least) {
  const auto marked = marked_calls(all);
  const std::size_t count = marked.front().size();
  for (const auto& calls : marked)
    if (calls.size() != count) return std::nullopt;
  if (count < 2) return std::nullopt;
  MovingCut moving(all, beginning(all));
  std::vector<Cut> cuts;
  for (std::size_t index = 0; index < count; ++index) {
    Cut targets(all.ranks());
    for (std::size_t rank = 0; rank < all.ranks(); ++rank) targets[rank] = marked[rank][index];
    cuts.push_back(moving.reach(targets));
    if (index + 1 < count)
      for (std::size_t rank = 0; rank < all.ranks(); ++rank)
        if (cuts.back()[rank] > marked[rank][index + 1]) return std::nullopt;
  }
  if (const auto end = end_of_last(all, cuts, moving)) cuts.push_back(*end);
  Loop loop = {cuts, Regularity::uneven, true};
  for (const Likeness likeness : kLikenesses) {
    std::vector<Cut> regular = longest_regular(all, cuts, likeness);
    if (static_cast<double>(regular.size()) < kMostlyAlike * static_cast<double>(cuts.size()))
      continue;
    if (likeness != Likeness::exact && !of_like_volume(all, regular, kLikeVolume)) continue;
    loop.cuts = std::move(regular);
    loop.regularity = regularity_of(likeness);
    break;
  }
  // A sweep over sizes is no loop: a few of its steps say nothing of the others.
  if (loop.regularity == Regularity::uneven && !of_like_volume(all, cuts, kLeastLikeVolume))
    return std::nullopt;
  if (loop.iterations() < least || makes_communicators(all, loop.cuts.front(), loop.cuts.back()))
    return std::nullopt;
  return loop;
}

/// A loop with those before and behind it, up to the given cuts.
std::vector<Loop> with_neighbours(const AllCalls& all, const Cut& first, const Cut& last,
                                  Loop loop, std::size_t least) {
  std::vector<Loop> loops = find_loops(all, first, loop.cuts.front(), least);
  std::vector<Loop> behind = find_loops(all, loop.cuts.back(), last, least);
  loops.push_back(std::move(loop));
  for (Loop& other : behind) loops.push_back(std::move(other));
  return loops;
}

}  // namespace

Cut beginning(const AllCalls& all) { return Cut(all.ranks(), 0); }

Cut ending(const AllCalls& all) {
  Cut cut;
  for (std::size_t rank = 0; rank < all.ranks(); ++rank) cut.push_back(all.of(rank).size() - 1);
  return cut;
}

std::vector<Loop> find_loops(const AllCalls& all, const Cut& first, const Cut& last,
                             std::size_t least) {
  auto loop = longest_loop(all, first, last, least);
  if (!loop) return {};
  return with_neighbours(all, first, last, std::move(*loop), least);
}

std::vector<Loop> find_outer_loops(const AllCalls& all, std::size_t least) {
  const Cut first = beginning(all);
  const Cut last = ending(all);
  auto loop = marked_loop(all, least);
  if (!loop) return find_loops(all, first, last, least);
  return with_neighbours(all, first, last, std::move(*loop), least);
}

}  // namespace hamtune
