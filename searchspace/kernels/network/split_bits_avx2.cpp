// Exchanges in many splits at once, compiled for processors with AVX2 (x86-64-v3).
#include "searchspace/kernels/network/split_bits.hpp"

#include <cstddef>

#include "searchspace/kernels/network/split_bits.inl"

namespace hamtune {

SplitFunctions avx2_splits(const SplitNetwork& network) {
  return splits_for_degree<Vector32>(network);
}

}  // namespace hamtune
