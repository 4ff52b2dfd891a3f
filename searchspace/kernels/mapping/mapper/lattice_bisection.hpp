// Parts of a lattice split across its axes. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/mapper/bisection.hpp"
#include "searchspace/kernels/mapping/mapper/lattice.hpp"

namespace hamtune::mapper {

/// Splits ranks of a lattice by planes: those up to a place in the order of one axis (and of others
/// within a layer across it) are one part. What is cut is counted on the traffic itself, so that
/// flows which the lattice leaves out, such as those of corners, count too.
class LatticeBisection {
 public:
  /// Whether there are few enough axes for all orders that are tried.
  static bool suits(const Lattice& lattice) { return lattice.axes.size() <= kMostAxes; }

  explicit LatticeBisection(const Lattice& lattice);

  /// How many different cuts `split` tells apart at most.
  std::size_t ways() const { return orders_.size(); }

  /// Splits as `split_graph` does, along the plane that cuts least, or the different one that comes
  /// so many places after it (the last one where there are fewer), and refines that. `ranks`: that of
  /// each vertex.
  std::vector<std::uint8_t> split(const PartGraph& graph, const std::vector<Rank>& ranks,
                                  std::int32_t least, std::int32_t most,
                                  std::size_t number) const;

 private:
  static constexpr std::size_t kMostAxes = 4;

  std::vector<std::int32_t> origins(const std::vector<Rank>& ranks) const;
  std::vector<std::uint32_t> places(const std::vector<Rank>& ranks) const;
  std::vector<std::uint32_t> sorted(const std::vector<std::uint32_t>& places,
                                    const std::vector<std::size_t>& order) const;

  const Lattice& lattice_;
  std::vector<std::vector<std::size_t>> orders_;  ///< of the axes, the one across the plane first
};

}  // namespace hamtune::mapper
