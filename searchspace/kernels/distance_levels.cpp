// Which form of the levels this processor runs.
#include "searchspace/kernels/distance_levels.hpp"

#include <cstdlib>
#include <string>

namespace hamtune {
namespace {

enum class Instructions { kPortable, kAvx2, kAvx512 };

Instructions usable_instructions() {
#ifdef HAMTUNE_X86_LEVELS
  const char* const wanted = std::getenv("HAMTUNE_INSTRUCTIONS");
  const std::string limit = wanted == nullptr ? "avx512" : wanted;
  __builtin_cpu_init();
  if (limit == "portable") return Instructions::kPortable;
  if (limit != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512cd"))
    return Instructions::kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
    return Instructions::kAvx2;
#endif
  return Instructions::kPortable;
}

}  // namespace

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
