// Doubly linked sequences whose links are part of the elements.
#pragma once

namespace hamtune::express {

template <typename Item>
struct Links {
  Item* previous = nullptr;
  Item* next = nullptr;
  bool linked = false;
};

/// A sequence of items that know their own neighbours, so any can leave without being searched.
template <typename Item, Links<Item> Item::* kLinks>
class Sequence {
 public:
  bool empty() const { return first_ == nullptr; }
  Item* first() const { return first_; }
  static Item* after(const Item* item) { return (item->*kLinks).next; }
  static bool contains(const Item* item) { return (item->*kLinks).linked; }

  void push_front(Item* item) {
    (item->*kLinks) = {nullptr, first_, true};
    (first_ == nullptr ? last_ : (first_->*kLinks).previous) = item;
    first_ = item;
  }

  void push_back(Item* item) {
    (item->*kLinks) = {last_, nullptr, true};
    (last_ == nullptr ? first_ : (last_->*kLinks).next) = item;
    last_ = item;
  }

  void erase(Item* item) {
    Links<Item>& links = item->*kLinks;
    (links.previous == nullptr ? first_ : (links.previous->*kLinks).next) = links.next;
    (links.next == nullptr ? last_ : (links.next->*kLinks).previous) = links.previous;
    links = {};
  }

  Item* pop_front() {
    Item* const item = first_;
    erase(item);
    return item;
  }

 private:
  Item* first_ = nullptr;
  Item* last_ = nullptr;
};

}  // namespace hamtune::express
