// Bounds-checked reading of the numbers of a trace.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {

class ByteCursor {
 public:
  explicit ByteCursor(const std::vector<std::uint8_t>& bytes)
      : ByteCursor(bytes.data(), bytes.size()) {}
  ByteCursor(const std::uint8_t* bytes, std::size_t size)
      : begin_(bytes), at_(begin_), end_(begin_ + size) {}

  /// What comes next.
  const std::uint8_t* here() const { return at_; }

  /// Bytes read so far; a block is smaller than 2 GiB.
  std::uint32_t offset() const { return static_cast<std::uint32_t>(at_ - begin_); }

  bool at_end() const { return at_ == end_; }

  std::uint8_t byte() {
    if (at_end()) throw TraceError("it runs past the end of its block");
    return *at_++;
  }

  /// An `n` of the format: unsigned LEB128.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= (next & 0x7F) << shift;
      if (next < 0x80) return value;
    }
    throw TraceError("a number does not fit 64 bits");
  }

  /// An `n` that must fit MPI's int.
  std::int32_t number() {
    const std::uint64_t value = varint();
    if (value > kMaxInt) throw TraceError("a number exceeds 2147483647");
    return static_cast<std::int32_t>(value);
  }

  /// A `z` of the format from `least` up.
  std::int32_t signed_number(std::int32_t least) {
    const std::uint64_t coded = varint();
    const std::uint64_t magnitude = coded >> 1;
    if (magnitude > kMaxInt) throw TraceError("a number exceeds 31 bits");
    const auto value = static_cast<std::int32_t>((coded & 1) != 0U ? ~magnitude : magnitude);
    if (value < least) throw TraceError("a peer, tag, color or level is below its least value");
    return value;
  }

  /// The length of a list whose items take at least one byte each.
  std::int32_t length() {
    const std::uint64_t value = varint();
    if (value > static_cast<std::uint64_t>(end_ - at_))
      throw TraceError("it runs past the end of its block");
    return static_cast<std::int32_t>(value);  // a block is smaller than 2 GiB
  }

  /// An `f` of the format.
  double real() {
    double value = 0;
    if (end_ - at_ < static_cast<std::ptrdiff_t>(sizeof value))
      throw TraceError("it runs past the end of its block");
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

 private:
  static constexpr std::uint64_t kMaxInt = std::numeric_limits<std::int32_t>::max();

  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace hamtune
