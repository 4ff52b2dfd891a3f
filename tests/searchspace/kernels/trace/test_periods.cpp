// Repetitions in sequences.
#include "searchspace/kernels/trace/periods.hpp"

#include "tests/native.hpp"

namespace hamtune {
namespace {

using Items = std::vector<std::uint32_t>;

Items repeated(const Items& head, const Items& unit, std::size_t times, const Items& tail) {
  Items items = head;
  for (std::size_t each = 0; each < times; ++each) items.insert(items.end(), unit.begin(), unit.end());
  items.insert(items.end(), tail.begin(), tail.end());
  return items;
}

TEST_CASE("what covers most comes first, and the shortest period of it") {
  const std::vector<Repetition> found = repetitions(repeated({9, 8}, {1, 2, 3}, 5, {7}), 2);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].first == 2);
  CHECK(found[0].period == 3);
  CHECK(found[0].count == 5);
}

TEST_CASE("whatever is told repeats itself, and could not begin or go on further") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto any = [&](std::uint32_t most, std::uint32_t letters) {
      Items items(random.below(most));
      for (std::uint32_t& item : items) item = random.below(letters);
      return items;
    };
    Items unit = any(20, 3);
    unit.push_back(5);
    const std::size_t times = 2 + random.below(30);
    const Items items = repeated(any(40, 6), unit, times, any(40, 6));
    const std::size_t least = 2 + random.below(3);
    const std::vector<Repetition> found = repetitions(items, least);
    for (const Repetition& one : found) {
      REQUIRE(one.period > 0);
      REQUIRE(one.count >= least);
      const std::size_t end = one.first + one.period * one.count;
      REQUIRE(end <= items.size());
      for (std::size_t at = one.first + one.period; at < end; ++at)
        REQUIRE(items[at] == items[at - one.period]);
    }
    for (std::size_t at = 1; at < found.size(); ++at)
      CHECK(found[at].period * found[at].count < found[at - 1].period * (found[at - 1].count + 1));
    if (times >= least) {
      REQUIRE_FALSE(found.empty());
      CHECK(found[0].period * found[0].count >= unit.size() * times);
    }
  }
}

TEST_CASE("nothing repeats in nothing") {
  CHECK(repetitions({}, 2).empty());
  CHECK(repetitions({1}, 2).empty());
  CHECK(repetitions({1, 2, 3, 4}, 2).empty());
}

}  // namespace
}  // namespace hamtune
