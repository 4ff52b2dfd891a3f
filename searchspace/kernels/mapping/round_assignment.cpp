#include "searchspace/kernels/mapping/round_assignment.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace hamtune {

namespace {

constexpr std::uint32_t kSamples = 256;
constexpr std::uint64_t kPortion = 64;
constexpr double kCold = 0.0005;  // of the mean change of the cost, at the end

constexpr std::size_t kMostListed = 1024;  // hosts whose routes are written out
constexpr double kPathWork = 40;           // additions that finding a hop of another is worth

std::uint32_t way_of(const Hop& hop) { return 2 * hop.edge + (hop.forward ? 1 : 0); }

double eighth_root(double sum) { return std::sqrt(std::sqrt(std::sqrt(sum))); }

}  // namespace

RoundAssignment::RoundAssignment(std::size_t ranks, const MessageRounds& rounds, std::vector<Node> host,
                                 Routes routes, const std::vector<std::uint32_t>& widths,
                                 const HostLimits& limits, std::vector<std::uint32_t> places)
    : host_(std::move(host)),
      hosts_(host_.empty() ? 0 : *std::max_element(host_.begin(), host_.end()) + std::size_t{1}),
      routes_(std::move(routes)),
      place_(std::move(places)),
      rank_(host_.size(), kFree) {
  if (place_.size() != ranks || widths.size() != routes_.edges().size())
    throw std::invalid_argument("the lists of a mapping do not go together");
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (place_[rank] >= rank_.size() || rank_[place_[rank]] != kFree)
      throw std::invalid_argument("the places are no mapping");
    rank_[place_[rank]] = rank;
  }
  // Ways: both of each cable, then out of and into each host, then the memory of each.
  for (const std::uint32_t width : widths) share_.insert(share_.end(), 2, 1.0 / width);
  if (limits.interface_each_way > 0) {
    interfaces_ = static_cast<std::uint32_t>(share_.size());
    share_.insert(share_.end(), 2 * hosts_, 1 / limits.interface_each_way);
  }
  if (limits.memory > 0) {
    memories_ = static_cast<std::uint32_t>(share_.size());
    share_.insert(share_.end(), hosts_, 1 / limits.memory);
  }
  if (hosts_ <= kMostListed) {
    way_first_.push_back(0);
    for (Node source = 0; source < hosts_; ++source)
      for (Node target = 0; target < hosts_; ++target) {
        for (const Hop& hop : routes_.path(source, target)) ways_.push_back(way_of(hop));
        way_first_.push_back(static_cast<std::uint32_t>(ways_.size()));
      }
  }

  // Round 0 is everything at once; a single round is that already.
  const bool single = rounds.count.size() == 1;
  count_.push_back(single ? 1 : 0);
  if (!single) count_.insert(count_.end(), rounds.count.begin(), rounds.count.end());
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> all;
  std::vector<std::vector<Arc>> of_rank(ranks);
  const auto enter = [&](std::uint32_t round, std::uint32_t sender, std::uint32_t receiver, double size) {
    of_rank[sender].push_back({round, receiver, size, true});
    of_rank[receiver].push_back({round, sender, size, false});
  };
  for (const RoundMessage& message : rounds.messages) {
    if (message.sender >= ranks || message.receiver >= ranks || message.round >= rounds.count.size())
      throw std::invalid_argument("a message is of no rank or of no round");
    const auto size = static_cast<double>(message.size);
    all[{message.sender, message.receiver}] += size * rounds.count[message.round];
    if (count_.size() > 1) enter(message.round + 1, message.sender, message.receiver, size);
  }
  for (const auto& [pair, size] : all) enter(0, pair.first, pair.second, size);
  first_.push_back(0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    arcs_.insert(arcs_.end(), of_rank[rank].begin(), of_rank[rank].end());
    first_.push_back(arcs_.size());
    if (!of_rank[rank].empty()) talking_.push_back(rank);
  }
  load_.assign(count_.size() * share_.size(), 0);
  busiest_.assign(count_.size(), 0);
  marked_.assign(count_.size(), 0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::size_t at = first_[rank]; at < first_[rank + 1]; ++at) {
      const Arc& arc = arcs_[at];
      if (!arc.sent) continue;
      double* const load = load_.data() + arc.round * share_.size();
      along(host_[place_[rank]], host_[place_[arc.other]], [&](std::uint32_t way) {
        load[way] += arc.size;
        hops_ += count_[arc.round];
      });
    }
  for (std::uint32_t round = 0; round < count_.size(); ++round) weigh(round);
}

