// Simulated annealing of networks by exchanging cables. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "searchspace/kernels/random.hpp"
#include "searchspace/kernels/rotation_graph.hpp"

namespace hamtune {

/// Links an orbit whose numbers come from outside.
inline void link_checked(RotationGraph& graph, const Orbit& orbit) {
  if (orbit.i >= graph.bases() || orbit.j >= graph.bases() || orbit.turn >= graph.symmetry())
    throw std::invalid_argument("an orbit names a node or a turn that does not exist");
  const std::uint32_t ends = orbit.i == orbit.j && !graph.is_self_paired(orbit) ? 2 : 1;
  if (!graph.fits(orbit) || graph.degree_of(orbit.i) + ends > graph.degree() ||
      graph.degree_of(orbit.j) + ends > graph.degree())
    throw std::invalid_argument("the orbits do not form a simple network of that degree");
  graph.link(orbit);
}

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

  struct Change {
    std::size_t first = 0;
    std::size_t second = 0;
    Orbit out[2];
    Orbit in[2];
    unsigned removed = 0;
    unsigned added = 0;
  };

  DistanceSum evaluate(std::int64_t limit) {
    return graph_.evaluate(limit, schedule_.diameter_goal, schedule_.penalty);
  }

  void become(const std::vector<Orbit>& orbits) {
    for (const Orbit& orbit : orbits_) graph_.unlink(orbit);
    for (const Orbit& orbit : orbits) graph_.link(orbit);
    orbits_ = orbits;
  }

  std::uint32_t any_turn(Random& random) const {
    return graph_.symmetry() == 1 ? 0 : random.below(graph_.symmetry());
  }

  /// The same edges, seen from the other end.
  Orbit reversed(const Orbit& orbit) const {
    return {orbit.j, orbit.i, graph_.opposite(orbit.turn)};
  }

  /// Chooses a change; false when the choice leads nowhere.
  bool choose(Random& random, Change& change) const {
    const auto count = static_cast<std::uint32_t>(orbits_.size());
    change.first = random.below(count);
    change.out[0] = orbits_[change.first];
    if (graph_.symmetry() > 1 && random.below(4) == 0) return choose_turn(random, change);
    change.second = random.below(count);
    if (change.second == change.first) return false;
    change.out[1] = orbits_[change.second];
    return choose_exchange(random, change);
  }

  /// Another turn for one orbit; or two self-paired orbits out of one orbit, or one out of two.
  bool choose_turn(Random& random, Change& change) const {
    const Orbit& old = change.out[0];
    const std::uint32_t half = graph_.symmetry() / 2;
    const bool halves = graph_.symmetry() % 2 == 0;
    if (graph_.is_self_paired(old)) {
      change.second = random.below(static_cast<std::uint32_t>(orbits_.size()));
      const Orbit& other = change.out[1] = orbits_[change.second];
      if (!graph_.is_self_paired(other) || other.i == old.i) return false;
      change.in[0] = {old.i, other.i, any_turn(random)};
      change.removed = 2;
      change.added = 1;
    } else if (halves && old.i != old.j && random.below(8) == 0) {
      change.in[0] = {old.i, old.i, half};
      change.in[1] = {old.j, old.j, half};
      change.removed = 1;
      change.added = 2;
    } else {
      change.in[0] = {old.i, old.j, any_turn(random)};
      change.removed = change.added = 1;
      if (graph_.is_self_paired(change.in[0])) return false;
    }
    return true;
  }

  /// Two orbits exchange ends: i-j and k-l become i-k and j-l.
  bool choose_exchange(Random& random, Change& change) const {
    change.removed = change.added = 2;
    Orbit a = change.out[0];
    Orbit b = change.out[1];
    if (random.below(2) == 0) a = reversed(a);
    if (random.below(2) == 0) b = reversed(b);
    const bool self_a = graph_.is_self_paired(a);
    const bool self_b = graph_.is_self_paired(b);
    if (self_a && self_b) return false;
    if (self_a || self_b) {
      // i's own edge and k-l become k's own edge and i-l.
      const Orbit& own = self_a ? a : b;
      const Orbit& other = self_a ? b : a;
      change.in[0] = {other.i, other.i, graph_.symmetry() / 2};
      change.in[1] = {own.i, other.j, any_turn(random)};
      return !graph_.is_self_paired(change.in[1]);
    }
    // Edges of the two orbits some turns apart; what that leaves of the turns is decided by it.
    const std::uint32_t symmetry = graph_.symmetry();
    const std::uint32_t apart = any_turn(random);
    change.in[0] = {a.i, b.i, apart};
    change.in[1] = {a.j, b.j, (apart + b.turn + graph_.opposite(a.turn)) % symmetry};
    return !graph_.is_self_paired(change.in[0]) && !graph_.is_self_paired(change.in[1]);
  }

  /// Makes the change in the network, not in `orbits_`; false, and nothing changed, when a new
  /// orbit does not fit.
  bool apply(const Change& change) {
    for (unsigned k = 0; k < change.removed; ++k) graph_.unlink(change.out[k]);
    for (unsigned linked = 0; linked < change.added; ++linked) {
      if (graph_.fits(change.in[linked])) {
        graph_.link(change.in[linked]);
      } else {
        undo(change, linked);
        return false;
      }
    }
    return true;
  }

  void undo(const Change& change, unsigned linked) {
    while (linked > 0) graph_.unlink(change.in[--linked]);
    for (unsigned k = change.removed; k-- > 0;) graph_.link(change.out[k]);
  }

  void propose(Random& random, double temperature) {
    Change change;
    if (!choose(random, change) || !apply(change)) return;
    const double allowance = std::min(-std::log(1.0 - random.unit()) * temperature, 1e15);
    const DistanceSum found = evaluate(cost_ + static_cast<std::int64_t>(allowance));
    ++evaluations_;
    if (found.cost == RotationGraph::kTooFar) {
      undo(change, change.added);
      return;
    }
    ++accepted_;
    remember(change);
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
        Change change;
        if (choose(random, change) && apply(change)) remember(change);
      }
      if (evaluate(RotationGraph::kTooFar).cost != RotationGraph::kTooFar) return;
    }
    become(start);
  }

  void remember(const Change& change) {
    orbits_[change.first] = change.in[0];
    if (change.removed == 2 && change.added == 2) {
      orbits_[change.second] = change.in[1];
    } else if (change.removed == 2) {
      orbits_[change.second] = orbits_.back();
      orbits_.pop_back();
    } else if (change.added == 2) {
      orbits_.push_back(change.in[1]);
    }
  }

  RotationGraph graph_;
  std::vector<Orbit> orbits_;
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
