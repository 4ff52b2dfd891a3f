#include "searchspace/kernels/trace/truncation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "searchspace/kernels/trace/call_sharing.hpp"
#include "searchspace/kernels/trace/rank_decoder.hpp"
#include "searchspace/kernels/trace/synchrony.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {

namespace {

constexpr std::size_t kDeepest = 3;       // loops within each other
constexpr std::size_t kLeastListed = 3;   // iterations
constexpr std::size_t kLeastUnlike = 6;   // iterations kept where they differ
constexpr std::uint64_t kMostCalls = 100'000'000;  // some 3 GB
constexpr double kLikeFlops = 1.5;        // times as many as in another iteration, where both are compared
constexpr double kSameFlops = 1e-9;       // relative difference that sums of equal numbers may have
constexpr std::uint8_t kPcontrol = static_cast<std::uint8_t>(Code::pcontrol);

/// How often what is played once counts: by the estimate, by the first and by the last of the
/// settled iterations alone.
using Times = std::array<double, 3>;

/// A stretch of the trace that is kept.
struct Piece {
  Cut first;
  Cut last;
  Times times;
  bool own;                        // whether each rank adds what it took itself, and not what all took in the mean
  std::int32_t group;              // of the same part of different iterations; 0 of a part by itself
  std::vector<double> more_flops;  // of each rank, what its computations are multiplied by

  std::int32_t level() const { return (own ? kOwnStretch : kMeanStretch) + kLevelsOfGroup * group; }
};

/// How what lies in an iteration counts.
struct Counting {
  Times times;
  bool own;
  std::int32_t first_group;        // of its parts, one after the other; 0: each by itself
  std::vector<double> more_flops;
};

class Planner {
 public:
  Planner(const AllCalls& all, std::size_t kept) : all_(all), kept_(kept) {
    for (std::size_t rank = 0; rank < all.ranks(); ++rank) {
      std::vector<double>& sums = flops_.emplace_back(1, 0.0);
      const RankTrace& trace = all.trace().ranks[rank];
      for (const Operation& operation : trace.operations)
        sums.push_back(sums.back() +
                       (operation.code == Code::compute ? trace.flops[operation.more] : 0.0));
    }
  }

  std::vector<Piece> plan() {
    const auto loops = find_outer_loops(all_, kept_ + 1);
    if (loops.empty()) throw CannotCut("it has no loop of more than " + std::to_string(kept_) +
                                       " iterations that all ranks go through together");
    Cut end;
    for (std::size_t rank = 0; rank < all_.ranks(); ++rank) end.push_back(all_.of(rank).size());
    stretch(beginning(all_), end, loops, {{1, 1, 1}, true, 0, std::vector<double>(all_.ranks(), 1.0)}, 1);
    return std::move(pieces_);
  }

 private:
  void stretch(const Cut& first, const Cut& last, const std::vector<Loop>& loops, const Counting& counting,
               std::size_t depth) {
    Cut at = first;
    std::int32_t group = counting.first_group;
    const auto keep = [&](const Cut& to) {
      pieces_.push_back({at, to, counting.times, counting.own, group, counting.more_flops});
      if (group != 0) ++group;
    };
    for (const Loop& loop : loops) {
      keep(loop.cuts.front());
      add(loop, counting, depth);
      at = loop.cuts.back();
    }
    keep(last);
  }

