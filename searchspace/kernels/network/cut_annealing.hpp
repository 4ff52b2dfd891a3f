// Narrow cuts into two halves: annealing of many splits at once. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/network/bisection.hpp"
#include "searchspace/kernels/graph/flat_graph.hpp"
#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/network/split_bits.hpp"

namespace hamtune {

/// Anneals 512 splits into halves that differ by at most one node, side by side.
///
/// Each split is one bit of the words of a node, as spins are in multispin coding (Creutz, Jacobs
/// and Rebbi, "Monte Carlo study of Abelian lattice gauge theories", 1979): an exchange of two nodes
/// is proposed to all splits at once, and a few instructions count for all of them how many edges it
/// would free. All have the same proposals and the same luck at each (Metropolis et al. 1953), but go
/// their own ways from halves drawn for each.
///
/// Temperatures are told from that below which splits of random networks of the same degree freeze
/// (Zdeborova and Boettcher, "A conjecture on the maximum cut and bisection width in random regular
/// graphs", 2010): it falls by a constant factor a sweep, a sweep being as many proposals as nodes.
///
/// Only the first `counted` nodes may have to be halved (see Bisector). The graph may change between
/// calls as long as the degrees stay.
class CutAnnealing {
 public:
  static constexpr unsigned kSplits = SplitBits::kSplits;

  explicit CutAnnealing(const FlatGraph& graph) : CutAnnealing(graph, graph.nodes()) {}
  CutAnnealing(const FlatGraph& graph, std::size_t counted);

  /// Draws all splits anew, anneals them and counts the edges that each cuts.
  void run(unsigned sweeps, Random& random);

  /// The edges that each split cuts.
  const std::vector<std::uint32_t>& widths() const { return widths_; }
  /// A split that cuts the fewest edges.
  unsigned narrowest() const;
  Sides sides(unsigned split) const;

 private:
  void draw(Random& random);
  void sweep(double temperature, Random& random);
  void count();
  SplitNetwork network() const;

  const FlatGraph& graph_;
  std::size_t counted_;
  std::uint32_t degree_;  // of every node, or 0
  double freezing_;       // the temperature, in edges
  SplitFunctions functions_;
  std::vector<SplitBits> sides_;
  std::vector<Exchange> proposals_;
  std::vector<std::uint32_t> widths_;
};

}  // namespace hamtune
