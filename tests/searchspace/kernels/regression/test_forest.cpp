// Forests of regression trees: what a tree knows, what it cannot, and which split it takes.
#include <algorithm>
#include <cmath>
#include <set>

#include "searchspace/kernels/graph/random.hpp"
#include "searchspace/kernels/regression/forest.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

TEST_CASE("of targets that are the same everywhere all trees say just that") {
  const std::vector<float> features{0, 1, 2, 3};
  const RegressionForest forest({features.data(), 4, 1}, {2.5, 2.5, 2.5, 2.5}, 7, 1);
  CHECK(forest.predict({features.data(), 4, 1}) == std::vector<double>(28, 2.5));
}

TEST_CASE("where features are the same a tree says the mean of what it drew") {
  const std::vector<float> features{1, 1};
  const RegressionForest forest({features.data(), 2, 1}, {0, 1}, 400, 3);
  const std::vector<double> said = forest.predict({features.data(), 1, 1});
  CHECK(std::set<double>(said.begin(), said.end()) == std::set<double>{0, 0.5, 1});
}

TEST_CASE("a split lies in the middle between what it parts") {
  const std::vector<float> features{0, 1};
  const std::vector<float> asked{0.49F, 0.5F, 0.51F};
  const RegressionForest forest({features.data(), 2, 1}, {10, 20}, 100, 5);
  const std::vector<double> said = forest.predict({asked.data(), 3, 1});
  for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
    CHECK(said[3 * tree] == said[3 * tree + 1]);
    if (said[3 * tree] != said[3 * tree + 2]) {  // it drew both
      CHECK(said[3 * tree] == 10);
      CHECK(said[3 * tree + 2] == 20);
    }
  }
}

TEST_CASE("equal features are taken equally often, though their sums are rounded differently") {
  constexpr std::size_t kRows = 40;
  Random random(11);
  std::vector<float> features;
  std::vector<double> targets;
  for (std::size_t row = 0; row < kRows; ++row) {
    const auto bit = static_cast<float>(row % 2);
    features.insert(features.end(), {bit, 1 - bit, bit});
    targets.push_back(random.unit() + 3 * static_cast<double>(bit));
  }
  const RegressionForest forest({features.data(), kRows, 3}, targets, 3000, 7);
  // Each row asked agrees with 1 in one feature only, which tells by which one a tree decides.
  const std::vector<float> asked{1, 1, 0, 0, 0, 0, 0, 1, 1};
  const std::vector<double> said = forest.predict({asked.data(), 3, 3});
  for (std::size_t row = 0; row < 3; ++row) {
    std::size_t high = 0;
    for (std::size_t tree = 0; tree < forest.trees(); ++tree) high += said[3 * tree + row] > 2 ? 1 : 0;
    const std::size_t third = forest.trees() / 3;
    CHECK((high > third ? high - third : third - high) < third / 10);
  }
}

TEST_CASE("without features all trees say the mean of what they drew") {
  const RegressionForest forest({nullptr, 3, 0}, {1, 1, 1}, 2, 1);
  CHECK(forest.predict({nullptr, 2, 0}) == std::vector<double>(4, 1));
}

TEST_CASE("values that no number of single precision lies between are told apart") {
  const float low = 1;
  const std::vector<float> features{low, std::nextafter(low, 2.0F)};
  const RegressionForest forest({features.data(), 2, 1}, {10, 20}, 50, 5);
  const std::vector<double> said = forest.predict({features.data(), 2, 1});
  CHECK(std::set<double>(said.begin(), said.end()) == std::set<double>{10, 20});
  CHECK(std::adjacent_find(said.begin(), said.end()) != said.end());
}

TEST_CASE("nothing can be learned of nothing, and other features are none of the forest's") {
  const std::vector<float> features{0, 1};
  CHECK_THROWS_AS(RegressionForest({features.data(), 0, 1}, {}, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(RegressionForest({features.data(), 2, 1}, {1}, 1, 1), std::invalid_argument);
  const RegressionForest forest({features.data(), 2, 1}, {1, 2}, 1, 1);
  CHECK_THROWS_AS(forest.predict({features.data(), 1, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace hamtune
