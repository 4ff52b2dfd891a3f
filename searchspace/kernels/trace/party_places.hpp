// Numbers whom a rank names in the order in which it names them first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hamtune {

/// Places by what ranks name: a party of a communicator.
class PartyPlaces {
 public:
  using Address = std::pair<std::uint32_t, std::int32_t>;  // communicator, party

  PartyPlaces() : slots_(kLeast) {}

  /// Its place; `next` where it was not named before.
  std::pair<std::int32_t, bool> place_of(Address address, std::size_t next) {
    Slot* slot = &find(address);
    if (slot->place >= 0) return {slot->place, false};
    *slot = {address, static_cast<std::int32_t>(next)};
    if (2 * ++used_ > slots_.size()) grow();
    return {static_cast<std::int32_t>(next), true};
  }

 private:
  static constexpr std::size_t kLeast = 64;

  struct Slot {
    Address address;
    std::int32_t place = -1;
  };

  Slot& find(Address address) {
    const std::uint64_t key =
        std::uint64_t{address.first} << 32U | static_cast<std::uint32_t>(address.second);
    std::size_t at = (key * 0x9E3779B97F4A7C15U) >> 32U;
    for (;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.place < 0 || slot.address == address) return slot;
    }
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.place >= 0) find(slot.address) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace hamtune
