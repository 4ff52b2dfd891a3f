// Lists that begin where a line of the cache does. Plain C++17.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hamtune::mapper {

/// Gives memory that begins at a line of the cache. A vector of the processor is as long as a line, and
/// one that lies across two of them costs two look-ups.
template <typename Item>
struct LineAllocator {
  using value_type = Item;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <typename Other>
  explicit LineAllocator(const LineAllocator<Other>&) {}

  Item* allocate(std::size_t count) {
    return static_cast<Item*>(::operator new(count * sizeof(Item), kLine));
  }
  void deallocate(Item* items, std::size_t) { ::operator delete(items, kLine); }

  bool operator==(const LineAllocator&) const { return true; }
  bool operator!=(const LineAllocator&) const { return false; }
};

template <typename Item>
using Aligned = std::vector<Item, LineAllocator<Item>>;

}  // namespace hamtune::mapper
