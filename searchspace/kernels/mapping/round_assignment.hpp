// An assignment of ranks to places under a model of time: what every round of messages does to the
// cables. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/trace/message_rounds.hpp"
#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/graph/routes.hpp"

namespace hamtune {

/// What messages on their cables come to, in bytes that one way of a cable of width 1 carries.
struct RoundTerms {
  double volume;   ///< sum over all ways of all cables
  double busiest;  ///< load of the busiest, were everything sent at once
  double rounds;   ///< sum over the rounds of the load of the busiest in each
  double hops;     ///< ways that messages cross, whatever their size
};

/// Capacities, of which a cable of width 1 has 1 each way; 0 for one that limits nothing.
struct HostLimits {
  double interface_each_way = 0;  ///< between a host and the network
  double memory = 0;              ///< shared by the messages between ranks of a host
};

/// An assignment of ranks to places, and the load of each way of each cable in each round. For "the
/// busiest" stands the sum of eighth powers of the loads, and its root: it falls when any of the busy ones
/// does.
///
/// A swap costs O(messages of two ranks x hops + rounds they send in x cables).
class RoundAssignment {
 public:
  /// `host` of each place; `widths` of the cables. Throws std::invalid_argument where the lists do
  /// not go together or `places` is no mapping of these ranks.
  RoundAssignment(std::size_t ranks, const MessageRounds& rounds, std::vector<Node> host, Routes routes,
                  const std::vector<std::uint32_t>& widths, const HostLimits& limits,
                  std::vector<std::uint32_t> places);

  const std::vector<std::uint32_t>& places() const { return place_; }
  RoundTerms terms() const;

  /// Takes a rank to a place; who is there takes its.
  void swap(std::uint32_t rank, std::uint32_t place);

  /// What a swap would lead to.
  RoundTerms after(std::uint32_t rank, std::uint32_t place);

  /// About how many additions a swap takes.
  double work() const;

  /// Lowers the weighted sum of the terms by annealing over swaps; ends with the best mapping.
  /// Begins at a temperature of `hot` times what a swap changes in the mean: well below 1 it keeps
  /// to the mapping that is there.
  void anneal(const RoundTerms& weights, double hot, std::uint64_t steps, std::uint64_t seed);

 private:
  static constexpr std::uint32_t kFree = 0xffffffffU;

  /// A message as one of its ranks sees it.
  struct Arc {
    std::uint32_t round;
    std::uint32_t other;
    double size;
    bool sent;
  };

  template <typename Use>
  void along(Node source, Node target, const Use& use) const;
  void shift(std::uint32_t rank, std::uint32_t spared, double sign);
  void exchange(std::uint32_t rank, std::uint32_t place);
  void weigh(std::uint32_t round);
  std::uint32_t apart(std::uint32_t place, std::uint32_t other) const;
  std::uint32_t near(std::uint32_t place, std::uint32_t looks, Random& random) const;
  std::uint32_t draw_place(std::uint32_t rank, Random& random) const;

  std::vector<Node> host_;
  std::size_t hosts_;
  Routes routes_;
  std::vector<std::uint32_t> way_first_;  ///< of host x host in the next; empty for many hosts
  std::vector<std::uint32_t> ways_;       ///< of cables that a message crosses
  std::vector<double> share_;  ///< of each way: 1 / capacity; those of cables, interfaces, memories
  std::uint32_t interfaces_ = 0, memories_ = 0;  ///< the first of each, or 0 where they limit nothing
  std::vector<std::size_t> first_;        ///< of each rank's arcs
  std::vector<Arc> arcs_;
  std::vector<double> count_;             ///< of each round; round 0 is everything at once
  std::vector<std::uint32_t> place_;      ///< of each rank
  std::vector<std::uint32_t> rank_;       ///< at each place, or kFree
  std::vector<std::uint32_t> talking_;    ///< ranks with arcs

  std::vector<double> load_;     ///< rounds x ways, bytes: whole numbers, so that sums are exact
  std::vector<double> busiest_;  ///< of each round
  double volume_ = 0;
  double hops_ = 0;  ///< a whole number, too
  std::vector<std::uint32_t> touched_;  ///< rounds that the last exchange changed
  std::vector<std::uint8_t> marked_;
};

}  // namespace hamtune
