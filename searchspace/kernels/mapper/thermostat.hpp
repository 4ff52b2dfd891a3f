// The temperature of an annealing, by how often it takes what costs something. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hamtune::mapper {

/// Where annealing should begin and end differs by more than an order of magnitude between machines
/// and traffic when told in mean changes, but hardly when told in how many offers are taken at a
/// rise: so that share is what falls, geometrically, and the temperature follows (after Lam and
/// Delosme, "Performance of a new annealing schedule", 1988, who control all moves taken). It falls
/// less far where there is time for fewer offers a rank: what freezes does so earlier then.
class Thermostat {
 public:
  /// The share falls from `often`; the temperature begins at `first`, better low than high.
  Thermostat(std::size_t ranks, double first, double often)
      : ranks_(static_cast<double>(ranks)), first_(first), temperature_(first), often_(often) {}

  double temperature() const { return temperature_; }

  /// Is told of offers made, how many were taken at a rise, and how much of the annealing is over.
  void saw(std::uint64_t offers, std::uint64_t rises, double fraction) {
    offers_ += static_cast<double>(offers);
    rises_ += static_cast<double>(rises);
    total_ += static_cast<double>(offers);
    const double offers_of_rank = total_ / std::max(fraction, 1e-9) / ranks_;
    const double seldom = std::clamp(kLast / std::sqrt(offers_of_rank), kLeast, often_ / 2);
    const double expected = offers_ * often_ * std::pow(seldom / often_, fraction);
    if (expected < kEnough) return;
    const double change = std::pow((rises_ + 1) / (expected + 1), -kGain);
    temperature_ = std::clamp(temperature_ * std::clamp(change, 1 / kMost, kMost),
                              first_ / kWidest, first_ * kWidest);
    offers_ = rises_ = 0;
  }

 private:
  static constexpr double kLast = 0.5;    ///< the last share, times the root of the offers of a rank
  static constexpr double kLeast = 5e-4;
  static constexpr double kEnough = 16;   ///< expected rises between changes of the temperature
  static constexpr double kGain = 0.3;
  static constexpr double kMost = 1.4;    ///< times as hot or cold at once
  static constexpr double kWidest = 1e3;  ///< times the first temperature
  double ranks_, first_, temperature_, often_;
  double offers_ = 0, rises_ = 0, total_ = 0;
};

}  // namespace hamtune::mapper