/// Calls `use` with each way that a message crosses.
template <typename Use>
void RoundAssignment::along(Node source, Node target, const Use& use) const {
  if (source == target) {
    if (memories_ > 0) use(memories_ + source);
    return;
  }
  if (interfaces_ > 0) {
    use(interfaces_ + 2 * source);
    use(interfaces_ + 2 * target + 1);
  }
  if (way_first_.empty()) {
    for (const Hop& hop : routes_.path(source, target)) use(way_of(hop));
    return;
  }
  const std::size_t pair = source * hosts_ + target;
  for (std::uint32_t at = way_first_[pair]; at < way_first_[pair + 1]; ++at) use(ways_[at]);
}

void RoundAssignment::weigh(std::uint32_t round) {
  const double* const load = load_.data() + round * share_.size();
  double sums[4] = {0, 0, 0, 0}, powers[4] = {0, 0, 0, 0};  // four, for the processor to add at once
  for (std::size_t way = 0; way < share_.size(); ++way) {
    const double here = load[way] * share_[way];
    const double square = here * here, fourth = square * square;
    sums[way % 4] += here;
    powers[way % 4] += fourth * fourth;
  }
  busiest_[round] = eighth_root(powers[0] + powers[1] + powers[2] + powers[3]);
  if (round == 0) volume_ = sums[0] + sums[1] + sums[2] + sums[3];
}

RoundTerms RoundAssignment::terms() const {
  if (count_.size() == 1) return {volume_, busiest_[0], busiest_[0], hops_};
  double rounds = 0;
  for (std::size_t round = 1; round < count_.size(); ++round) rounds += count_[round] * busiest_[round];
  return {volume_, busiest_[0], rounds, hops_};
}

void RoundAssignment::shift(std::uint32_t rank, std::uint32_t spared, double sign) {
  const Node here = host_[place_[rank]];
  for (std::size_t at = first_[rank]; at < first_[rank + 1]; ++at) {
    const Arc& arc = arcs_[at];
    if (arc.other == spared) continue;
    if (marked_[arc.round] == 0) {
      marked_[arc.round] = 1;
      touched_.push_back(arc.round);
    }
    double* const load = load_.data() + arc.round * share_.size();
    const Node there = host_[place_[arc.other]];
    const double size = sign * arc.size, count = sign * count_[arc.round];
    along(arc.sent ? here : there, arc.sent ? there : here, [&](std::uint32_t way) {
      load[way] += size;
      hops_ += count;
    });
  }
}

/// Moves the loads; the busiest of the rounds touched are left as they were.
void RoundAssignment::exchange(std::uint32_t rank, std::uint32_t place) {
  for (const std::uint32_t round : touched_) marked_[round] = 0;
  touched_.clear();
  const std::uint32_t before = place_[rank], other = rank_[place];
  shift(rank, kFree, -1);
  if (other != kFree) shift(other, rank, -1);
  place_[rank] = place;
  rank_[place] = rank;
  rank_[before] = other;
  if (other != kFree) place_[other] = before;
  shift(rank, kFree, 1);
  if (other != kFree) shift(other, rank, 1);
}

void RoundAssignment::swap(std::uint32_t rank, std::uint32_t place) {
  if (rank_.at(place) == rank) return;
  exchange(rank, place);
  for (const std::uint32_t round : touched_) weigh(round);
}

RoundTerms RoundAssignment::after(std::uint32_t rank, std::uint32_t place) {
  const std::uint32_t before = place_.at(rank);
  swap(rank, place);
  const RoundTerms found = terms();
  swap(rank, before);
  return found;
}

