// Streams in the order in which they are due.
#include "workers/simulator/express/due_streams.hpp"

#include <set>
#include <utility>
#include <vector>

#include "tests/native.hpp"

namespace hamtune::express {
namespace {

using Due = DueStreams::Due;

const auto kNobody = [](std::size_t, std::uint32_t) {};

TEST_CASE("nothing is due never") {
  DueStreams due;
  CHECK(due.is_empty());
  CHECK(due.first().date() == DueStreams::kNever);
  due.insert({0.0, 3});
  CHECK(due.first().date() == 0);
  due.drop_first(kNobody);
  CHECK(due.first().date() == DueStreams::kNever);
}

TEST_CASE("streams come by date, those of one date by number, as from a set") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    DueStreams due;
    std::set<std::pair<double, std::uint32_t>> model;
    std::uint32_t next = 0;
    std::vector<std::pair<std::size_t, std::uint32_t>> told;  // places with streams, of one step
    const auto tell = [&](std::size_t place, std::uint32_t stream) { told.push_back({place, stream}); };
    const auto any_date = [&] { return random.below(4) == 0 ? 0.0 : 1e-6 * random.below(50); };
    for (int step = 0; step < 600; ++step) {
      told.clear();
      const std::uint32_t chance = random.below(seed % 2 == 0 ? 4 : 3);
      if (model.empty() || chance == 0 || chance == 3) {
        const double date = any_date();
        due.insert({date, next});
        model.emplace(date, next++);
      } else if (chance == 1) {
        const double date = any_date();
        due.replace_first({date, next}, tell);
        model.erase(model.begin());
        model.emplace(date, next++);
      } else {
        due.drop_first(tell);
        model.erase(model.begin());
      }
      REQUIRE(due.is_empty() == model.empty());
      if (model.empty()) continue;
      REQUIRE(due.first().date() == model.begin()->first);
      REQUIRE(due.first().stream() == model.begin()->second);
      if (told.empty()) continue;  // what was inserted is not told of
      // What moved up is told of from the first place down, each below the one before.
      REQUIRE(told.front() == std::pair<std::size_t, std::uint32_t>{0, model.begin()->second});
      for (std::size_t at = 1; at < told.size(); ++at) {
        REQUIRE((told[at].first - 1) / DueStreams::kChildren == told[at - 1].first);
        REQUIRE(told[at].first < model.size());
      }
    }
  }
}

}  // namespace
}  // namespace hamtune::express
