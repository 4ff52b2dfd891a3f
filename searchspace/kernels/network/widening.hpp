// Widening the bisection of a network by exchanging cables. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/network/bisection.hpp"
#include "searchspace/kernels/network/cut_pool.hpp"
#include "searchspace/kernels/graph/flat_graph.hpp"
#include "searchspace/kernels/network/orbit_moves.hpp"
#include "searchspace/kernels/graph/random.hpp"

namespace hamtune {

/// Exchanges orbits of edges so that the narrowest cuts vanish and no others come.
///
/// Every narrow cut that was ever found stays in a pool. A change that raises the load of the pool
/// (see CutPool) by more than a little is refused without a search. For any other, narrow cuts of
/// the new network are searched for, by Fiduccia-Mattheyses from disturbed cuts of the pool and
/// from random ones, and it is refused as soon as they bring the load above the limit. They join
/// the pool all the same, so that the like of it fails at no cost the next time.
class Widening {
 public:
  /// `kept` orbits stay; `orbits` are exchanged.
  Widening(std::uint32_t nodes, std::uint32_t degree, std::uint32_t symmetry,
           std::vector<Orbit> kept, std::vector<Orbit> orbits, std::uint64_t seed)
      : graph_(nodes, degree, symmetry),
        kept_(std::move(kept)),
        orbits_(std::move(orbits)),
        random_(seed),
        flat_(Adjacency(nodes, edges_of(all_orbits(), symmetry, nodes / symmetry))),
        bisector_(flat_),
        pool_(nodes, symmetry, std::size_t{nodes} * degree / 2, kSharpness) {
    for (const Orbit& orbit : all_orbits()) link_checked(graph_, orbit);
    for (std::uint32_t base = 0; base < graph_.bases(); ++base) lay_out(base);
    look(kFirstSearches, 0.0, false);
  }

  Widening(const Widening&) = delete;  // its parts refer to each other
  Widening& operator=(const Widening&) = delete;

  /// Goes on for about that many searches for a cut. Whenever a network withstands a close look for
  /// a cut of `aim` edges or fewer it is the new best one, and its width the aim; returns the aim.
  std::size_t run(std::uint64_t searches, std::size_t aim) {
    const std::uint64_t last = searches_ + searches;
    unsigned idle = 0;
    while (searches_ < last && !orbits_.empty() && idle < kMostIdle) {
      const std::uint64_t before = searches_;
      const bool accepted = propose();
      idle = searches_ == before ? idle + 1 : 0;
      if (!accepted || pool_.narrowest() <= aim) continue;
      for (unsigned part = 0; part < kCloseParts && pool_.narrowest() > aim; ++part)
        look(kCloseSearches, 0.0, false);
      if (pool_.narrowest() <= aim) continue;
      aim = pool_.narrowest();
      best_ = orbits_;
    }
    return aim;
  }

  /// The narrowest cut known of the network at hand.
  std::size_t width() const { return pool_.narrowest(); }
  /// The orbits that were exchanged, of the last best network.
  const std::vector<Orbit>& best() const { return best_; }
  std::uint64_t proposals() const { return proposals_; }

 private:
  static constexpr double kSharpness = 1.0;     // of the load, an edge
  static constexpr double kTemperature = 0.05;  // part by which the load may grow, on average
  static constexpr std::size_t kWindow = 8;     // edges above the narrowest that a cut is kept for
  static constexpr std::size_t kMostCuts = 2000;
  static constexpr unsigned kFirstSearches = 200;
  static constexpr unsigned kSearches = 8;  // before a change is accepted
  static constexpr unsigned kCloseSearches = 100;
  static constexpr unsigned kCloseParts = 15;
  static constexpr unsigned kTournament = 8;
  static constexpr unsigned kMostIdle = 100'000;

  std::vector<Orbit> all_orbits() const {
    std::vector<Orbit> all = kept_;
    all.insert(all.end(), orbits_.begin(), orbits_.end());
    return all;
  }

  /// Writes the neighbours of all turns of a base node anew.
  void lay_out(std::uint32_t base) {
    arms_.clear();
    for (const std::vector<Orbit>* list : {&kept_, &orbits_})
      for (const Orbit& orbit : *list) {
        if (orbit.i == base) arms_.push_back(orbit);
        if (orbit.j == base && !graph_.is_self_paired(orbit))
          arms_.push_back({orbit.j, orbit.i, graph_.opposite(orbit.turn)});
      }
    for (std::uint32_t turn = 0; turn < graph_.symmetry(); ++turn) {
      Node* target = flat_.target.data() + flat_.first[turn * graph_.bases() + base];
      for (const Orbit& arm : arms_)
        *target++ = (turn + arm.turn) % graph_.symmetry() * graph_.bases() + arm.j;
    }
  }

  void lay_out(const OrbitChange& change) {
    touched_.clear();
    for (unsigned k = 0; k < change.removed; ++k)
      touched_.insert(touched_.end(), {change.out[k].i, change.out[k].j});
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const std::uint32_t base : touched_) lay_out(base);
  }

  /// A split to start from: a narrow cut of the pool after a disturbance, or a random one.
  Sides start(std::uint64_t number) {
    if (number % 4 == 3 || pool_.size() == 0) return bisector_.random_split(random_);
    const auto cuts = static_cast<std::uint32_t>(pool_.size());
    std::size_t cut = random_.below(cuts);
    for (unsigned round = 1; round < kTournament; ++round) {
      const std::size_t other = random_.below(cuts);
      if (pool_.width(other) < pool_.width(cut)) cut = other;
    }
    Sides sides = pool_.sides(cut);
    bisector_.disturb(sides, graph_.nodes() / 32 + 1, random_);
    return sides;
  }

  /// Searches for narrow cuts, until the load is above the limit if there is one; returns if it is.
  bool look(unsigned searches, double limit, bool limited) {
    for (unsigned search = 0; search < searches; ++search) {
      Sides sides = start(search);
      const std::size_t width = bisector_.improve(sides);
      ++searches_;
      if (width > pool_.narrowest() + kWindow) continue;
      pool_.add(sides, all_orbits());
      if (limited && pool_.load() > limit) return true;
    }
    return false;
  }

  bool propose() {
    ++proposals_;
    OrbitChange change;
    if (!moves_.choose(random_, change) || !moves_.apply(change)) return false;
    const double limit = pool_.load() * std::exp(-kTemperature * std::log(1.0 - random_.unit()));
    if (pool_.load_after(change, limit) > limit) {
      moves_.undo(change);
      return false;
    }
    before_ = orbits_;
    moves_.remember(change);
    pool_.exchange();
    lay_out(change);
    const bool refused = look(kSearches, limit, true);
    if (refused) {
      orbits_ = before_;
      moves_.undo(change);
      pool_.take_back(all_orbits());
      lay_out(change);
    }
    if (pool_.size() > kMostCuts) pool_.shrink(kMostCuts * 3 / 4);
    return !refused;
  }

  RotationGraph graph_;
  std::vector<Orbit> kept_;
  std::vector<Orbit> orbits_;
  OrbitMoves moves_{graph_, orbits_};
  Random random_;
  FlatGraph flat_;
  Bisector bisector_;
  CutPool pool_;
  std::vector<Orbit> best_;
  std::vector<Orbit> before_;
  std::vector<Orbit> arms_;
  std::vector<std::uint32_t> touched_;
  std::uint64_t searches_ = 0;
  std::uint64_t proposals_ = 0;
};

}  // namespace hamtune
