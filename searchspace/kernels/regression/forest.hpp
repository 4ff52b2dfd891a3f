// A forest of regression trees. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hamtune {

/// Rows of features, one after the other.
struct FeatureRows {
  const float* values = nullptr;
  std::size_t rows = 0;
  std::size_t features = 0;

  const float* row(std::size_t number) const { return values + number * features; }
};

/// Unpruned regression trees, each of a bootstrap sample of the observations (Breiman, "Bagging predictors",
/// Machine Learning 24 (1996)). All features compete at each split, as Breiman, Friedman, Olshen, Stone,
/// "Classification and Regression Trees" (1984), section 8.4, grow a tree: the split that leaves the
/// least squared error wins, of equal ones of several features that of one by chance.
class RegressionForest {
 public:
  /// Features may be infinite. Throws std::invalid_argument where nothing is observed, a feature is no
  /// number or a target not finite, there is not a row of features for each target, or no tree is wanted.
  RegressionForest(const FeatureRows& observed, const std::vector<double>& targets, std::size_t trees,
                   std::uint64_t seed);

  std::size_t trees() const { return roots_.size(); }

  /// What each tree says of each row: `trees()` blocks of `rows.rows` values. Throws std::invalid_argument
  /// where there are not as many features as were learned from.
  std::vector<double> predict(const FeatureRows& rows) const;

 private:
  friend class TreeGrower;

  /// Features up to the threshold belong to the child `left`, larger ones to the one after it. A leaf is
  /// its own child, so that whoever is there stays there.
  struct Node {
    float threshold;
    std::uint32_t feature;
    std::uint32_t left;
  };

  std::uint32_t add_leaf();

  std::size_t features_;
  std::vector<std::uint32_t> roots_;
  std::vector<Node> nodes_;
  std::vector<double> values_;  // of the leaves among the nodes
};

}  // namespace hamtune
