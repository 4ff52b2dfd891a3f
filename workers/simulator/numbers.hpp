// A table of numbers by keys that can be emptied at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace hamtune {

/// Numbers by keys, all in one piece: each is looked up several times a message. Entries are never
/// taken out, only forgotten all at once, which is done by calling those of an earlier age empty.
template <typename Key, typename Number>
class Numbers {
 public:
  /// The number of a key, 0 at first. It stands there until another key is looked up.
  Number& operator[](const Key& key) {
    if (2 * used_ >= entries_.size()) grow();
    Entry& entry = place(key);
    if (entry.age != age_) {
      entry = {key, age_, {}};
      ++used_;
    }
    return entry.number;
  }

  /// Null where it was not looked up before.
  Number* find(const Key& key) {
    if (entries_.empty()) return nullptr;
    Entry& entry = place(key);
    return entry.age == age_ ? &entry.number : nullptr;
  }

  /// Has the processor fetch where a key is most likely, ahead of its being looked up.
  void fetch(const Key& key) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[key.hash() & (entries_.size() - 1)]);
  }

  void forget() {
    ++age_;
    used_ = 0;
  }

 private:
  static constexpr std::size_t kLeast = 1024;

  struct Entry {
    Key key;
    unsigned age = 0;
    Number number{};
  };

  /// Where the key is, or would be.
  Entry& place(const Key& key) {
    const std::size_t last = entries_.size() - 1;
    std::size_t at = key.hash() & last;
    while (entries_[at].age == age_ && !(entries_[at].key == key)) at = (at + 1) & last;
    return entries_[at];
  }

  void grow() {
    const std::vector<Entry> old =
        std::exchange(entries_, std::vector<Entry>(std::max(kLeast, 2 * entries_.size())));
    for (const Entry& entry : old)
      if (entry.age == age_) place(entry.key) = entry;
  }

  std::vector<Entry> entries_;  // as many as a power of two, half of them used at most
  std::size_t used_ = 0;
  unsigned age_ = 1;
};

}  // namespace hamtune
