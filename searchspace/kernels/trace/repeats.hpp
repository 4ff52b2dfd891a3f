// One trace of several captures of the same program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hamtune {

/// What the captures of one rank have in common.
struct MergedRank {
  std::uint64_t count = 0;    // of the operations that were put, 0 where the captures differ
  std::vector<double> flops;  // all that each capture computed
  bool differ = false;        // whether their calls differ
};

/// Bytes that somebody else keeps.
struct ByteView {
  const std::uint8_t* begin;
  const std::uint8_t* end;
};

/// Takes the bytes of an operation of the merged rank.
using PutBytes = std::function<void(ByteView)>;

/// Takes the calls that all captures of a rank share, with the median computation before each.
///
/// `layouts[code]` spells the fields of an operation, one character each (n, z, f, N, M, P; see
/// searchspace/formats/operations.py), or is "?" where there is none. Computations between two
/// calls are compared one by one where all captures have as many, else by their sum.
///
/// What was put is of no use where the captures turn out to differ.
///
/// Throws TraceError when a capture is not whole, known operations, or computes more than a million
/// times without a call.
MergedRank merge_rank(const std::vector<std::string>& layouts,
                      const std::vector<ByteView>& captures, const PutBytes& put);

}  // namespace hamtune
