// Cayley networks of metacyclic groups with wide bisections. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/bisection.hpp"
#include "searchspace/kernels/flat_graph.hpp"
#include "searchspace/kernels/orbit_moves.hpp"
#include "searchspace/kernels/random.hpp"

namespace hamtune {

/// A group of pairs (x, i), x mod `symmetry` and i mod `bases`: a rotation r and an element y with
/// y r y^-1 = r^multiplier and y^bases = r^carry; (x, i) is r^x y^i. Every metacyclic group is one:
/// cyclic, dihedral, quaternion, semidirect products of cyclic groups.
struct MetacyclicGroup {
  std::uint32_t symmetry = 1;
  std::uint32_t bases = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t carry = 0;
};

/// A network: orbits of edges under the rotation of its group, and its narrowest known cut.
struct CayleyNetwork {
  MetacyclicGroup group;
  std::vector<Orbit> orbits;
  std::size_t width = 0;
};

/// Draws Cayley networks: every element of a group is joined with its products with generators.
///
/// They look the same from every node, and where the group is far from commutative many of them
/// expand well; each costs no more than a search or two for a cut that is too narrow.
class CayleySurvey {
 public:
  /// Only networks that a rotation of order `unit` maps onto themselves.
  CayleySurvey(std::uint32_t nodes, std::uint32_t degree, std::uint32_t unit)
      : nodes_(nodes), degree_(degree) {
    if (unit == 0 || nodes % unit != 0)
      throw std::invalid_argument("the symmetry must divide the number of nodes");
    for (std::uint32_t symmetry = unit; symmetry <= nodes; symmetry += unit)
      if (nodes % symmetry == 0) add_groups(symmetry);
  }

  /// Draws networks for about that many searches for a cut; returns the last one of those that
  /// withstood a close look for a cut of `aim` edges or fewer (the aim rises with each), or one
  /// without orbits. Every second one is of the favourite's rotation and multiplier.
  CayleyNetwork run(std::uint64_t searches, std::size_t aim, const MetacyclicGroup& favourite,
                    std::uint64_t seed) const {
    Random random(seed);
    CayleyNetwork best;
    for (std::uint64_t done = 0; done < searches;) {
      MetacyclicGroup group = groups_[random.below(static_cast<std::uint32_t>(groups_.size()))];
      if (favourite.symmetry > 1 && random.below(2) == 0) group = favourite;
      CayleyNetwork network{group, draw(group, random), 0};
      if (network.orbits.empty()) {
        ++done;
        continue;
      }
      network.width = look(network.orbits, group, aim, random, done);
      if (network.width <= aim) continue;
      aim = network.width;
      best = std::move(network);
    }
    return best;
  }

 private:
  static constexpr unsigned kCloseSearches = 1500;
  static constexpr unsigned kDraws = 20;  // of a generator, each

  void add_groups(std::uint32_t symmetry) {
    const std::uint32_t bases = nodes_ / symmetry;
    for (std::uint32_t multiplier = 1; multiplier <= symmetry; ++multiplier) {
      if (multiplier == symmetry && symmetry > 1) break;
      std::uint64_t power = 1;
      for (std::uint32_t base = 0; base < bases; ++base) power = power * multiplier % symmetry;
      if (power == 1 % symmetry) groups_.push_back({symmetry, bases, multiplier, 0});
    }
  }

  /// The orbits of the network of random generators; none when they were not found.
  std::vector<Orbit> draw(MetacyclicGroup& group, Random& random) const {
    const std::uint32_t symmetry = group.symmetry;
    const std::uint32_t bases = group.bases;
    const std::uint32_t common = std::gcd(symmetry, group.multiplier - 1);
    group.carry = symmetry / common * random.below(common);  // y commutes with its own power
    std::vector<std::uint64_t> powers(bases, 1 % symmetry);
    for (std::uint32_t base = 1; base < bases; ++base)
      powers[base] = powers[base - 1] * group.multiplier % symmetry;

    std::vector<std::pair<std::uint32_t, std::uint32_t>> generators;  // (turn, base)
    const auto known = [&](std::uint32_t turn, std::uint32_t base) {
      return std::find(generators.begin(), generators.end(), std::make_pair(turn, base)) !=
             generators.end();
    };
    std::vector<Orbit> orbits;
    for (unsigned drawn = 0; generators.size() < degree_; ++drawn) {
      if (drawn == kDraws * degree_) return {};
      const std::uint32_t turn = random.below(symmetry);
      const std::uint32_t base = random.below(bases);
      if ((turn == 0 && base == 0) || known(turn, base)) continue;
      const std::uint32_t back = (bases - base) % bases;
      const std::uint64_t whole = turn + (base == 0 ? 0 : group.carry);
      const auto inverse =
          static_cast<std::uint32_t>((symmetry - whole * powers[back] % symmetry) % symmetry);
      const bool own_inverse = inverse == turn && back == base;
      if (!own_inverse && generators.size() + 2 > degree_) continue;
      generators.emplace_back(turn, base);
      if (!own_inverse) generators.emplace_back(inverse, back);
      for (std::uint32_t from = 0; from < bases; ++from) {
        const std::uint32_t to = (from + base) % bases;
        const std::uint64_t carried = from + base >= bases ? group.carry : 0;
        // Of an involution each edge is seen from both ends.
        if (own_inverse && from > to) continue;
        orbits.push_back(
            {from, to, static_cast<std::uint32_t>((powers[from] * turn + carried) % symmetry)});
      }
    }
    return orbits;
  }

  std::size_t look(const std::vector<Orbit>& orbits, const MetacyclicGroup& group, std::size_t aim,
                   Random& random, std::uint64_t& done) const {
    const FlatGraph graph(Adjacency(nodes_, edges_of(orbits, group.symmetry, group.bases)));
    Bisector bisector(graph);
    Sides best;
    std::size_t width = graph.target.size();
    for (unsigned search = 0; search < kCloseSearches && width > aim; ++search, ++done) {
      Sides sides = best;
      if (search % 2 == 0)
        sides = bisector.random_split(random);
      else
        bisector.disturb(sides, nodes_ / 16 + 1, random);
      const std::size_t found = bisector.improve(sides);
      if (found <= width) {
        width = found;
        best = std::move(sides);
      }
    }
    return width;
  }

  std::uint32_t nodes_;
  std::uint32_t degree_;
  std::vector<MetacyclicGroup> groups_;
};

}  // namespace hamtune
