// Which instructions this processor runs.
#include "searchspace/kernels/graph/instructions.hpp"

#include <cstdlib>
#include <string>

namespace hamtune {

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

}  // namespace hamtune
