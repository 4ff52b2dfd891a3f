// Streams of events in the order in which the first of each is due: a heap of four children a place.
//
// The children of a place fill a cache line, and those that are not there are due never, so that the least
// of them is found without a branch (LaMarca and Ladner, "The Influence of Caches on the Performance of
// Heaps", 1996).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace hamtune::express {

class DueStreams {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kChildren = 4;  // of a place

  /// Dates are not negative, so that they and their bits have the same order, and a date and what is due then
  /// make one number: that is compared without a branch, whatever the compiler.
  class Due {
   public:
    Due() : Due(kNever, static_cast<std::uint32_t>(-1)) {}
    Due(double date, std::uint32_t stream) : stream_(stream) {
      std::memcpy(&date_, &date, sizeof date);
    }

    /// In s.
    double date() const {
      double date = 0;
      std::memcpy(&date, &date_, sizeof date);
      return date;
    }

    std::uint32_t stream() const { return static_cast<std::uint32_t>(stream_); }

    /// 1 or 0.
    std::size_t before(const Due& other) const { return number() < other.number() ? 1 : 0; }

   private:
    __extension__ using Number = unsigned __int128;

    Number number() const { return Number{date_} << 64U | stream_; }

    std::uint64_t stream_;
    std::uint64_t date_;
  };

  bool is_empty() const { return size_ == 0; }

  /// The stream that is due first; due never where there is none.
  const Due& first() const { return first_; }

  void insert(const Due& due) {
    std::size_t place = size_++;
    if (place > 0 && (place - 1) % kChildren == 0) families_.emplace_back();
    while (place > 0) {
      const std::size_t parent = (place - 1) / kChildren;
      if (due.before(at(parent)) == 0) break;
      at(place) = at(parent);
      place = parent;
    }
    at(place) = due;
  }

  /// In place of the one that is due first. What has come near to being due is told, with its place.
  template <typename Tell>
  void replace_first(const Due& due, const Tell& tell) {
    std::size_t place = 0;
    for (const Due* comes = nullptr; comes != &due;) {
      const std::size_t here = place;
      comes = &due;
      if (here < families_.size()) {
        const std::array<Due, kChildren>& children = families_[here].due;
        const std::size_t one = children[1].before(children[0]);
        const std::size_t other = 2 + children[3].before(children[2]);
        const std::size_t sooner = opaque(children[other].before(children[one]));
        const std::size_t least = one ^ ((one ^ other) & (0 - sooner));
        if (children[least].before(due) != 0) {
          comes = &children[least];
          place = kChildren * here + 1 + least;
        }
      }
      at(here) = *comes;
      tell(here, comes->stream());
    }
  }

  template <typename Tell>
  void drop_first(const Tell& tell) {
    Due& end = at(--size_);
    const Due last = end;
    end = {};
    if (size_ > 0 && (size_ - 1) % kChildren == 0) families_.pop_back();
    if (size_ > 0) replace_first(last, tell);
  }

 private:
  struct alignas(64) Family {
    std::array<Due, kChildren> due;
  };

  /// A number of which the compiler knows nothing: that it is 0 or 1 makes some branch on it, which nobody can predict.
  static std::size_t opaque(std::size_t number) {
    __asm__("" : "+r"(number));
    return number;
  }

  Due& at(std::size_t place) {
    return place == 0 ? first_ : families_[(place - 1) / kChildren].due[(place - 1) % kChildren];
  }

  Due first_;
  std::vector<Family> families_;  // the children of each place
  std::size_t size_ = 0;
};

}  // namespace hamtune::express
