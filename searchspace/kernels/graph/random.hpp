// Seeded pseudo-random numbers, the same on every platform and compiler. Plain C++17.
#pragma once

#include <array>
#include <cstdint>

namespace hamtune {

/// xoshiro256** of Blackman and Vigna ("Scrambled linear pseudorandom number generators", 2021),
/// its state filled by SplitMix64 as its authors advise. The standard library's distributions may
/// differ between implementations; a seed must mean the same result everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15U;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
      mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
      word = mixed ^ (mixed >> 31U);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// A number from 0 to limit - 1; limit > 0. The bias is below limit / 2^32.
  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(((next() >> 32U) * limit) >> 32U);
  }

  /// A number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  static std::uint64_t rotate(std::uint64_t word, unsigned bits) {
    return (word << bits) | (word >> (64U - bits));
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace hamtune
