// Ends of messages that wait for their other end.
#include "workers/simulator/express/waiting.hpp"

#include <algorithm>
#include <deque>

#include "tests/native.hpp"

namespace hamtune::express {
namespace {

struct Item {
  std::uint64_t order = 0;
  std::uint32_t key = 0;
  std::uint32_t tag = 0;
  bool is_wild = false;
  Links<Item> queued;
  Links<Item> chained;
};

TEST_CASE("the first that matches is found as in a plain list, by key or without") {
  for (const std::size_t most : {10U, 63U, 300U}) {  // little is searched, more is found by chains
    CAPTURE(most);
    Random random(most);
    std::deque<Item> items;
    std::vector<Item*> model;
    Waiting<Item> waiting;
    for (int step = 0; step < 3000; ++step) {
      // It fills and empties in turns.
      const bool fills = step / 400 % 2 == 0 && model.size() < most;
      if (fills && random.below(4) != 0) {
        Item& item = items.emplace_back();
        item.key = random.below(12) * 0x10001U;
        item.tag = random.below(3);
        item.is_wild = random.below(6) == 0;
        waiting.push_back(item);
        model.push_back(&item);
        continue;
      }
      const std::uint32_t key = random.below(12) * 0x10001U;
      const std::uint32_t tag = random.below(3);
      const auto matches = [&](const Item& item) {
        return item.tag == tag && (item.is_wild || item.key == key);
      };
      const auto first = std::find_if(model.begin(), model.end(), [&](Item* item) { return matches(*item); });
      Item* const wanted = first == model.end() ? nullptr : *first;
      REQUIRE(waiting.find(key, matches) == wanted);
      REQUIRE(waiting.find(std::nullopt, matches) == wanted);
      if (wanted == nullptr) continue;
      waiting.erase(*wanted);
      model.erase(first);
    }
  }
}

TEST_CASE("sequences keep their order while any item leaves") {
  struct Linked {
    int number = 0;
    Links<Linked> links;
  };
  using Order = Sequence<Linked, &Linked::links>;
  std::deque<Linked> items(6);
  Order order;
  for (int each = 0; each < 6; ++each) {
    items[static_cast<std::size_t>(each)].number = each;
    if (each < 3)
      order.push_back(&items[static_cast<std::size_t>(each)]);
    else
      order.push_front(&items[static_cast<std::size_t>(each)]);
  }
  const auto numbers = [&] {
    std::vector<int> found;
    for (const Linked* at = order.first(); at != nullptr; at = Order::after(at)) found.push_back(at->number);
    return found;
  };
  CHECK(numbers() == std::vector<int>{5, 4, 3, 0, 1, 2});
  order.erase(&items[5]);
  order.erase(&items[2]);
  order.erase(&items[3]);
  CHECK(numbers() == std::vector<int>{4, 0, 1});
  CHECK_FALSE(Order::contains(&items[3]));
  CHECK(order.pop_front() == &items[4]);
  order.push_back(&items[2]);
  CHECK(numbers() == std::vector<int>{0, 1, 2});
}

}  // namespace
}  // namespace hamtune::express
