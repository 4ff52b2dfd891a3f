// Exchanges in many splits at once, compiled for any processor.
#include "searchspace/kernels/network/split_bits.hpp"

#include <cstddef>

#include "searchspace/kernels/network/split_bits.inl"

namespace hamtune {

SplitFunctions portable_splits(const SplitNetwork& network) {
  return splits_for_degree<Vector16>(network);
}

}  // namespace hamtune