double RoundAssignment::work() const {
  if (talking_.empty()) return 1;
  const double arcs = static_cast<double>(arcs_.size()) / static_cast<double>(talking_.size());
  double hops = 1.0 + static_cast<double>(ways_.size()) / static_cast<double>(hosts_ * hosts_);
  if (way_first_.empty())
    hops = kPathWork * static_cast<double>(1 + routes_.path(0, static_cast<Node>(hosts_ - 1)).size());
  const double rounds = std::min(static_cast<double>(count_.size()), 2 * arcs);
  return 4 * arcs * hops + rounds * static_cast<double>(share_.size()) / 2;
}

std::uint32_t RoundAssignment::apart(std::uint32_t place, std::uint32_t other) const {
  if (host_[place] == host_[other]) return 0;
  if (way_first_.empty())
    return static_cast<std::uint32_t>(routes_.path(host_[place], host_[other]).size());
  const std::size_t pair = host_[place] * hosts_ + host_[other];
  return way_first_[pair + 1] - way_first_[pair];
}

std::uint32_t RoundAssignment::near(std::uint32_t place, std::uint32_t looks, Random& random) const {
  const auto places = static_cast<std::uint32_t>(rank_.size());
  std::uint32_t best = random.below(places);
  for (std::uint32_t look = 1; look < looks; ++look) {
    const std::uint32_t other = random.below(places);
    if (other != place && (best == place || apart(other, place) < apart(best, place))) best = other;
  }
  return best;
}

/// A place, as a rule close to a rank that this one exchanges something with.
std::uint32_t RoundAssignment::draw_place(std::uint32_t rank, Random& random) const {
  static constexpr std::uint32_t kLooks[] = {1, 4, 16};
  const auto count = static_cast<std::uint32_t>(first_[rank + 1] - first_[rank]);
  const std::uint32_t partner = arcs_[first_[rank] + random.below(count)].other;
  return near(place_[partner], kLooks[random.below(3)], random);
}

void RoundAssignment::anneal(const RoundTerms& weights, double hot, std::uint64_t steps, std::uint64_t seed) {
  if (talking_.empty() || rank_.size() < 2 || hot <= 0) return;
  Random random(seed);
  const auto cost = [&] {
    const RoundTerms now = terms();
    return weights.volume * now.volume + weights.busiest * now.busiest +
           weights.rounds * now.rounds + weights.hops * now.hops;
  };
  const auto draw = [&] {
    const std::uint32_t rank = talking_[random.below(static_cast<std::uint32_t>(talking_.size()))];
    return std::pair<std::uint32_t, std::uint32_t>{rank, draw_place(rank, random)};
  };
  double now = cost(), best = now, change = 0;
  std::vector<std::uint32_t> best_places = place_;
  std::uint64_t made = 0;
  for (; made < std::min<std::uint64_t>(kSamples, steps / 4); ++made) {
    const auto [rank, place] = draw();
    const std::uint32_t before = place_[rank];
    swap(rank, place);
    change += std::abs(cost() - now);
    swap(rank, before);
  }
  change /= static_cast<double>(std::max<std::uint64_t>(made, 1));
  double temperature = 0;
  std::vector<double> kept;
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (step % kPortion == 0)
      temperature = change * hot *
                    std::pow(kCold / hot, static_cast<double>(step) / static_cast<double>(steps));
    const auto [rank, place] = draw();
    const std::uint32_t before = place_[rank];
    if (place == before) continue;
    exchange(rank, place);
    const double volume = volume_;
    kept.clear();
    for (const std::uint32_t round : touched_) {
      kept.push_back(busiest_[round]);
      weigh(round);
    }
    const double then = cost(), worse = then - now;
    if (worse > 0 && random.unit() >= std::exp(-worse / std::max(temperature, 1e-300))) {
      exchange(rank, before);  // touches the same rounds, in the same order
      for (std::size_t at = 0; at < kept.size(); ++at) busiest_[touched_[at]] = kept[at];
      volume_ = volume;
      continue;
    }
    now = then;
    if (now < best) {
      best = now;
      best_places = place_;
    }
  }
  for (std::uint32_t rank = 0; rank < place_.size(); ++rank) swap(rank, best_places[rank]);
}

}  // namespace hamtune