  void add(const Loop& loop, const Counting& counting, std::size_t depth) {
    const std::vector<std::size_t> chosen = choose(loop);
    if (chosen.size() >= loop.iterations()) {
      Counting whole = counting;
      whole.first_group = 0;
      stretch(loop.cuts.front(), loop.cuts.back(), {}, whole, kDeepest);
      return;
    }
    std::vector<std::vector<Loop>> within;
    for (const std::size_t place : chosen)
      within.push_back(depth < kDeepest ? loops_within(loop.cuts[place], loop.cuts[place + 1]) : std::vector<Loop>());
    const std::int32_t first_group = new_groups(loop, chosen, within);
    const std::vector<double> more = balance(loop, chosen, counting.more_flops);
    for (std::size_t place = 0; place < chosen.size(); ++place) {
      Counting of_this{counting.times, counting.own && depth == 1 && is_even(loop), place == 0 ? 0 : first_group, more};
      for (std::size_t estimate = 0; estimate < of_this.times.size(); ++estimate)
        of_this.times[estimate] *= iterations_meant(place, chosen.size(), loop.iterations(), estimate);
      stretch(loop.cuts[chosen[place]], loop.cuts[chosen[place] + 1], within[place], of_this, depth + 1);
    }
  }

  /// A group for every part of an iteration, where several iterations count that are the same; the first, or 0.
  std::int32_t new_groups(const Loop& loop, const std::vector<std::size_t>& chosen,
                          const std::vector<std::vector<Loop>>& within) {
    if (!is_even(loop) || chosen.size() < 3) return 0;
    for (std::size_t place = 2; place < chosen.size(); ++place)
      if (!has_same_parts(loop, chosen[1], within[1], chosen[place], within[place]) ||
          !computes_alike(loop, chosen[1], chosen[place]))
        return 0;
    const std::int32_t first = groups_ + 1;
    groups_ += static_cast<std::int32_t>(within[1].size() + 1);
    return first;
  }

  /// Whether the loops within two iterations lie at the same calls of these, in every rank.
  bool has_same_parts(const Loop& loop, std::size_t one, const std::vector<Loop>& within_one, std::size_t other,
                      const std::vector<Loop>& within_other) const {
    if (within_one.size() != within_other.size()) return false;
    for (std::size_t part = 0; part < within_one.size(); ++part)
      for (std::size_t rank = 0; rank < all_.ranks(); ++rank) {
        const auto at = [&](const Cut& cut, std::size_t iteration) { return cut[rank] - loop.cuts[iteration][rank]; };
        if (at(within_one[part].cuts.front(), one) != at(within_other[part].cuts.front(), other) ||
            at(within_one[part].cuts.back(), one) != at(within_other[part].cuts.back(), other))
          return false;
      }
    return true;
  }

  /// Whether no rank computes far more in one of two iterations: the one that takes longer may not count, and what is
  /// computed has to.
  bool computes_alike(const Loop& loop, std::size_t one, std::size_t other) const {
    for (std::size_t rank = 0; rank < all_.ranks(); ++rank) {
      const auto [less, more] = std::minmax({flops_between(rank, loop.cuts[one], loop.cuts[one + 1]),
                                             flops_between(rank, loop.cuts[other], loop.cuts[other + 1])});
      if (more > kLikeFlops * less) return false;
    }
    return true;
  }

  /// Of loops within an iteration those that hold the ranks together. In others, such as the planes of a wavefront,
  /// what the ranks take for the kept iterations is how far they can run ahead and not what an iteration takes.
  /// No rank can run ahead for long in those that are cut: who takes longer in one iteration takes less in another, so
  /// that all add the mean.
  std::vector<Loop> loops_within(const Cut& first, const Cut& last) const {
    std::vector<Loop> found = find_loops(all_, first, last, kept_ + 1);
    found.erase(std::remove_if(found.begin(), found.end(),
                               [this](const Loop& loop) {
                                 return !synchronises(all_, loop.cuts[0], loop.cuts[1]);
                               }),
                found.end());
    return found;
  }

  /// How many iterations of the whole loop a kept one stands for, by one of the estimates.
  static double iterations_meant(std::size_t place, std::size_t kept, std::size_t iterations,
                                 std::size_t estimate) {
    const auto all = static_cast<double>(iterations);
    if (place == 0) return 1;
    if (estimate == 1) return place == 1 ? all - 1 : 0;
    if (estimate == 2) return place + 1 == kept ? all - 1 : 0;
    return (all - 1) / static_cast<double>(kept - 1);
  }

