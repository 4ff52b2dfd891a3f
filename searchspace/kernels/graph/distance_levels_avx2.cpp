// Levels of breadth-first search, compiled for processors with AVX2 (x86-64-v3).
#include "searchspace/kernels/graph/distance_levels.hpp"

#include "searchspace/kernels/graph/distance_levels.inl"

namespace hamtune {

LevelFunction avx2_level(const LevelShape& shape) { return level_for_shape(shape); }

}  // namespace hamtune
