// Ends of messages that wait for their other end, in the order of being posted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workers/simulator/express/sequence.hpp"

namespace hamtune::express {

/// Items have `order` (of their being posted), `key` (of their envelope), `is_wild` (a receive from any
/// source or with any tag), and links `queued` and `chained` (with those of like key).
///
/// While there is little of it, it is searched from the first on. More is found by the key of its
/// envelope, in the same order, so that a search meets all that it would have met but what differs
/// in source or tag.
template <typename Item>
class Waiting {
 public:
  void push_back(Item& item) {
    item.order = next_order_++;
    all_.push_back(&item);
    ++count_;
    if (count_ > std::max(kLittle, 2 * chains_.size()))
      chain_all();
    else if (!chains_.empty())
      chain_of(item).push_back(&item);
  }

  void erase(Item& item) {
    all_.erase(&item);
    --count_;
    if (!chains_.empty()) chain_of(item).erase(&item);
    if (count_ == 0) chains_.clear();
  }

  /// The first item that `is_match` takes, or null. With a key, only items of that key and wild ones
  /// need to be asked.
  template <typename IsMatch>
  Item* find(std::optional<std::uint32_t> key, IsMatch is_match) const {
    if (chains_.empty() || !key) {
      Item* item = all_.first();
      while (item != nullptr && !is_match(*item)) item = All::after(item);
      return item;
    }
    Item* like = chains_[*key & (chains_.size() - 1)].first();
    Item* wild = wild_.first();
    while (like != nullptr || wild != nullptr) {
      const bool is_wild = like == nullptr || (wild != nullptr && wild->order < like->order);
      Item*& next = is_wild ? wild : like;
      if (is_match(*next)) return next;
      next = Chain::after(next);
    }
    return nullptr;
  }

 private:
  using All = Sequence<Item, &Item::queued>;
  using Chain = Sequence<Item, &Item::chained>;

  static constexpr std::size_t kLittle = 64;  // items that are searched one by one

  Chain& chain_of(const Item& item) {
    return item.is_wild ? wild_ : chains_[item.key & (chains_.size() - 1)];
  }

  /// Sorts everything into twice as many chains as there are items.
  void chain_all() {
    std::size_t chains = 1;
    while (chains < 2 * count_) chains *= 2;
    chains_.assign(chains, {});
    wild_ = {};
    for (Item* item = all_.first(); item != nullptr; item = All::after(item))
      chain_of(*item).push_back(item);
  }

  All all_;
  std::size_t count_ = 0;
  std::uint64_t next_order_ = 0;
  std::vector<Chain> chains_;  // as many as a power of two; none while there is little
  Chain wild_;
};

}  // namespace hamtune::express
