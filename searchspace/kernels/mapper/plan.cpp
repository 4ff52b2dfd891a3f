#include "searchspace/kernels/mapper/plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace hamtune::mapper {
namespace {

constexpr double kShort = 1.0 / 128, kLonger = 1.0 / 32, kLast = 0.08;  ///< shares of the time
/// Below so many steps a rank, a short annealing tells nothing of a long one.
constexpr double kExplored = 400'000;
/// How much lower the longest ends than the longer ones, in what these end lower than short ones: 0.5 to 1.9
/// on tori, meshes, trees and dragonflies of 512 with random and power-law traffic in 16 s.
constexpr double kBeyond = 1;

/// How far below the mean the least of so many is expected, in standard deviations (normal order
/// statistics at powers of two, between them by the logarithm).
double least_of(double count) {
  constexpr double kLeast[] = {0, 0.564, 1.029, 1.424, 1.766, 2.070, 2.343, 2.594, 2.826};
  const double at = std::clamp(std::log2(count), 0.0, static_cast<double>(std::size(kLeast) - 1) - 1e-9);
  const auto below = static_cast<std::size_t>(at);
  return kLeast[below] + (at - static_cast<double>(below)) * (kLeast[below + 1] - kLeast[below]);
}

}  // namespace

Heat Phase::heat() const {
  switch (kind) {
    case Kind::kHot: return {0.08, 0.3};
    case Kind::kMild: return {0.08, 0.05};
    default: return {0.04, 0.03};
  }
}

void Plan::Sample::add(double cost) {
  ++size;
  sum += cost;
  squares += cost * cost;
}

double Plan::Sample::mean() const { return sum / static_cast<double>(size); }

double Plan::Sample::deviations() const {
  return size == 0 ? 0 : std::max(squares - sum * sum / static_cast<double>(size), 0.0);
}

Plan::Plan(double steps_per_rank, std::size_t threads)
    : threads_(threads), explores_(steps_per_rank >= kExplored) {
  // Of four each, or two where one thread makes them, as they take too long one after the other.
  for (std::size_t round = 0; explores_ && round < (threads < 4 ? 2 : 1); ++round) {
    ahead_.push_back({Phase::Kind::kHot, kShort, false});
    ahead_.push_back({Phase::Kind::kMild, kShort, false});
  }
}

std::optional<Phase> Plan::next() {
  if (ahead_.empty()) go_on();
  if (ahead_.empty()) return std::nullopt;
  now_ = ahead_.front();
  ahead_.pop_front();
  rest_ -= now_.share;
  return now_;
}

void Plan::ended(const std::vector<std::int64_t>& costs) {
  if (decided_) return;
  Sample& sample = short_known_ ? longer_ : now_.kind == Phase::Kind::kHot ? hot_ : mild_;
  for (const std::int64_t cost : costs) sample.add(static_cast<double>(cost));
}

void Plan::go_on() {
  if (decided_) return;
  if (explores_ && !short_known_) {
    short_known_ = true;
    if (mild_.mean() < hot_.mean()) better_ = Phase::Kind::kMild;
    ahead_.push_back({better_, kLonger, false});
    return;
  }
  decided_ = true;
  spend_rest();
  ahead_.push_back({Phase::Kind::kTepid, kLast, true});
}

void Plan::spend_rest() {
  const double rest = rest_ - kLast;
  double share = rest;
  if (explores_) {
    const auto freedom = static_cast<double>(hot_.size + mild_.size + longer_.size - 3);
    const double spread = std::sqrt(
        (hot_.deviations() + mild_.deviations() + longer_.deviations()) / std::max(freedom, 1.0));
    const double before = better_ == Phase::Kind::kHot ? hot_.mean() : mild_.mean();
    const double after = longer_.mean(), fall = std::max(before - after, 0.0);
    const auto threads = static_cast<double>(threads_);
    double least = after - kBeyond * fall - least_of(threads) * spread;
    for (const auto& [mean, one] : {std::pair(after, kLonger), std::pair(before, kShort)}) {
      const double expected = mean - least_of(threads * rest / one) * spread;
      if (expected > least) continue;  // where none differs, many are soon known to agree
      least = expected;
      share = one;
    }
  }
  const double rounds = std::max(std::floor(rest / share), 1.0);
  for (double round = 0; round < rounds; ++round)
    ahead_.push_back({better_, rest / rounds, rounds == 1});
}

}  // namespace hamtune::mapper