  static bool is_even(const Loop& loop) {
    return loop.regularity == Regularity::exact || loop.regularity == Regularity::sizes;
  }

  /// The iterations to keep: the first ones where all are the same, else spread over the loop, and
  /// more where not even peers are the same.
  std::vector<std::size_t> choose(const Loop& loop) const {
    const std::size_t count =
        std::min(is_even(loop) ? kept_ : std::max(2 * kept_, kLeastUnlike), loop.iterations());
    std::vector<std::size_t> chosen;
    for (std::size_t place = 0; place < count; ++place)
      chosen.push_back(loop.regularity == Regularity::exact
                           ? place
                           : place * (loop.iterations() - 1) / (count - 1));
    return chosen;
  }

  double flops_between(std::size_t rank, const Cut& first, const Cut& last) const {
    const Calls& calls = all_.of(rank);
    return flops_[rank][calls.first_operation(last[rank])] -
           flops_[rank][calls.first_operation(first[rank])];
  }

  /// What the computations kept have to be multiplied by to stand for all.
  std::vector<double> balance(const Loop& loop, const std::vector<std::size_t>& chosen,
                              const std::vector<double>& more_flops) const {
    std::vector<double> balanced = more_flops;
    for (std::size_t rank = 0; rank < all_.ranks(); ++rank) {
      const double all = flops_between(rank, loop.cuts.front(), loop.cuts.back());
      double counted = 0;
      for (std::size_t place = 0; place < chosen.size(); ++place) {
        counted +=
            iterations_meant(place, chosen.size(), loop.iterations(), 0) *
            flops_between(rank, loop.cuts[chosen[place]], loop.cuts[chosen[place] + 1]);
      }
      if (counted > 0 && std::abs(all / counted - 1) > kSameFlops) balanced[rank] *= all / counted;
    }
    return balanced;
  }

  const AllCalls& all_;
  const std::size_t kept_;
  std::vector<std::vector<double>> flops_;  // sums over the operations of each rank
  std::vector<Piece> pieces_;
  std::int32_t groups_ = 0;
};

/// Joins neighbours that count alike, in time though not in the trace, into stretches between marks; parts of different
/// iterations, which are compared, stay apart.
class Marker {
 public:
  /// Whether a mark stands before the piece.
  bool before(const Piece& piece) {
    if (piece.times == times_ && piece.level() == level_ && piece.group == 0) return false;
    if (marks_ > 0) add_weights();
    times_ = piece.times;
    level_ = piece.level();
    ++marks_;
    return true;
  }

  /// The estimate, and those that differ from it.
  std::vector<std::vector<double>> weights() && {
    const auto is_first = [this](const std::vector<double>& list) { return list == weights_[0]; };
    if (!weights_.empty())
      weights_.erase(std::remove_if(weights_.begin() + 1, weights_.end(), is_first),
                     weights_.end());
    return std::move(weights_);
  }

 private:
  void add_weights() {
    weights_.resize(times_.size());
    for (std::size_t estimate = 0; estimate < times_.size(); ++estimate)
      weights_[estimate].push_back(times_[estimate] - 1);
  }

