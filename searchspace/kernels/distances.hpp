// Hop distances by bit-parallel breadth-first search. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph.hpp"

namespace hamtune {

/// Breadth-first searches from 64 x kWords sources at once.
///
/// Every node keeps one bit a source: set when that source has reached it. One level of all the
/// searches is then, for every node, the OR of its neighbours' bits, a handful of word
/// instructions that the compiler turns into vector ones.
class BatchSearch {
 public:
  static constexpr std::size_t kWords = 4;
  static constexpr std::size_t kSources = 64 * kWords;

  explicit BatchSearch(const Adjacency& adjacency)
      : adjacency_(adjacency), reached_(adjacency.nodes()), next_(adjacency.nodes()) {}

  /// Searches from the nodes first, first + 1, ... (at most kSources of them, up to the last node)
  /// and calls visit(level, node, fresh): `fresh` holds the bits of the sources for which `node`
  /// is `level` >= 1 hops away. Calls come level by level.
  template <typename Visit>
  void run(Node first, Visit&& visit) {
    const auto nodes = static_cast<Node>(adjacency_.nodes());
    const auto sources = static_cast<Node>(std::min<std::size_t>(kSources, nodes - first));
    std::fill(reached_.begin(), reached_.end(), Bits{});
    for (Node source = 0; source < sources; ++source)
      reached_[first + source].word[source / 64] |= std::uint64_t{1} << (source % 64);

    bool grew = true;
    for (unsigned level = 1; grew; ++level) {
      grew = false;
      for (Node node = 0; node < nodes; ++node) {
        const Bits& before = reached_[node];
        Bits after = before;
        for (const Neighbor* n = adjacency_.begin(node); n != adjacency_.end(node); ++n)
          for (std::size_t w = 0; w < kWords; ++w) after.word[w] |= reached_[n->node].word[w];
        next_[node] = after;

        Bits fresh;
        std::uint64_t any = 0;
        for (std::size_t w = 0; w < kWords; ++w) any |= fresh.word[w] = after.word[w] & ~before.word[w];
        if (any != 0) {
          grew = true;
          visit(level, node, fresh.word);
        }
      }
      reached_.swap(next_);
    }
  }

 private:
  struct alignas(32) Bits {
    std::uint64_t word[kWords] = {};
  };

  const Adjacency& adjacency_;
  std::vector<Bits> reached_;
  std::vector<Bits> next_;
};

/// Distances summed over all ordered pairs of nodes that reach each other.
struct DistanceSummary {
  std::uint64_t sum = 0;    // hops
  std::uint64_t pairs = 0;  // ordered pairs of distinct nodes that reach each other
  unsigned diameter = 0;    // the longest of these distances
};

inline unsigned population_count(std::uint64_t word) {
  return static_cast<unsigned>(__builtin_popcountll(word));
}

inline DistanceSummary summarize_distances(const Adjacency& adjacency) {
  DistanceSummary summary;
  BatchSearch search(adjacency);
  for (std::size_t first = 0; first < adjacency.nodes(); first += BatchSearch::kSources) {
    search.run(static_cast<Node>(first),
               [&](unsigned level, Node, const std::uint64_t (&fresh)[BatchSearch::kWords]) {
                 std::uint64_t count = 0;
                 for (const std::uint64_t word : fresh) count += population_count(word);
                 summary.sum += count * level;
                 summary.pairs += count;
                 summary.diameter = std::max(summary.diameter, level);
               });
  }
  return summary;
}

constexpr std::uint16_t kUnreachable = 0xFFFF;

/// The matrix of hop distances, row by row; kUnreachable where there is no path.
inline std::vector<std::uint16_t> hop_distances(const Adjacency& adjacency) {
  const std::size_t nodes = adjacency.nodes();
  std::vector<std::uint16_t> distances(nodes * nodes, kUnreachable);
  for (std::size_t node = 0; node < nodes; ++node) distances[node * nodes + node] = 0;
  BatchSearch search(adjacency);
  for (std::size_t first = 0; first < nodes; first += BatchSearch::kSources) {
    search.run(static_cast<Node>(first),
               [&](unsigned level, Node node, const std::uint64_t (&fresh)[BatchSearch::kWords]) {
                 // Distances are symmetric, so the row of `node` is written instead of its column.
                 std::uint16_t* const row = distances.data() + node * nodes + first;
                 for (std::size_t w = 0; w < BatchSearch::kWords; ++w)
                   for (std::uint64_t rest = fresh[w]; rest != 0; rest &= rest - 1)
                     row[64 * w + static_cast<std::size_t>(__builtin_ctzll(rest))] =
                         static_cast<std::uint16_t>(level);
               });
  }
  return distances;
}

}  // namespace hamtune
