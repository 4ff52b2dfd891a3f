// Takes the operations of a rank apart into what ranks that do alike share and what is its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hamtune {

using Bytes = std::vector<std::uint8_t>;

/// What a rank has of its own, and the bytes of its operations that others may share.
struct RankParts {
  Bytes calls;
  std::vector<double> flops;          // of its computations in order
  std::vector<std::int32_t> parties;  // peers, colors and keys by their place
  std::uint64_t operations = 0;       // computations of nothing left out
};

/// Takes the encoded operations of a rank apart, piece by piece in any pieces.
class TakingApart {
 public:
  TakingApart();
  ~TakingApart();
  TakingApart(const TakingApart&) = delete;
  TakingApart& operator=(const TakingApart&) = delete;

  /// Throws TraceError where the bytes are no operations.
  void feed(const std::uint8_t* bytes, std::size_t size);
  /// No bytes follow. Throws TraceError where they end inside an operation.
  void finish();

  /// What came of it so far; calls and flops may be moved away at any time.
  RankParts parts;

 private:
  struct Edit;
  void pass(bool is_all);

  std::unique_ptr<Edit> edit_;
  Bytes waiting_;
};

/// The operations of one rank again.
///
/// Throws TraceError where the bytes are no shared operations, or ask for other numbers than there are.
Bytes put_together(const Bytes& shared, const std::vector<std::int32_t>& parties,
                   const double* flops, std::size_t computations);

/// Appends numbers of the format.
void append_varint(std::uint64_t value, Bytes& to);
void append_signed(std::int64_t value, Bytes& to);

}  // namespace hamtune
