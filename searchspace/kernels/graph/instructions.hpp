// Which instructions this processor runs, of those that kernels are compiled for.
#pragma once

namespace hamtune {

enum class Instructions { kPortable, kAvx2, kAvx512 };

/// The most that this processor runs, or less if HAMTUNE_INSTRUCTIONS says `portable` or `avx2`.
Instructions usable_instructions();

}  // namespace hamtune
