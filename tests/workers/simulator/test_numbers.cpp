// Numbers by keys, and the estimates made of them.
#include "workers/simulator/numbers.hpp"

#include <map>

#include "tests/native.hpp"
#include "workers/simulator/factors.hpp"
#include "workers/simulator/protocol.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune {
namespace {

struct Key {
  std::uint32_t one = 0;
  std::uint32_t other = 0;

  std::size_t hash() const { return one % 4; }  // most keys meet
  bool operator==(const Key& key) const { return one == key.one && other == key.other; }
};

TEST_CASE("each key has its number, until all are forgotten at once") {
  Random random(1);
  Numbers<Key, int> numbers;
  CHECK(numbers.find({1, 1}) == nullptr);
  for (int age = 0; age < 4; ++age) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> model;
    for (int step = 0; step < 3000; ++step) {
      const Key key{random.below(60), random.below(30)};
      numbers.fetch(key);
      const auto known = model.find({key.one, key.other});
      const int* const found = numbers.find(key);
      REQUIRE((found == nullptr) == (known == model.end()));
      if (found != nullptr) REQUIRE(*found == known->second);
      if (random.below(2) == 0) REQUIRE(numbers[key]++ == model[{key.one, key.other}]++);
    }
    numbers.forget();
  }
}

TEST_CASE("factors hold above their boundaries, in any order of the steps") {
  const Factors factors("smpi/lat-factor", "15424:3.48;65472:11.6;0:2.01");
  CHECK(factors(0) == 1);
  CHECK(factors(1) == 2.01);
  CHECK(factors(15424) == 2.01);
  CHECK(factors(15425) == 3.48);
  CHECK(factors(1e9) == 11.6);
  CHECK(Factors("f", "0.5")(123) == 0.5);
  for (const char* broken : {"", "a", "1:2:3", "1:", ":2", "-1", "1;2", "nan", "inf", "1:2;;", "0:1e999"}) {
    CAPTURE(broken);
    CHECK_THROWS_AS(Factors("f", broken), InvalidRequest);
  }
}

TEST_CASE("overheads are linear between their steps, and nothing below the first") {
  const Overhead overhead({{10, 1, 0.5}, {100, 2, 0}});
  CHECK(overhead(9) == 0);
  CHECK(overhead(10) == 6);
  CHECK(overhead(99) == 1 + 0.5 * 99);
  CHECK(overhead(100) == 2);
  CHECK(Overhead().is_nothing());
  CHECK(Overhead()(1e6) == 0);
}

}  // namespace
}  // namespace hamtune
