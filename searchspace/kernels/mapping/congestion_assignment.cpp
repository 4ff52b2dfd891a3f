#include "searchspace/kernels/mapping/congestion_assignment.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "searchspace/kernels/mapping/mapper/clock.hpp"

namespace hamtune {

namespace {

constexpr std::size_t kMostListed = 512;  // hosts whose routes are written out
constexpr std::uint32_t kLookEvery = 64;
constexpr std::uint32_t kSamples = 256;
constexpr std::uint64_t kPortion = 256;
constexpr double kHot = 0.5;      // of the mean change of the cost
constexpr double kCold = 0.0005;  // the same at the end
constexpr double kGuide = 0.05;   // of what tells equal maxima apart

}  // namespace

CongestionAssignment::CongestionAssignment(const TrafficView& traffic, CoreHops hops, Routes routes,
                                           std::vector<std::uint32_t> widths,
                                           std::vector<std::uint32_t> places)
    : first_(traffic.first, traffic.first + traffic.ranks + 1),
      partner_(traffic.partner, traffic.partner + first_.back()),
      size_(traffic.size, traffic.size + first_.back()),
      hops_(std::move(hops)),
      routes_(std::move(routes)),
      widths_(std::move(widths)),
      place_(std::move(places)),
      rank_(hops_.cores(), kFree) {
  if (place_.size() != traffic.ranks || widths_.size() != routes_.edges().size())
    throw std::invalid_argument("the lists of a mapping do not go together");
  for (std::uint32_t rank = 0; rank < place_.size(); ++rank) {
    if (place_[rank] >= rank_.size() || rank_[place_[rank]] != kFree)
      throw std::invalid_argument("the places are no mapping");
    rank_[place_[rank]] = rank;
  }
  const std::size_t hosts = hops_.host().empty() ? 0 : hops_.host().back() + std::size_t{1};
  if (hosts <= kMostListed) {
    route_first_.push_back(0);
    for (Node source = 0; source < hosts; ++source)
      for (Node target = 0; target < hosts; ++target) {
        for (const Hop& hop : routes_.path(source, target)) route_edges_.push_back(hop.edge);
        route_first_.push_back(static_cast<std::uint32_t>(route_edges_.size()));
      }
    hosts_ = hosts;
  }
  load_.assign(widths_.size(), 0);
  while (leaves_ < load_.size()) leaves_ *= 2;
  tree_.assign(2 * leaves_, kFree);
  for (std::uint32_t edge = 0; edge < load_.size(); ++edge) tree_[leaves_ + edge] = edge;
  for (std::size_t at = leaves_; at-- > 1;) tree_[at] = tree_[2 * at];
  hops_.visit([&](const auto& distance) {
    for (std::uint32_t rank = 0; rank < place_.size(); ++rank) {
      // Pairs are counted once, from the rank with the lower number.
      for (auto i = static_cast<std::size_t>(first_[rank]); i < static_cast<std::size_t>(first_[rank + 1]); ++i) {
        const std::uint32_t other = partner_[i];
        if (other < rank) continue;
        const std::uint32_t far = distance(place_[rank], place_[other]);
        if (far >= pairs_at_.size()) pairs_at_.resize(far + 1, 0);
        ++pairs_at_[far];
        hop_bytes_ += size_[i] * far;
        along(hops_.host()[place_[rank]], hops_.host()[place_[other]],
              [&](std::uint32_t edge) { load(edge, size_[i]); });
      }
    }
  });
}

template <typename Use>
void CongestionAssignment::along(Node source, Node target, const Use& use) const {
  if (hosts_ == 0) {
    for (const Hop& hop : routes_.path(source, target)) use(hop.edge);
    return;
  }
  const std::size_t pair = source * hosts_ + target;
  for (std::uint32_t i = route_first_[pair]; i < route_first_[pair + 1]; ++i) use(route_edges_[i]);
}

void CongestionAssignment::load(std::uint32_t edge, std::int64_t bytes) {
  const auto before = static_cast<double>(load_[edge]) / widths_[edge];
  load_[edge] += bytes;
  const auto after = static_cast<double>(load_[edge]) / widths_[edge];
  crowding_ += (after - before) * (after + before) * widths_[edge];
  for (std::size_t at = (leaves_ + edge) / 2; at > 0; at /= 2) {
    const std::uint32_t left = tree_[2 * at];
    const std::uint32_t right = tree_[2 * at + 1];
    tree_[at] = right == kFree || lane(left) >= lane(right) ? left : right;
  }
}

template <typename Distance>
void CongestionAssignment::shift(std::uint32_t rank, std::uint32_t spared, int sign,
                                 const Distance& distance) {
  const auto end = static_cast<std::size_t>(first_[rank + 1]);
  for (auto i = static_cast<std::size_t>(first_[rank]); i < end; ++i) {
    const std::uint32_t other = partner_[i];
    if (other == spared) continue;  // two that change places stay as far apart, on the same route
    const std::uint32_t far = distance(place_[rank], place_[other]);
    if (far >= pairs_at_.size()) pairs_at_.resize(far + 1, 0);
    pairs_at_[far] += sign;
    hop_bytes_ += sign * size_[i] * static_cast<std::int64_t>(far);
    const Node here = hops_.host()[place_[rank]];
    const Node there = hops_.host()[place_[other]];
    if (here == there) continue;
    along(here, there, [&](std::uint32_t edge) { load(edge, sign * size_[i]); });
  }
}

void CongestionAssignment::swap(std::uint32_t rank, std::uint32_t place) {
  const std::uint32_t before = place_.at(rank);
  const std::uint32_t other = rank_.at(place);
  if (before == place) return;
  hops_.visit([&](const auto& distance) {
    shift(rank, other, -1, distance);
    if (other != kFree) shift(other, rank, -1, distance);
    place_[rank] = place;
    rank_[place] = rank;
    rank_[before] = other;
    if (other != kFree) place_[other] = before;
    shift(rank, other, 1, distance);
    if (other != kFree) shift(other, rank, 1, distance);
  });
}

Measures CongestionAssignment::measures() const {
  std::size_t far = pairs_at_.size();
  while (far > 0 && pairs_at_[far - 1] == 0) --far;
  const std::int64_t most = load_.empty() ? 0 : lane(busiest());
  return {hop_bytes_, static_cast<std::uint32_t>(far == 0 ? 0 : far - 1), most, crowding_};
}

Measures CongestionAssignment::after(std::uint32_t rank, std::uint32_t place) {
  const std::uint32_t before = place_.at(rank);
  const double crowding = crowding_;
  swap(rank, place);
  const Measures found = measures();
  swap(rank, before);
  crowding_ = crowding;  // sums of floating-point numbers do not come back by themselves
  return found;
}

std::vector<std::int64_t> CongestionAssignment::loads() const {
  std::vector<std::int64_t> found(load_.size());
  for (std::uint32_t edge = 0; edge < load_.size(); ++edge) found[edge] = lane(edge);
  return found;
}

std::vector<CongestionAssignment::Crossing> CongestionAssignment::crossing(std::uint32_t edge) const {
  std::vector<Crossing> found;
  for (std::uint32_t rank = 0; rank < place_.size(); ++rank)
    for (auto i = static_cast<std::size_t>(first_[rank]); i < static_cast<std::size_t>(first_[rank + 1]); ++i) {
      const std::uint32_t other = partner_[i];
      if (other < rank) continue;
      along(hops_.host()[place_[rank]], hops_.host()[place_[other]], [&](std::uint32_t each) {
        if (each == edge) found.push_back({rank, other, size_[i]});
      });
    }
  return found;
}

CongestionAssignment::Cost CongestionAssignment::cost(const MeasureWeights& weights,
                                                      const Measures& start) const {
  const Measures now = measures();
  const double congested = weights.congestion * static_cast<double>(start.congestion);
  const double crowded = start.crowding > 0 ? now.crowding / start.crowding : 0;
  const double pairs = std::max(1.0, static_cast<double>(partner_.size()) / 2);
  const double longest = pairs_at_.empty() ? 0 : static_cast<double>(pairs_at_[now.dilation]) / pairs;
  Cost found{0, 0};
  found.pure = weights.hop_bytes * static_cast<double>(now.hop_bytes) +
               weights.dilation * now.dilation +
               weights.congestion * static_cast<double>(now.congestion);
  found.guided = found.pure + kGuide * (congested * crowded + weights.dilation * start.dilation * longest);
  return found;
}

std::uint32_t CongestionAssignment::near(std::uint32_t place, std::uint32_t looks, Random& random) const {
  const auto places = static_cast<std::uint32_t>(rank_.size());
  std::uint32_t best = random.below(places);
  hops_.visit([&](const auto& distance) {
    for (std::uint32_t look = 1; look < looks; ++look) {
      const std::uint32_t other = random.below(places);
      if (other != place && (best == place || distance(other, place) < distance(best, place))) best = other;
    }
  });
  return best;
}

std::pair<std::uint32_t, std::uint32_t> CongestionAssignment::proposal(const MeasureWeights& weights,
                                                                       Random& random) {
  auto rank = random.below(static_cast<std::uint32_t>(place_.size()));
  if (weights.congestion > 0 && random.below(2) == 0) {
    if (moves_until_look_ == 0) {
      crossed_ = crossing(busiest());
      moves_until_look_ = kLookEvery;
    }
    --moves_until_look_;
    if (!crossed_.empty()) {
      const Crossing& pair = crossed_[random.below(static_cast<std::uint32_t>(crossed_.size()))];
      rank = random.below(2) == 0 ? pair.low : pair.high;
    }
  }
  const auto degree = static_cast<std::uint32_t>(first_[rank + 1] - first_[rank]);
  std::uint32_t target = place_[rank];
  if (degree > 0) target = place_[partner_[static_cast<std::size_t>(first_[rank]) + random.below(degree)]];
  static constexpr std::uint32_t kLooks[] = {1, 4, 16};
  return {rank, near(target, kLooks[random.below(3)], random)};
}

void CongestionAssignment::anneal(const MeasureWeights& weights, double seconds, std::uint64_t steps,
                                  std::uint64_t seed, const SwapProceed& proceed) {
  if (place_.empty() || rank_.size() < 2 || load_.empty()) return;
  Random random(seed);
  const Measures start = measures();
  moves_until_look_ = 0;
  Cost now = cost(weights, start);
  Cost best = now;
  std::vector<std::uint32_t> best_places = place_;

  double change = 0;
  for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
    const auto [rank, place] = proposal(weights, random);
    const std::uint32_t before = place_[rank];
    const double crowding = crowding_;
    swap(rank, place);
    change += std::abs(cost(weights, start).guided - now.guided) / kSamples;
    swap(rank, before);
    crowding_ = crowding;
  }
  const double began = mapper::cpu_seconds();
  mapper::Budget budget = steps > 0 ? mapper::Budget::steps(steps) : mapper::Budget::until(began + seconds);
  budget.stop_when([&] { return proceed && !proceed(mapper::cpu_seconds() - began); });
  while (!budget.spent()) {
    const double temperature = change * kHot * std::pow(kCold / kHot, budget.fraction());
    const std::uint64_t portion = std::min(budget.portion(), kPortion);
    for (std::uint64_t step = 0; step < portion; ++step) {
      const auto [rank, place] = proposal(weights, random);
      const std::uint32_t before = place_[rank];
      if (place == before) continue;
      const double crowding = crowding_;
      swap(rank, place);
      const Cost then = cost(weights, start);
      const double worse = then.guided - now.guided;
      if (worse > 0 && random.unit() >= std::exp(-worse / std::max(temperature, 1e-300))) {
        swap(rank, before);
        crowding_ = crowding;
        continue;
      }
      now = then;
      if (now.pure < best.pure || (now.pure == best.pure && now.guided < best.guided)) {
        best = now;
        best_places = place_;
      }
    }
    budget.used(portion);
  }
  for (std::uint32_t rank = 0; rank < place_.size(); ++rank) swap(rank, best_places[rank]);
}

}  // namespace hamtune
