// One trace of several captures of the same program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hamtune {

/// What the captures of one rank have in common.
struct MergedRank {
  std::vector<std::uint8_t> operations;  // empty where the captures differ
  std::uint64_t count = 0;               // of these operations
  std::vector<double> flops;             // all that each capture computed
  bool differ = false;                   // whether their calls differ
};

/// Takes the calls that all captures of a rank share, with the median computation before each.
///
/// `layouts[code]` spells the fields of an operation, one character each (n, z, f, N, M, P; see
/// searchspace/formats/operations.py), or is "?" where there is none. Computations between two
/// calls are compared one by one where all captures have as many, else by their sum.
///
/// Throws TraceError when a capture is not whole, known operations.
MergedRank merge_rank(const std::vector<std::string>& layouts,
                      const std::vector<std::vector<std::uint8_t>>& captures);

}  // namespace hamtune
