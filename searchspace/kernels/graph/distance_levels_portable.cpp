// Levels of breadth-first search, compiled for any processor.
#include "searchspace/kernels/graph/distance_levels.hpp"

#include "searchspace/kernels/graph/distance_levels.inl"

namespace hamtune {

LevelFunction portable_level(const LevelShape& shape) { return level_for_shape(shape); }

}  // namespace hamtune