  Times times_ = {1, 1, 1};
  std::int32_t level_ = kOwnStretch;
  std::size_t marks_ = 0;
  std::vector<std::vector<double>> weights_;
};

/// The bytes of a rank's operations [first, last) without marks, computations multiplied.
void copy(const std::vector<std::uint8_t>& block, const DecodedRank& rank, std::size_t first,
          std::size_t last, double more_flops, std::vector<std::uint8_t>& into) {
  const auto offset = [&](std::size_t operation) {
    return operation < rank.offsets.size() ? std::size_t{rank.offsets[operation]} : block.size();
  };
  const std::size_t base = into.size();
  const std::size_t begin = offset(first);
  const std::size_t end = offset(last);
  into.insert(into.end(), block.begin() + static_cast<std::ptrdiff_t>(begin),
              block.begin() + static_cast<std::ptrdiff_t>(end));
  if (more_flops != 1.0)
    for (std::size_t operation = first; operation < last; ++operation) {
      if (rank.trace.operations[operation].code != Code::compute) continue;
      const double flops =
          rank.trace.flops[rank.trace.operations[operation].more] * more_flops;
      std::memcpy(into.data() + base + (offset(operation) - begin) + 1, &flops, sizeof flops);
    }
  const auto& marks = rank.mark_offsets;
  const auto from = std::lower_bound(marks.begin(), marks.end(), begin);
  const auto to = std::lower_bound(marks.begin(), marks.end(), end);
  for (auto mark = to; mark != from;) {
    const std::size_t start = base + *--mark - begin;
    std::size_t length = 2;  // the code and at least one byte of the level
    while ((into[start + length - 1] & 0x80U) != 0) ++length;
    const auto erased = into.begin() + static_cast<std::ptrdiff_t>(start);
    into.erase(erased, erased + static_cast<std::ptrdiff_t>(length));
  }
}

void describe(const AllCalls& all, const std::vector<Loop>& loops, std::size_t depth,
              std::vector<LoopSummary>& summaries) {
  for (const Loop& loop : loops) {
    double calls = 0;
    for (std::size_t rank = 0; rank < all.ranks(); ++rank)
      calls += loop.cuts.back()[rank] - loop.cuts.front()[rank];
    summaries.push_back({depth, loop.iterations(), loop.regularity, loop.marked,
                         calls / static_cast<double>(loop.iterations())});
    if (depth + 1 < kDeepest)
      describe(all, find_loops(all, loop.cuts[0], loop.cuts[1], kLeastListed), depth + 1,
               summaries);
  }
}

/// Every call of every rank takes memory here, also where ranks share them.
void check_size(const Trace& trace) {
  if (trace.recorded_operations > kMostCalls)
    throw CannotCut("its ranks have more than " + std::to_string(kMostCalls) +
                    " operations together");
}

}  // namespace

std::vector<LoopSummary> describe_loops(const Trace& trace) {
  check_size(trace);
  const AllCalls all(trace);
  std::vector<LoopSummary> summaries;
  describe(all, find_outer_loops(all, kLeastListed), 0, summaries);
  return summaries;
}

Truncated truncate_trace(const std::string& path, std::size_t kept) {
  const Trace trace = read_trace(path);
  if (!trace.weights.empty()) throw CannotCut("it was truncated before");
  check_size(trace);
  const AllCalls all(trace);
  const std::vector<Piece> pieces = Planner(all, kept).plan();

  Marker marker;
  std::vector<bool> marked;
  marked.reserve(pieces.size());
  for (const Piece& piece : pieces) marked.push_back(marker.before(piece));
  Truncated truncated;
  truncated.whole_operations = trace.recorded_operations;
  truncated.weights = std::move(marker).weights();
  visit_ranks(path, [&](const std::vector<std::uint8_t>& block, const DecodedRank& decoded) {
    const std::size_t rank = truncated.blocks.size();
    const Calls& calls = all.of(rank);
    std::vector<std::uint8_t> kept_block;
    for (std::size_t index = 0; index < pieces.size(); ++index) {
      const Piece& piece = pieces[index];
      if (marked[index]) {
        kept_block.push_back(kPcontrol);
        append_signed(piece.level(), kept_block);
      }
      const bool whole = piece.last[rank] == calls.size();
      copy(block, decoded, calls.first_operation(piece.first[rank]),
           whole ? decoded.offsets.size() : calls.first_operation(piece.last[rank]),
           piece.more_flops[rank], kept_block);
    }
    truncated.operations.push_back(decode_rank(kept_block).operations);
    truncated.blocks.push_back(std::move(kept_block));
  });
  return truncated;
}

}  // namespace hamtune
