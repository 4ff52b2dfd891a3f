// Levels of breadth-first search, compiled for processors with AVX-512 (x86-64-v4), in 256-bit vectors.
#include "searchspace/kernels/graph/distance_levels.hpp"

#include "searchspace/kernels/graph/distance_levels.inl"

namespace hamtune {

LevelFunction avx512_level(const LevelShape& shape) { return level_for_shape(shape); }

}  // namespace hamtune
