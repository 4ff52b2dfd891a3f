// Hop distances by bit-parallel breadth-first search. Plain C++17.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

inline unsigned population_count(std::uint64_t word) {
  return static_cast<unsigned>(__builtin_popcountll(word));
}

/// Breadth-first searches from 64 x Words sources at once.
///
/// Every node keeps one bit a source: set when that source has reached it. One level of all the
/// searches is then, for every node, the OR of its neighbours' bits: a handful of word
/// instructions that the compiler turns into vector ones.
template <std::size_t Words>
class BatchSearch {
 public:
  static constexpr std::size_t kSources = 64 * Words;
  using Bits = std::array<std::uint64_t, Words>;

  explicit BatchSearch(const Adjacency& adjacency)
      : adjacency_(adjacency), reached_(adjacency.nodes()), next_(adjacency.nodes()) {}

  /// Searches from the nodes first, first + 1, ... (at most kSources of them, up to the last node)
  /// and calls visit(level, node, fresh, count): `fresh` holds the bits of the `count` > 0 sources
  /// for which `node` is `level` >= 1 hops away. Calls come level by level.
  template <typename Visit>
  void run(std::size_t first, Visit&& visit) {
    const std::size_t nodes = adjacency_.nodes();
    const std::size_t sources = std::min(kSources, nodes - first);
    std::fill(reached_.begin(), reached_.end(), Bits{});
    for (std::size_t source = 0; source < sources; ++source)
      reached_[first + source][source / 64] |= std::uint64_t{1} << (source % 64);

    std::uint64_t missing = static_cast<std::uint64_t>(sources) * (nodes - 1);
    bool grew = true;
    for (unsigned level = 1; grew && missing > 0; ++level) {
      grew = false;
      for (Node node = 0; node < nodes; ++node) {
        Bits after = reached_[node];
        for (const Neighbor* n = adjacency_.begin(node); n != adjacency_.end(node); ++n)
          for (std::size_t w = 0; w < Words; ++w) after[w] |= reached_[n->node][w];
        next_[node] = after;

        unsigned count = 0;
        for (std::size_t w = 0; w < Words; ++w) {
          after[w] &= ~reached_[node][w];
          count += population_count(after[w]);
        }
        if (count == 0) continue;
        grew = true;
        missing -= count;
        visit(level, node, after, count);
      }
      reached_.swap(next_);
    }
  }

 private:
  const Adjacency& adjacency_;
  std::vector<Bits> reached_;
  std::vector<Bits> next_;
};

/// Calls search(BatchSearch<Words>&) with as many sources a batch as suit the number of nodes.
template <typename Search>
void with_batches(const Adjacency& adjacency, Search&& search) {
  const auto run = [&](auto batch) { search(batch); };
  if (adjacency.nodes() <= 64)
    run(BatchSearch<1>(adjacency));
  else if (adjacency.nodes() <= 128)
    run(BatchSearch<2>(adjacency));
  else if (adjacency.nodes() <= 256)
    run(BatchSearch<4>(adjacency));
  else
    run(BatchSearch<8>(adjacency));
}

/// Distances summed over all ordered pairs of nodes that reach each other.
struct DistanceSummary {
  std::uint64_t sum = 0;    // hops
  std::uint64_t pairs = 0;  // ordered pairs of distinct nodes that reach each other
  unsigned diameter = 0;    // the longest of these distances
};

inline DistanceSummary summarize_distances(const Adjacency& adjacency) {
  DistanceSummary summary;
  with_batches(adjacency, [&](auto& search) {
    for (std::size_t first = 0; first < adjacency.nodes(); first += search.kSources) {
      search.run(first, [&](unsigned level, Node, const auto&, unsigned count) {
        summary.sum += std::uint64_t{count} * level;
        summary.pairs += count;
        summary.diameter = std::max(summary.diameter, level);
      });
    }
  });
  return summary;
}

constexpr std::uint16_t kUnreachable = 0xFFFF;

/// The matrix of hop distances, row by row; kUnreachable where there is no path.
inline std::vector<std::uint16_t> hop_distances(const Adjacency& adjacency) {
  const std::size_t nodes = adjacency.nodes();
  std::vector<std::uint16_t> distances(nodes * nodes, kUnreachable);
  for (std::size_t node = 0; node < nodes; ++node) distances[node * nodes + node] = 0;
  with_batches(adjacency, [&](auto& search) {
    for (std::size_t first = 0; first < nodes; first += search.kSources) {
      search.run(first, [&](unsigned level, Node node, const auto& fresh, unsigned) {
        // Distances are symmetric, so the row of `node` is written instead of its column.
        std::uint16_t* const row = distances.data() + node * nodes + first;
        for (std::size_t w = 0; w < fresh.size(); ++w)
          for (std::uint64_t rest = fresh[w]; rest != 0; rest &= rest - 1)
            row[64 * w + static_cast<std::size_t>(__builtin_ctzll(rest))] =
                static_cast<std::uint16_t>(level);
      });
    }
  });
  return distances;
}

}  // namespace hamtune
