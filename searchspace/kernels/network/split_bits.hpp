// Exchanges of nodes in many splits of one network at once, in the fastest form this processor has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hamtune {

/// One bit of each of 512 splits: the half that a node is in, or a digit of a count.
struct alignas(64) SplitBits {
  static constexpr unsigned kSplits = 512;
  std::uint64_t words[kSplits / 64];
};

/// The network that is split: the neighbours of node v are target[first[v]] up to
/// target[first[v + 1]].
struct SplitNetwork {
  const std::size_t* first;
  const std::uint32_t* target;
  std::uint32_t nodes;
  std::uint32_t degree;  // of every node; 0: they differ
};

/// Two nodes that change sides in those splits that have them on different sides and cut at least
/// `needed` of their edges (an edge between the two counts twice). The same node twice changes sides
/// alone, wherever enough of its edges are cut; only where degrees are not said to be the same.
struct Exchange {
  std::uint32_t u;
  std::uint32_t v;
  std::uint32_t needed;
};

/// How many digits a count of edges may have.
constexpr unsigned kCountDigits = 32;

/// What is compiled for several instructions; all give the same results.
struct SplitFunctions {
  /// Makes exchanges, one after the other, in all splits; `sides` has an entry a node.
  void (*exchange)(const SplitNetwork& network, SplitBits* sides, const Exchange* begin,
                   const Exchange* end);
  /// Writes how many edges each split cuts: kCountDigits binary digits, the lowest first.
  void (*count)(const SplitNetwork& network, const SplitBits* sides, SplitBits* digits);
};

SplitFunctions portable_splits(const SplitNetwork& network);
#ifdef HAMTUNE_X86_LEVELS
SplitFunctions avx2_splits(const SplitNetwork& network);
SplitFunctions avx512_splits(const SplitNetwork& network);
#endif

}  // namespace hamtune
