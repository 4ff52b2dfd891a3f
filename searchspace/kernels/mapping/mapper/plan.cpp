#include "searchspace/kernels/mapping/mapper/plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace hamtune::mapper {
namespace {

using Kind = Phase::Kind;
using Origin = Phase::Origin;

constexpr double kShort = 1.0 / 128, kLonger = 1.0 / 32, kLast = 0.08;  ///< shares of the time
constexpr double kExplored = 400'000;  ///< steps a rank from which several annealings are compared
/// Steps a rank in an annealing that is to tell which temperature is better, and its share of the time: from half as
/// many steps on, hot ones are lower on random and power-law traffic.
constexpr double kTold = 640, kLeastGlance = 1.0 / 64, kMostGlance = 1.0 / 8;
/// A mild annealing so much below a hot one stays below when both take longer: with groups in the traffic it is
/// 1.3 to 3% below, without 0.6% at most.
constexpr double kClear = 0.005;
/// How much lower the longest ends than the longer ones, in what these end lower than short ones: 0.5 to 1.9
/// on tori, meshes, trees and dragonflies of 512 with random and power-law traffic in 16 s.
constexpr double kBeyond = 1.5;

/// How far below the mean the least of so many is expected, in standard deviations (normal order
/// statistics at powers of two, between them by the logarithm).
double least_of(double count) {
  constexpr double kLeast[] = {0, 0.564, 1.029, 1.424, 1.766, 2.070, 2.343, 2.594, 2.826};
  const double at = std::clamp(std::log2(count), 0.0, static_cast<double>(std::size(kLeast) - 1) - 1e-9);
  const auto below = static_cast<std::size_t>(at);
  return kLeast[below] + (at - static_cast<double>(below)) * (kLeast[below + 1] - kLeast[below]);
}

}  // namespace

Temperatures Phase::temperatures() const {
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

double Plan::Way::fall() const { return std::max(shorter.mean() - longer.mean(), 0.0); }

double Plan::Way::spread() const {
  const auto freedom = static_cast<double>(shorter.size + longer.size - 2);
  return std::sqrt((shorter.deviations() + longer.deviations()) / std::max(freedom, 1.0));
}

Plan::Plan(double each, double many, std::size_t threads, bool structured)
    : threads_(threads),
      explores_(each >= kExplored),
      many_(each >= many),
      glance_(std::max(kTold / each, kLeastGlance)) {
  if (!explores_ && glance_ > kMostGlance) {
    ways_.push_back({Kind::kHot, Origin::kFirst, {}, {}});
    return;
  }
  for (const Origin origin : {Origin::kAnew, Origin::kFirst}) {
    if (origin == Origin::kAnew ? !explores_ : explores_ && !structured) continue;
    for (const Kind kind : {Kind::kHot, Kind::kMild}) ways_.push_back({kind, origin, {}, {}});
  }
  // Of four each, or two where one thread makes them, as they take too long one after the other.
  for (std::size_t round = 0; round < (explores_ && threads < 4 ? 2 : 1); ++round)
    for (const Way& way : ways_)
      ahead_.push_back({way.kind, explores_ ? kShort : glance_, way.origin});
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
  for (Way& way : ways_) {
    if (way.kind != now_.kind || way.origin != now_.origin) continue;
    Sample& sample = explores_ && now_.share == kLonger ? way.longer : way.shorter;
    for (const std::int64_t cost : costs) sample.add(static_cast<double>(cost));
  }
}

void Plan::go_on() {
  if (decided_) return;
  const Way& hot = ways_.front();
  for (const Way& way : ways_) {
    if (!explores_ || way.longer.size > 0) continue;
    if (&way != &hot && way.shorter.mean() >= hot.shorter.mean()) continue;
    ahead_.push_back({way.kind, kLonger, way.origin});
    return;
  }
  decided_ = true;
  if (explores_) spend_rest();
  else choose_heat();
  ahead_.push_back({Kind::kTepid, kLast, Origin::kBest});
}

void Plan::choose_heat() {
  const Way& hot = ways_.front();
  const bool mild =
      ways_.size() > 1 && ways_.back().shorter.mean() < (1 - kClear) * hot.shorter.mean();
  ahead_.push_back({mild ? Kind::kMild : Kind::kHot, rest_ - kLast, Origin::kBest});
}

void Plan::spend_rest() {
  const double rest = rest_ - kLast;
  const auto threads = static_cast<double>(threads_);
  Phase chosen{Kind::kHot, rest, Origin::kBest};
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const Way& way, double share, double mean, double spread) {
    const double expected = mean - least_of(threads * rest / share) * spread;
    if (expected > least) return;  // where none differs, many are soon known to agree
    least = expected;
    chosen = {way.kind, share, share == rest ? Origin::kBest : way.origin};
  };
  for (const Way& way : ways_) {
    if (way.longer.size == 0) continue;
    const double spread = way.spread();
    consider(way, rest, way.longer.mean() - kBeyond * way.fall(), spread);
    if (!many_) continue;
    consider(way, kLonger, way.longer.mean(), spread);
    consider(way, kShort, way.shorter.mean(), spread);
  }
  const double rounds = std::max(std::floor(rest / chosen.share), 1.0);
  chosen.share = rest / rounds;
  for (double round = 0; round < rounds; ++round) ahead_.push_back(chosen);
}

}  // namespace hamtune::mapper
