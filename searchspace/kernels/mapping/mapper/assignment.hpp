// Ranks assigned to slots, as in quadratic assignment: exchanges, descent, annealing. Plain C++17.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "searchspace/kernels/mapping/mapper/candidates.hpp"
#include "searchspace/kernels/mapping/mapper/clock.hpp"
#include "searchspace/kernels/mapping/mapper/flows.hpp"
#include "searchspace/kernels/mapping/mapper/gain_table.hpp"
#include "searchspace/kernels/mapping/mapper/best_exchange.hpp"
#include "searchspace/kernels/mapping/mapper/temperature_control.hpp"
#include "searchspace/kernels/graph/random.hpp"

namespace hamtune::mapper {

/// An assignment of ranks to slots (quadratic assignment: flows x hops), searched by exchanges whose
/// change of the cost is evaluated alone, in O(degree). Costs are in units of the flows.
template <typename Metric>
class Assignment {
 public:
  Assignment(const Flows& flows, const Metric& metric, std::vector<Slot> slots)
      : flows_(flows), metric_(metric) {
    place(std::move(slots));
  }

  void place(std::vector<Slot> slots) {
    slot_ = std::move(slots);
    rank_.assign(metric_.slots(), kFree);
    code_.resize(slot_.size());
    for (Rank rank = 0; rank < slot_.size(); ++rank) {
      rank_[slot_[rank]] = rank;
      code_[rank] = metric_.code(slot_[rank]);
    }
    cost_ = 0;
    for (Rank rank = 0; rank < slot_.size(); ++rank)
      for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc)
        if (arc->to > rank)
          cost_ += static_cast<std::int64_t>(arc->weight) * metric_.hops(code_[rank], code_[arc->to]);
  }

  std::int64_t cost() const { return cost_; }
  const std::vector<Slot>& slots() const { return slot_; }
  Slot slot(Rank rank) const { return slot_[rank]; }
  Rank at(Slot slot) const { return rank_[slot]; }

  /// How the cost changes when `rank` goes to `slot` and who is there takes its place.
  std::int64_t change(Rank rank, Slot slot) const {
    const Rank other = rank_[slot];
    const std::uint32_t from = code_[rank], to = metric_.code(slot);
    std::int64_t change = moved(rank, from, to, other);
    if (other != kFree) change += moved(other, to, from, rank);
    return change;
  }

  void move(Rank rank, Slot slot, std::int64_t change) {
    const Slot left = slot_[rank];
    const Rank other = rank_[slot];
    slot_[rank] = slot;
    code_[rank] = metric_.code(slot);
    rank_[slot] = rank;
    rank_[left] = other;
    if (other != kFree) {
      slot_[other] = left;
      code_[other] = metric_.code(left);
    }
    cost_ += change;
  }

  /// Somewhere near a partner of `rank`, or near itself when it has none.
  Slot beside_partner(Rank rank, Random& random) const {
    const std::uint32_t degree = flows_.degree(rank);
    if (degree == 0) return metric_.near(slot_[rank], random);
    return metric_.near(slot_[(flows_.begin(rank) + random.below(degree))->to], random);
  }

  /// Mean size of the changes that proposals would make now.
  double mean_change(Random& random, std::size_t samples) const {
    double sum = 0;
    for (std::size_t at = 0; at < samples; ++at) {
      const Rank rank = random.below(static_cast<std::uint32_t>(slot_.size()));
      sum += std::abs(static_cast<double>(change(rank, beside_partner(rank, random))));
    }
    return sum / static_cast<double>(samples);
  }

