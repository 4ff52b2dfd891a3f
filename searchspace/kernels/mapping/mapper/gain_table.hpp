// The gain table of an assignment: what every rank would gain everywhere, kept up to date. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "searchspace/kernels/mapping/mapper/aligned.hpp"
#include "searchspace/kernels/mapping/mapper/flows.hpp"
#include "searchspace/kernels/mapping/mapper/gain_rows.hpp"
#include "searchspace/kernels/mapping/mapper/parts.hpp"
#include "searchspace/kernels/graph/random.hpp"

namespace hamtune::mapper {

constexpr Rank kFree = std::numeric_limits<Rank>::max();

/// An assignment with its gain table, as refinement in k-way graph partitioning keeps one of nodes and
/// blocks (Gottesbueren et al., "Scalable shared-memory hypergraph partitioning", 2021): for each slot and
/// each class of the parts, what the flows of the rank there would cost more in that class while their other
/// ends stay where they are: 0 where it is, and in the rows of free slots. What a swap changes is a few
/// entries of two rows whatever the degree, so many swaps are judged at once; a swap itself, of which there
/// are few, updates a row for each partner.
class GainTable {
 public:
  /// Whether gains are far from the limits of 32 bits.
  static bool hold(const Flows& flows, int diameter);

  /// Up to so many entries, 1 GiB, all rows are kept: each thread that searches has its own.
  static constexpr std::size_t kMostEntries = std::size_t{1} << 28U;

  /// `near`: kLanes slots for each slot, the closest to it, the candidates of its partners. Where levels of a
  /// tree would have more than `most_entries`, no rows are kept, and what swaps change is added up anew: that
  /// is slower, with the same results.
  GainTable(const Flows& flows, Parts parts, const std::vector<Slot>& near,
            std::size_t most_entries = kMostEntries);

  void reset(std::vector<Slot> slots);
  const std::vector<Slot>& slots() const { return slot_; }

  /// Whether the rows are kept.
  bool keeps_rows() const { return kept_; }

  /// Whether it makes no difference who is at which of the two.
  bool alike(Slot one, Slot other) const { return kind_[one] == kind_[other]; }

  /// How the cost changes when a rank goes to a slot and who is there takes its place.
  std::int32_t change(Rank rank, Slot to) const;
  void swap(Rank rank, Slot to);

  /// Swaps that were accepted.
  struct Accepted {
    std::int64_t change = 0;  ///< of the cost
    std::uint64_t rises = 0;  ///< swaps that cost something
    void add(std::int64_t rise) {
      change += rise;
      rises += rise > 0 ? 1 : 0;
    }
  };

  /// Makes so many proposals: a rank, drawn at random, has kLanes candidate slots, as a rule those near one
  /// of its partners, or near where that one would be if it stood, along one axis, where the rank gains most.
  /// It takes the first whose change is no rise or is within the threshold drawn for it (Metropolis et al.
  /// 1953).
  Accepted propose(std::uint64_t proposals, double temperature, Random& random);

  /// Whether all slots can be candidates at once.
  bool scans() const { return !class_least_.empty(); }
  /// So many times a rank, drawn at random, has all slots as candidates, from a random one on, at the last
  /// temperature. That takes not much longer than with a few, but many times as many
  /// swaps: they are worth it where few are taken.
  Accepted propose_all(std::uint64_t times, Random& random);

 private:
  bool levels() const { return parts_.parts[0].hops.empty(); }
  /// Tells where everything is.
  GainRows data();
  void list_candidates(const std::vector<Slot>& near);
  /// What the rank at a slot would cost more at another one while its partners stay; 0 where nobody is.
  std::int32_t toll(Slot at, Slot to) const;
  std::int32_t counted_toll(Slot at, Slot to) const;
  /// As `Judge`, without rows.
  std::uint32_t judge(const Candidates& candidates, Screened& screened) const;
  std::int32_t between(Rank rank, Rank other, Slot from, Slot to) const;
  void tell_partners(Rank rank, Slot from, Slot to, std::int32_t sign);
  void tell_levels(Rank rank, Slot from, Slot to, std::int32_t sign);
  /// Whether candidates may be what is close to a partner along all axes but one.
  bool turns() const { return !strides_.empty(); }
  void find_corners(std::size_t slots);
  /// The slot that has all classes of `near`, but one, drawn, is that in which the rank at `from` would cost
  /// least; `near`, if there is none.
  Slot turned(Slot near, Slot from, std::uint32_t draw, const GainRows& rows) const;
  Rank drawn_rank(std::uint64_t draw) const;
  /// Takes the first good swap with a candidate, if any.
  bool take(Rank rank, const Candidates& candidates, std::uint32_t good, const std::int32_t* rises,
            Accepted& accepted);
  void try_all(Rank rank, std::uint32_t draw, const GainRows& rows, Accepted& accepted);
  /// Takes note of what a slot has become as the least of its class.
  void bound(Slot slot);
  void fetch_row(Slot slot) const;
  void settle(Slot slot);
  /// Lowers what the rank of a slot costs everywhere.
  void lower(Slot slot, std::int32_t by);
  std::int32_t* row(Slot slot) { return rows_.data() + slot * width_; }
  const std::int32_t* row(Slot slot) const { return rows_.data() + slot * width_; }
  const std::uint32_t* place(std::size_t part) const { return place_.data() + part * rank_.size(); }

  const Flows& flows_;
  Parts parts_;
  std::size_t width_;                ///< of a row
  bool kept_;                        ///< whether there are rows
  std::vector<std::uint32_t> place_;  ///< parts x slots: the class, counted over all parts
  std::vector<std::uint32_t> kind_;   ///< of each slot: the same where all its classes are
  std::vector<std::uint32_t> begins_;  ///< of each part: its first class; then the number of classes
  // Where slots stand in a grid, and candidates can be turned:
  std::vector<std::size_t> strides_;    ///< of each part: between corners of classes that follow each other
  std::vector<std::size_t> corner_;     ///< of each slot
  std::vector<Slot> slot_of_corner_;    ///< kFree where there is none
  // The candidate list: kLanes slots close to each, then all slots in order and some of them again, then, for
  // what is turned, each slot and the closest to it. What judging needs to know of a slot stands beside it,
  // so that no look-up waits for another one.
  Aligned<Slot> candidates_;
  std::uint32_t around_ = 0;  ///< where slots with the closest to them begin
  Aligned<std::uint32_t> candidate_row_;  ///< where the row of the slot begins
  Aligned<std::uint32_t> candidate_kind_;
  Aligned<std::uint16_t> candidate_class_;  ///< parts x slots on the list
  std::vector<Slot> slot_;
  std::vector<Rank> rank_;
  Aligned<std::int32_t> rows_;        ///< slots x width
  std::vector<std::int32_t> least_;       ///< of each slot: the least its row adds up to, if weighed
  // Where there is one part, of each class:
  Aligned<std::int32_t> class_least_;       ///< at most what each of its slots has as `least_`
  std::vector<std::uint32_t> class_first_;  ///< where its slots begin, and where the last ones end
  std::vector<Slot> class_slots_;
  std::vector<std::int32_t> hopeful_;     ///< classes, for a rank whose candidates are all slots
  std::vector<std::uint16_t> members_;    ///< parts x width / kLanes: a bit for each class of the part
  Aligned<std::int32_t> steps_;       ///< of each class: how much farther it is after a move
  std::vector<std::int32_t> thresholds_;  ///< of the temperature; those at the begin stand at the end again
  GainForm form_;
  bool far_;  ///< whether the rows do not stay in the cache next to the processor
};

}  // namespace hamtune::mapper
