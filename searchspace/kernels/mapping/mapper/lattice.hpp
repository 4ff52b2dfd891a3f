// Is the traffic that of a stencil? Its axes, found without names. Plain C++17.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "searchspace/kernels/mapping/mapper/flows.hpp"

namespace hamtune::mapper {

/// Ranks as the points of a box; partners are neighbours along an axis.
struct Lattice {
  struct Axis {
    std::int32_t extent;
    bool ring;        ///< its ends are neighbours
    double weight;    ///< of all flows along it together
    double heaviest;  ///< of one of them
  };
  std::vector<Axis> axes;
  std::vector<std::int32_t> place;  ///< coordinates, ranks x axes

  std::size_t ranks() const { return place.size() / axes.size(); }
  std::int32_t at(Rank rank, std::size_t axis) const { return place[rank * axes.size() + axis]; }
};

/// Recognises a Cartesian product of paths and rings (any numbering of the ranks), considering only
/// flows of at least `least` units; a ring of four counts as two axes of two.
///
/// Two edges at a vertex belong to the same factor when they span no square, opposite edges of a
/// square do too; the classes of both relations together are the prime factors (Imrich and Klavzar,
/// "Product Graphs", 2000, section 4). Nothing when the traffic is no such product.
std::optional<Lattice> recognise_lattice(const Flows& flows, std::uint32_t least);

/// The same lattice with pairs of axes of two that have equal weights as rings of four; nothing when
/// it has no such pair.
std::optional<Lattice> with_rings_of_four(const Lattice& lattice);

}  // namespace hamtune::mapper
