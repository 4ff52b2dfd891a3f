// The temperature of an annealing, by how often it takes what costs something. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hamtune::mapper {

/// Where annealing should begin and end differs by more than an order of magnitude between machines
/// and traffic when told in mean changes, but hardly when told in how many proposals are taken at a
/// rise: so that share is what falls, and the temperature follows (after Lam and Delosme,
/// "Performance of a new annealing schedule", 1988, who control all moves taken). Most of the time is
/// for the shares where mappings cooled at different speeds part: above, all find their balance at once;
/// below, nothing moves any more. Where there is time for fewer proposals a rank, what freezes does so
/// earlier.
class TemperatureControl {
 public:
  /// The share falls from `often`; the temperature begins at `first`, better low than high.
  TemperatureControl(std::size_t ranks, double first, double often)
      : ranks_(static_cast<double>(ranks)), first_(first), temperature_(first), often_(often) {}

  double temperature() const { return temperature_; }
  /// Goes on from a temperature that another one found for the same share.
  void go_on_from(double temperature) { temperature_ = temperature; }

  /// Is told of proposals made, how many were taken at a rise, and how much of the annealing is over.
  void saw(std::uint64_t proposals, std::uint64_t rises, double fraction) {
    proposals_ += static_cast<double>(proposals);
    rises_ += static_cast<double>(rises);
    total_ += static_cast<double>(proposals);
    const double expected = proposals_ * share(total_ / std::max(fraction, 1e-9) / ranks_, fraction);
    if (expected < kEnough) return;
    const double change = std::pow((rises_ + 1) / (expected + 1), -kGain);
    temperature_ = std::clamp(temperature_ * std::clamp(change, 1 / kMost, kMost),
                              first_ / kWidest, first_ * kWidest);
    proposals_ = rises_ = 0;
  }

 private:
  /// The share of proposals to be taken at a rise, geometrically between what it is at four times.
  double share(double proposals_of_rank, double fraction) const {
    const double early = std::max(1.0, std::pow(kLong / proposals_of_rank, kEarlier));
    const double times[] = {0, kHot, kFrozen, 1};
    double shares[] = {often_, kParting * early, kStill * early, kLast * early};
    for (std::size_t at = 1; at < 4; ++at) shares[at] = std::min(shares[at], shares[at - 1]);
    const std::size_t at = fraction < kHot ? 0 : fraction < kFrozen ? 1 : 2;
    const double part = (fraction - times[at]) / (times[at + 1] - times[at]);
    return shares[at] * std::pow(shares[at + 1] / shares[at], part);
  }

  static constexpr double kHot = 0.2, kFrozen = 0.9;  ///< fractions of the annealing
  static constexpr double kParting = 0.08;    ///< the share at kHot in a long annealing
  static constexpr double kStill = 0.007;     ///< the share at kFrozen in one
  static constexpr double kLast = 0.002;      ///< the share at its end
  static constexpr double kLong = 75'000;     ///< proposals to a rank, in a long annealing
  static constexpr double kEarlier = 0.25;    ///< power of their lack by which shares are larger
  static constexpr double kEnough = 16;    ///< expected rises between changes of the temperature
  static constexpr double kGain = 0.3;
  static constexpr double kMost = 1.4;    ///< times as hot or cold at once
  static constexpr double kWidest = 1e3;  ///< times the first temperature
  double ranks_, first_, temperature_, often_;
  double proposals_ = 0, rises_ = 0, total_ = 0;
};

}  // namespace hamtune::mapper