  /// Takes improving swaps and moves beside partners until `sweeps` rounds found none, or about
  /// `visits` flows were looked at.
  void descend(Random& random, std::size_t sweeps, std::uint64_t visits) {
    const auto ranks = static_cast<std::uint32_t>(slot_.size());
    std::uint64_t seen = 0;
    for (std::size_t quiet = 0; quiet < sweeps;) {
      bool improved = false;
      for (Rank rank = 0; rank < ranks; ++rank) {
        for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
          const Slot slot = metric_.near(slot_[arc->to], random);
          seen += kVisitsOfProposal + std::uint64_t{2} * flows_.degree(rank);
          if (slot == slot_[rank]) continue;
          const std::int64_t gain = change(rank, slot);
          if (gain >= 0) continue;
          move(rank, slot, gain);
          improved = true;
        }
        if (seen > visits) return;
      }
      quiet = improved ? 0 : quiet + 1;
    }
  }

  /// A gain table for this traffic and machine, to be reset; nothing where there can be none.
  std::optional<GainTable> gains() const {
    if (!GainTable::hold(flows_, metric_.diameter())) return std::nullopt;
    std::optional<Parts> parts = parts_of(metric_);
    if (!parts) return std::nullopt;
    return GainTable(flows_, std::move(*parts), close_slots(metric_, kLanes));
  }

  /// How an annealing cools.
  struct Cooling {
    double hot, cold;  ///< temperatures (units), geometrically in the fraction of the budget
    double often = 0;  ///< where gains are kept, if positive: see TemperatureControl, which begins at `cold`
  };

  /// Anneals while `budget` lasts. Ends at the best mapping met. `participant`: where to exchange with other
  /// threads that anneal the same with as much budget, if any.
  void anneal(const Cooling& cooling, Budget& budget, Random& random,
              std::optional<Participant> participant = std::nullopt) {
    if (!weighed_) {
      if (std::optional<GainTable> found = gains()) gains_.emplace(std::move(*found));
      weighed_ = true;
    }
    if (gains_) gains_->reset(slot_);
    std::vector<Slot> best = slot_;
    std::int64_t best_cost = cost_;
    std::optional<TemperatureControl> control;
    if (gains_ && cooling.often > 0) control.emplace(slot_.size(), cooling.cold, cooling.often);
    double next_exchange = participant ? kFirstExchange : 1, sum = 0;
    std::uint64_t seen = 0;
    while (!budget.spent()) {
      const double temperature =
          control ? control->temperature()
                     : cooling.hot * std::pow(cooling.cold / cooling.hot, budget.fraction());
      const std::uint64_t steps = gains_ ? budget.portion(kSwiftPortion) : budget.portion();
      if (gains_) {
        const GainTable::Accepted accepted = gains_->propose(steps, temperature, random);
        cost_ += accepted.change;
        if (control) control->saw(steps, accepted.rises, budget.fraction());
        if (control && gains_->scans()) cost_ += gains_->propose_all(steps / kStepsOfScan, random).change;
      } else {
        for (std::uint64_t step = 0; step < steps; ++step) propose(temperature, random);
      }
      budget.used(steps);
      if (cost_ < best_cost) {
        best_cost = cost_;
        best = gains_ ? gains_->slots() : slot_;
      }
      if (budget.fraction() >= next_exchange - kBetweenExchanges / 2) {
        sum += static_cast<double>(cost_);
        ++seen;
      }
      if (budget.fraction() < next_exchange || budget.spent()) continue;
      const auto other = participant->exchange.synchronise(
          participant->thread,
          {sum / static_cast<double>(seen), cost_, gains_ ? gains_->slots() : slot_, temperature});
      if (other != nullptr) {
        cost_ = other->cost;
        if (gains_) gains_->reset(other->slots);
        else place(other->slots);
        if (control) control->go_on_from(other->temperature);
      }
      for (; next_exchange <= budget.fraction(); next_exchange += kBetweenExchanges) sum = 0, seen = 0;
    }
    place(std::move(best));
  }

 private:
  static constexpr std::uint64_t kSwiftPortion = 2048;  ///< steps by gains between temperatures
  /// Fractions of an annealing: earlier, the cost does not tell how it ends.
  static constexpr double kFirstExchange = 0.5, kBetweenExchanges = 0.05;
  static constexpr std::uint64_t kStepsOfScan = 4;  ///< steps for each rank whose candidates are all slots
  static constexpr std::uint64_t kVisitsOfProposal = 8;  ///< what one costs beside its flows

  /// Takes a swap beside a partner by the rule of Metropolis.
  void propose(double temperature, Random& random) {
    const std::uint64_t bits = random.next();
    const Rank rank = pick_rank(bits);
    const Slot slot = beside_partner(rank, random);
    if (slot == slot_[rank]) return;
    const std::int64_t rise = change(rank, slot);
    if (rise > 0 && static_cast<double>(rise) > temperature * patience(bits)) return;
    move(rank, slot, rise);
  }

  Rank pick_rank(std::uint64_t bits) const {
    return static_cast<Rank>(((bits >> 32U) * slot_.size()) >> 32U);
  }

  /// A rise, in temperatures, that is just accepted: exponentially distributed.
  static double patience(std::uint64_t bits) {
    static const std::vector<float> quantiles = [] {
      std::vector<float> found;
      for (std::size_t at = 0; at < kQuantiles; ++at)
        found.push_back(static_cast<float>(-std::log((static_cast<double>(at) + 0.5) / kQuantiles)));
      return found;
    }();
    return quantiles[bits % kQuantiles];
  }
  static constexpr std::size_t kQuantiles = 16384;

  std::int64_t moved(Rank rank, std::uint32_t from, std::uint32_t to, Rank except) const {
    std::int64_t change = 0;
    for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
      if (arc->to == except) continue;
      const std::uint32_t there = code_[arc->to];
      change += static_cast<std::int64_t>(arc->weight) *
                (metric_.hops(to, there) - metric_.hops(from, there));
    }
    return change;
  }

  const Flows& flows_;
  const Metric& metric_;
  std::vector<Slot> slot_;
  std::vector<Rank> rank_;
  std::vector<std::uint32_t> code_;
  std::int64_t cost_ = 0;
  bool weighed_ = false;  ///< whether it is known if there can be gains
  std::optional<GainTable> gains_;
};

}  // namespace hamtune::mapper
