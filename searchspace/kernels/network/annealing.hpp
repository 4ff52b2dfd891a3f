// Simulated annealing of networks by exchanging cables. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "searchspace/kernels/network/orbit_moves.hpp"
#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/network/rotation_graph.hpp"

namespace hamtune {

struct AnnealingSchedule {
  double hot = 1.0;                // first temperature: distances that a pair may lose, in hops
  double cold = 0.1;               // last temperature
  std::uint64_t iterations = 0;    // moves proposed from the first to the last
  unsigned diameter_goal = 0;      // pairs farther apart cost more; 0: they do not
  std::int64_t penalty = 0;        // hops that each of them costs in addition
};

/// Anneals the sum of distances of a network (Deng et al., "Optimal low-latency network topologies for
/// cluster performance enhancement", 2019, section 3.1), over orbits of edges under a rotation.
///
/// The temperature falls geometrically. The threshold that a move must stay under is drawn before
/// the move is evaluated, so that the evaluation of most bad moves ends a level or two early. Random
/// numbers begin anew every kEpoch moves, which makes the state between epochs small: the orbits,
/// the best orbits and the number of the epoch.
class Annealing {
 public:
  static constexpr std::uint64_t kEpoch = 512;

  /// `kept` orbits stay; `orbits` are exchanged. Together they must be connected. The start is that
  /// network after `scramble` changes whatever they cost (at least; until it is connected again).
  Annealing(std::uint32_t nodes, std::uint32_t degree, std::uint32_t symmetry,
            const std::vector<Orbit>& kept, std::vector<Orbit> orbits,
            const AnnealingSchedule& schedule, std::uint64_t scramble, std::uint64_t seed)
      : graph_(nodes, degree, symmetry),
        orbits_(std::move(orbits)),
        schedule_(schedule),
        seed_(Random(seed).next()) {
    for (const Orbit& orbit : kept) link_checked(graph_, orbit);
    for (const Orbit& orbit : orbits_) link_checked(graph_, orbit);
    if (scramble > 0) scramble_orbits(scramble);
    const DistanceSum start = evaluate(RotationGraph::kTooFar);
    if (start.cost == RotationGraph::kTooFar)
      throw std::invalid_argument("the network is not connected");
    cost_ = start.cost;
    best_ = orbits_;
    best_cost_ = cost_;
    best_diameter_ = start.diameter;
  }

  Annealing(const Annealing&) = delete;  // `moves_` refers to what is in here
  Annealing& operator=(const Annealing&) = delete;

  /// Goes on from a state between epochs.
  void resume(std::uint64_t epoch, const std::vector<Orbit>& best) {
    epoch_ = epoch;
    const std::vector<Orbit> now = orbits_;
    become(best);
    const DistanceSum found = evaluate(RotationGraph::kTooFar);
    best_ = best;
    best_cost_ = found.cost;
    best_diameter_ = found.diameter;
    become(now);
  }

  /// Runs up to that many epochs; stops at the end of the schedule and once the best cost is `goal`.
  void run(std::uint64_t epochs, std::int64_t goal) {
    for (std::uint64_t done = 0; done < epochs && !finished(goal); ++done, ++epoch_) {
      Random random(seed_ + epoch_);
      const double progress = static_cast<double>(epoch_ * kEpoch) /
                              static_cast<double>(std::max<std::uint64_t>(schedule_.iterations, 1));
      const double temperature =
          2.0 * schedule_.hot * std::pow(schedule_.cold / schedule_.hot, progress);
      for (std::uint64_t move = 0; move < kEpoch; ++move) {
        propose(random, temperature);
        if (best_cost_ <= goal) break;
      }
    }
  }

  bool finished(std::int64_t goal) const {
    return orbits_.empty() || best_cost_ <= goal || epoch_ * kEpoch >= schedule_.iterations;
  }

  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t evaluations() const { return evaluations_; }
  std::uint64_t accepted() const { return accepted_; }
  const std::vector<Orbit>& orbits() const { return orbits_; }
  const std::vector<Orbit>& best() const { return best_; }
  std::int64_t best_cost() const { return best_cost_; }
  unsigned best_diameter() const { return best_diameter_; }

 private:
  static constexpr unsigned kScrambles = 100;  // until the network is connected

  DistanceSum evaluate(std::int64_t limit) {
    return graph_.evaluate(limit, schedule_.diameter_goal, schedule_.penalty);
  }

  void become(const std::vector<Orbit>& orbits) {
    for (const Orbit& orbit : orbits_) graph_.unlink(orbit);
    for (const Orbit& orbit : orbits) graph_.link(orbit);
    orbits_ = orbits;
  }

  void propose(Random& random, double temperature) {
    OrbitChange change;
    if (!moves_.choose(random, change) || !moves_.apply(change)) return;
    const double allowance = std::min(-std::log(1.0 - random.unit()) * temperature, 1e15);
    const DistanceSum found = evaluate(cost_ + static_cast<std::int64_t>(allowance));
    ++evaluations_;
    if (found.cost == RotationGraph::kTooFar) {
      moves_.undo(change);
      return;
    }
    ++accepted_;
    moves_.remember(change);
    cost_ = found.cost;
    if (cost_ < best_cost_) {
      best_cost_ = cost_;
      best_diameter_ = found.diameter;
      best_ = orbits_;
    }
  }

  void scramble_orbits(std::uint64_t changes) {
    const std::vector<Orbit> start = orbits_;
    Random random(~seed_);
    for (unsigned attempt = 0; attempt < kScrambles && !orbits_.empty(); ++attempt) {
      for (std::uint64_t done = 0; done < changes; ++done) {
        OrbitChange change;
        if (moves_.choose(random, change) && moves_.apply(change)) moves_.remember(change);
      }
      if (evaluate(RotationGraph::kTooFar).cost != RotationGraph::kTooFar) return;
    }
    become(start);
  }

  RotationGraph graph_;
  std::vector<Orbit> orbits_;
  OrbitMoves moves_{graph_, orbits_};
  AnnealingSchedule schedule_;
  std::uint64_t seed_;
  std::uint64_t epoch_ = 0;
  std::uint64_t evaluations_ = 0;
  std::uint64_t accepted_ = 0;
  std::int64_t cost_ = 0;
  std::vector<Orbit> best_;
  std::int64_t best_cost_ = 0;
  unsigned best_diameter_ = 0;
};

}  // namespace hamtune
