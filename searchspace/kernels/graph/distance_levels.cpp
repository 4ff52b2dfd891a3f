// Which form of the levels this processor runs.
#include "searchspace/kernels/graph/distance_levels.hpp"

#include "searchspace/kernels/graph/instructions.hpp"

namespace hamtune {

const char* level_instructions() {
  switch (usable_instructions()) {
    case Instructions::kAvx512: return "avx512";
    case Instructions::kAvx2: return "avx2";
    default: return "portable";
  }
}

LevelFunction fastest_level(const LevelShape& shape) {
#ifdef HAMTUNE_X86_LEVELS
  switch (usable_instructions()) {
    case Instructions::kAvx512: return avx512_level(shape);
    case Instructions::kAvx2: return avx2_level(shape);
    default: break;
  }
#endif
  return portable_level(shape);
}

}  // namespace hamtune
