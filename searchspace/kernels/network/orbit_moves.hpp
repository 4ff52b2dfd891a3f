// Changes of a network that keep all degrees and its rotation. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"
#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/network/rotation_graph.hpp"

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

/// The edges of orbits, without a check that they are all different.
inline std::vector<Edge> edges_of(const std::vector<Orbit>& orbits, std::uint32_t symmetry,
                                  std::uint32_t bases) {
  std::vector<Edge> edges;
  for (const Orbit& orbit : orbits) {
    const bool self_paired = orbit.i == orbit.j && 2 * orbit.turn == symmetry;
    for (std::uint32_t turn = 0; turn < (self_paired ? orbit.turn : symmetry); ++turn) {
      const Node u = turn * bases + orbit.i;
      const Node v = (turn + orbit.turn) % symmetry * bases + orbit.j;
      edges.push_back({std::min(u, v), std::max(u, v)});
    }
  }
  return edges;
}

/// One or two orbits that go, and one or two that come.
struct OrbitChange {
  std::size_t first = 0;
  std::size_t second = 0;
  Orbit out[2];
  Orbit in[2];
  unsigned removed = 0;
  unsigned added = 0;
};

/// Draws changes of a list of orbits, and makes them in a network and in the list.
class OrbitMoves {
 public:
  OrbitMoves(RotationGraph& graph, std::vector<Orbit>& orbits) : graph_(graph), orbits_(orbits) {}

  /// Chooses a change; false when the choice leads nowhere.
  bool choose(Random& random, OrbitChange& change) const {
    const auto count = static_cast<std::uint32_t>(orbits_.size());
    change.first = random.below(count);
    change.out[0] = orbits_[change.first];
    if (graph_.symmetry() > 1 && random.below(4) == 0) return choose_turn(random, change);
    change.second = random.below(count);
    if (change.second == change.first) return false;
    change.out[1] = orbits_[change.second];
    return choose_exchange(random, change);
  }

  /// Makes the change in the network, not in the list; false, and nothing changed, when a new orbit
  /// does not fit.
  bool apply(const OrbitChange& change) {
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

  void undo(const OrbitChange& change) { undo(change, change.added); }

  /// Makes the change in the list.
  void remember(const OrbitChange& change) {
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

 private:
  std::uint32_t any_turn(Random& random) const {
    return graph_.symmetry() == 1 ? 0 : random.below(graph_.symmetry());
  }

  /// The same edges, seen from the other end.
  Orbit reversed(const Orbit& orbit) const {
    return {orbit.j, orbit.i, graph_.opposite(orbit.turn)};
  }

  /// Another turn for one orbit; or two self-paired orbits out of one orbit, or one out of two.
  bool choose_turn(Random& random, OrbitChange& change) const {
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
  bool choose_exchange(Random& random, OrbitChange& change) const {
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

  void undo(const OrbitChange& change, unsigned linked) {
    while (linked > 0) graph_.unlink(change.in[--linked]);
    for (unsigned k = change.removed; k-- > 0;) graph_.link(change.out[k]);
  }

  RotationGraph& graph_;
  std::vector<Orbit>& orbits_;
};

}  // namespace hamtune
