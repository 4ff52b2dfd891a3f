// An assignment of ranks to places with its hop-bytes, dilation and congestion under swaps. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/graph/routes.hpp"
#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

/// How good a mapping is (Hu 2023, equations 1 to 4).
struct Measures {
  std::int64_t hop_bytes = 0;
  std::uint32_t dilation = 0;   ///< hops of the longest path of a pair that communicates
  std::int64_t congestion = 0;  ///< bytes over the most loaded cable, both ways together
  double crowding = 0;          ///< sum over cables of bytes squared: whether loads are even
};

/// What one unit of each measure counts.
struct MeasureWeights {
  double hop_bytes;
  double dilation;
  double congestion;
};

/// Whether to go on after so many CPU seconds.
using SwapProceed = std::function<bool(double)>;

/// An assignment of ranks to places, and the loads of all cables, of which a swap of two places updates
/// what it changes: O(degree x hops).
class CongestionAssignment {
 public:
  /// `widths` of the cables: how many each edge stands for, which share its load.
  ///
  /// Throws std::invalid_argument where `places` is no mapping of these ranks on these cores.
  CongestionAssignment(const TrafficView& traffic, CoreHops hops, Routes routes,
                       std::vector<std::uint32_t> widths, std::vector<std::uint32_t> places);

  const std::vector<std::uint32_t>& places() const { return place_; }
  Measures measures() const;
  std::vector<std::int64_t> loads() const;

  /// Takes a rank to a place; who is there takes its.
  void swap(std::uint32_t rank, std::uint32_t place);

  /// The measures that a swap would lead to.
  Measures after(std::uint32_t rank, std::uint32_t place);

  /// Pairs of ranks (lower first) whose messages cross an edge, and their bytes.
  struct Crossing {
    std::uint32_t low;
    std::uint32_t high;
    std::int64_t size;
  };
  std::vector<Crossing> crossing(std::uint32_t edge) const;

  /// Lowers the weighted sum of the measures by annealing over swaps; ends with the best mapping.
  ///
  /// `seconds` of CPU time, or `steps` where that is not 0: then the result is the same everywhere.
  void anneal(const MeasureWeights& weights, double seconds, std::uint64_t steps,
              std::uint64_t seed, const SwapProceed& proceed);

 private:
  static constexpr std::uint32_t kFree = 0xffffffffU;

  struct Cost {
    double pure;    ///< the weighted sum
    double guided;  ///< the same with what tells equal maxima apart
  };

  template <typename Distance>
  void shift(std::uint32_t rank, std::uint32_t spared, int sign, const Distance& distance);
  template <typename Use>
  void along(Node source, Node target, const Use& use) const;
  void load(std::uint32_t edge, std::int64_t bytes);
  std::uint32_t busiest() const { return tree_[1]; }
  std::int64_t lane(std::uint32_t edge) const {
    return (load_[edge] + widths_[edge] - 1) / widths_[edge];
  }
  Cost cost(const MeasureWeights& weights, const Measures& start) const;
  std::uint32_t near(std::uint32_t place, std::uint32_t looks, Random& random) const;
  std::pair<std::uint32_t, std::uint32_t> proposal(const MeasureWeights& weights, Random& random);

  std::vector<std::int64_t> first_;
  std::vector<std::uint32_t> partner_;
  std::vector<std::int64_t> size_;
  CoreHops hops_;
  Routes routes_;
  std::vector<std::uint32_t> route_first_;  ///< of host x host in the next; empty for many hosts
  std::vector<std::uint32_t> route_edges_;
  std::size_t hosts_ = 0;  ///< whose routes are written out
  std::vector<std::uint32_t> widths_;
  std::vector<std::uint32_t> place_;  ///< of each rank
  std::vector<std::uint32_t> rank_;   ///< at each place, or kFree

  std::vector<std::int64_t> load_;      ///< of each edge
  std::vector<std::uint32_t> tree_;     ///< tournament of the edges by load; the root is number 1
  std::size_t leaves_ = 1;
  std::vector<std::int64_t> pairs_at_;  ///< pairs that communicate, by hops
  std::int64_t hop_bytes_ = 0;
  double crowding_ = 0;

  std::vector<Crossing> crossed_;  ///< of the edge that was the busiest some moves ago
  std::uint32_t moves_until_look_ = 0;
};

}  // namespace hamtune
