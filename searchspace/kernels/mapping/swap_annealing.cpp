#include "searchspace/kernels/mapping/swap_annealing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "searchspace/kernels/graph/random.hpp"

namespace hamtune {
namespace {

constexpr Node kEmpty = std::numeric_limits<Node>::max();

/// An assignment of ranks to hosts; what an exchange changes is evaluated alone, in O(degree).
class Assignment {
 public:
  Assignment(const PlacementProblem& problem, std::vector<Node> start)
      : price_(problem.price),
        width_(problem.network.nodes()),
        first_(problem.ranks + 1, 0),
        host_(std::move(start)),
        rank_(width_, kEmpty) {
    for (const Flow& flow : problem.flows) {
      ++first_[flow.from + 1];
      ++first_[flow.to + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    partners_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const Flow& flow : problem.flows) {
      partners_[next[flow.from]++] = {flow.to, flow.weight};
      partners_[next[flow.to]++] = {flow.from, flow.weight};
    }
    for (Node rank = 0; rank < host_.size(); ++rank) rank_[host_[rank]] = rank;
    for (const Flow& flow : problem.flows) cost_ += flow.weight * price(host_[flow.from], host_[flow.to]);
  }

  std::int64_t cost() const { return cost_; }
  const std::vector<Node>& hosts() const { return host_; }
  Node host(Node rank) const { return host_[rank]; }

  /// A random rank that `rank` exchanges with; itself when there is none.
  Node partner(Node rank, Random& random) const {
    const auto count = static_cast<std::uint32_t>(first_[rank + 1] - first_[rank]);
    return count == 0 ? rank : partners_[first_[rank] + random.below(count)].rank;
  }

  /// How the cost changes when `rank` goes to `host` and who is there takes its place.
  std::int64_t change(Node rank, Node host) const {
    const Node other = rank_[host];
    std::int64_t change = moved(rank, host_[rank], host, other);
    if (other != kEmpty) change += moved(other, host, host_[rank], rank);
    return change;
  }

  void move(Node rank, Node host, std::int64_t change) {
    const Node left = host_[rank], other = rank_[host];
    host_[rank] = host;
    rank_[host] = rank;
    rank_[left] = other;
    if (other != kEmpty) host_[other] = left;
    cost_ += change;
  }

 private:
  struct Partner {
    Node rank;
    std::int64_t weight;
  };

  std::int64_t price(Node a, Node b) const { return price_[static_cast<std::size_t>(a) * width_ + b]; }

  /// The part of a change that comes from one rank's flows; the one with `except`, with which it
  /// swaps, stays as long as it was.
  std::int64_t moved(Node rank, Node from, Node to, Node except) const {
    const std::uint16_t* before = &price_[static_cast<std::size_t>(from) * width_];
    const std::uint16_t* after = &price_[static_cast<std::size_t>(to) * width_];
    std::int64_t change = 0;
    for (std::size_t at = first_[rank]; at < first_[rank + 1]; ++at) {
      const auto& [partner, weight] = partners_[at];
      if (partner == except) continue;
      const Node there = host_[partner];
      change += weight * (static_cast<int>(after[there]) - static_cast<int>(before[there]));
    }
    return change;
  }

  const std::vector<std::uint16_t>& price_;
  std::size_t width_;
  std::vector<std::size_t> first_;
  std::vector<Partner> partners_;
  std::vector<Node> host_;
  std::vector<Node> rank_;
  std::int64_t cost_ = 0;
};

/// Where a rank may go: beside a partner, or anywhere.
Node destination(const Assignment& assignment, const Adjacency& network, Node rank, Random& random) {
  constexpr std::uint32_t kAnywhere = 16;
  const auto hosts = static_cast<std::uint32_t>(network.nodes());
  const Node near = assignment.host(assignment.partner(rank, random));
  const auto degree = static_cast<std::uint32_t>(network.end(near) - network.begin(near));
  if (degree == 0 || random.below(kAnywhere) == 0) return random.below(hosts);
  return (network.begin(near) + random.below(degree))->node;
}

}  // namespace

Placement anneal_swaps(const PlacementProblem& problem, std::vector<Node> start,
                       std::uint64_t moves, std::uint64_t seed) {
  Assignment assignment(problem, std::move(start));
  Placement best{assignment.hosts(), assignment.cost()};
  if (problem.flows.empty()) return best;

  std::int64_t total = 0;
  for (const Flow& flow : problem.flows) total += flow.weight;
  const double hottest = 2.0 * static_cast<double>(total) / static_cast<double>(problem.ranks);
  constexpr double kColdest = 0.01;
  constexpr std::uint64_t kSteps = 256;  // moves at one temperature

  Random random(seed);
  double temperature = hottest;
  for (std::uint64_t step = 0; step < moves && best.cost > 0; ++step) {
    if (step % kSteps == 0)
      temperature = hottest * std::pow(kColdest, static_cast<double>(step) / static_cast<double>(moves));
    const Node rank = random.below(static_cast<std::uint32_t>(problem.ranks));
    const Node host = destination(assignment, problem.network, rank, random);
    if (host == assignment.host(rank)) continue;
    const std::int64_t change = assignment.change(rank, host);
    if (static_cast<double>(change) > -temperature * std::log(1 - random.unit())) continue;
    assignment.move(rank, host, change);
    if (assignment.cost() < best.cost) best = {assignment.hosts(), assignment.cost()};
  }
  return best;
}

}  // namespace hamtune
