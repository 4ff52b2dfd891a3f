// Finds out where the library's objects have their members.
#pragma once

#include <array>
#include <cstddef>

namespace hamtune {

/// Room for an object, full of a value that no constructor writes, so that one sees how far it wrote.
template <std::size_t kBytes>
class Sentinels {
 public:
  Sentinels() { bytes_.fill(kValue); }

  void* place() { return bytes_.data(); }

  /// Bytes up to the last one that was written.
  std::size_t used() const {
    std::size_t end = kBytes;
    while (end > 0 && bytes_[end - 1] == kValue) --end;
    return end;
  }

 private:
  static constexpr unsigned char kValue = 0xA5;

  alignas(std::max_align_t) std::array<unsigned char, kBytes> bytes_;
};

}  // namespace hamtune
