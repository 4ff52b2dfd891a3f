// Forests of regression trees: what a tree knows, what it cannot, and which split it takes.
#include <algorithm>
#include <cmath>
#include <limits>
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
  std::size_t split = 0;
  for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
    CHECK(said[3 * tree] == said[3 * tree + 1]);
    if (said[3 * tree] == said[3 * tree + 2]) continue;  // it drew one of them twice
    ++split;
    CHECK(said[3 * tree] == 10);
    CHECK(said[3 * tree + 2] == 20);
  }
  CHECK(split > 30);
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

TEST_CASE("a tree goes on where no feature tells anything by itself") {
  const std::vector<float> features{0, 0, 0, 1, 1, 0, 1, 1};
  const std::vector<double> targets{0.1, 0.7, 0.7, 0.1};  // neither feature tells anything by itself
  const RegressionForest forest({features.data(), 4, 2}, targets, 3000, 3);
  // All trees that drew all four observations know them, whichever feature came first.
  const std::vector<double> said = forest.predict({features.data(), 4, 2});
  std::size_t whole = 0;
  for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
    const auto* const own = &said[4 * tree];
    whole += std::equal(targets.begin(), targets.end(), own) ? 1 : 0;
  }
  CHECK(whole > forest.trees() / 20);  // 4! / 4^4 of the samples hold all four
}

TEST_CASE("without features all trees say the mean of what they drew") {
  const RegressionForest forest({nullptr, 2, 0}, {0, 1}, 400, 3);
  const std::vector<double> said = forest.predict({nullptr, 1, 0});
  CHECK(std::set<double>(said.begin(), said.end()) == std::set<double>{0, 0.5, 1});
}

TEST_CASE("values that no number of single precision lies between are told apart") {
  const float low = std::nextafter(1.0F, 2.0F);  // the middle is rounded to the higher one
  const std::vector<float> features{low, std::nextafter(low, 2.0F)};
  const RegressionForest forest({features.data(), 2, 1}, {10, 20}, 50, 5);
  const std::vector<double> said = forest.predict({features.data(), 2, 1});
  std::size_t apart = 0;
  for (std::size_t tree = 0; tree < forest.trees(); ++tree)
    apart += said[2 * tree] == 10 && said[2 * tree + 1] == 20 ? 1 : 0;
  CHECK(apart > 10);
}

TEST_CASE("infinite features are beyond all others") {
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  const std::vector<float> features{-kEndless, 0, kEndless};
  const RegressionForest forest({features.data(), 3, 1}, {10, 20, 30}, 200, 5);
  const std::vector<double> said = forest.predict({features.data(), 3, 1});
  std::size_t whole = 0;
  for (std::size_t tree = 0; tree < forest.trees(); ++tree)
    whole += said[3 * tree] == 10 && said[3 * tree + 1] == 20 && said[3 * tree + 2] == 30 ? 1 : 0;
  CHECK(whole > 20);  // 3! / 3^3 of the samples hold all three
}

TEST_CASE("trees do not depend on how many there are") {
  const std::vector<float> features{0, 1, 2, 3, 4, 5};
  const std::vector<double> targets{3, 1, 4, 1, 5, 9};
  const FeatureRows rows{features.data(), 6, 1};
  const std::vector<double> few = RegressionForest(rows, targets, 3, 9).predict(rows);
  const std::vector<double> many = RegressionForest(rows, targets, 8, 9).predict(rows);
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
}

TEST_CASE("nothing can be learned of nothing, and other features are none of the forest's") {
  const std::vector<float> features{0, 1};
  CHECK_THROWS_AS(RegressionForest({features.data(), 0, 1}, {}, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(RegressionForest({features.data(), 2, 1}, {1}, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(RegressionForest({features.data(), 2, 1}, {1, 2}, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(RegressionForest({features.data(), 2, 1}, {1, std::nan("")}, 1, 1), std::invalid_argument);
  const std::vector<float> no_number{0, std::nanf("")};
  CHECK_THROWS_AS(RegressionForest({no_number.data(), 2, 1}, {1, 2}, 1, 1), std::invalid_argument);
  const RegressionForest forest({features.data(), 2, 1}, {1, 2}, 1, 1);
  CHECK_THROWS_AS(forest.predict({features.data(), 1, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace hamtune
