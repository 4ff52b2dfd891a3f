// Exchanges in many splits at once, compiled for processors with AVX-512 (x86-64-v4).
#include "searchspace/kernels/network/split_bits.hpp"

#include <cstddef>

#include "searchspace/kernels/network/split_bits.inl"

namespace hamtune {

SplitFunctions avx512_splits(const SplitNetwork& network) {
  return splits_for_degree<Vector64>(network);
}

}  // namespace hamtune
