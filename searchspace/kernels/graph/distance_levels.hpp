// One level of breadth-first search from many sources at once, in the fastest form this processor has.
#pragma once

#include <cstdint>

namespace hamtune {

/// How the reached-bits of a network lie in memory.
///
/// The network may be symmetric under a rotation of order `symmetry`: node (x, i), turn x of base
/// node i, is joined with (x + g, j) for every x when (0, i) is joined with (g, j). Row i holds an
/// element of bits for each of its turns, side by side, so that the neighbours (g, j) of all turns of
/// i are one contiguous piece of row j: it begins at element g. For this the row is followed by a
/// copy of itself. Without symmetry a row is one element.
struct LevelShape {
  std::uint32_t rows = 0;         // base nodes
  std::uint32_t degree = 0;       // neighbours listed of every row
  std::uint32_t stride = 0;       // bytes from row to row, a multiple of the vector
  std::uint32_t copy = 0;         // bytes from a row's start to its copy; 0: there is none
  std::uint32_t vector = 0;       // bytes of a vector: 8, 16 or 32
  std::uint32_t vectors = 0;      // vectors that cover a row
  std::uint64_t last_mask[4] = {};  // the row's bits within the last of them
};

/// Writes to every row of `to` the union of its neighbours' pieces in `from` (byte offsets, `degree` a
/// row) and returns how many bits are set in the rows of `to`, without the copies.
using LevelFunction = std::uint64_t (*)(const LevelShape& shape, const std::uint8_t* from,
                                        std::uint8_t* to, const std::uint32_t* pieces);

/// The form for this shape with the instructions of every processor we build for.
LevelFunction portable_level(const LevelShape& shape);
#ifdef HAMTUNE_X86_LEVELS
LevelFunction avx2_level(const LevelShape& shape);
LevelFunction avx512_level(const LevelShape& shape);
#endif

/// The instructions that `fastest_level` uses here: "avx512", "avx2" or "portable".
const char* level_instructions();

/// The fastest form for this shape that this processor runs; HAMTUNE_INSTRUCTIONS may name a
/// simpler set of instructions.
LevelFunction fastest_level(const LevelShape& shape);

}  // namespace hamtune
