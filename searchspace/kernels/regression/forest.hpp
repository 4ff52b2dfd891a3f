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

/// Trees grown until each leaf holds equal targets or equal features, each of as many observations as
/// there are, drawn with replacement (Breiman, "Random forests", Machine Learning 45 (2001)). All
/// features compete at each split, as Breiman, Friedman, Olshen, Stone, "Classification and Regression
/// Trees" (1984), section 8.4, grow a tree: the split that leaves the least squared error wins, of
/// splits that are equal one by chance.
class RegressionForest {
 public:
  /// Throws std::invalid_argument where nothing is observed.
  RegressionForest(const FeatureRows& observed, const std::vector<double>& targets, std::size_t trees,
                   std::uint64_t seed);

  std::size_t trees() const { return roots_.size(); }
  std::size_t features() const { return features_; }

  /// What each tree says of each row: `trees()` blocks of `rows.rows` values.
  std::vector<double> predict(const FeatureRows& rows) const;

 private:
  friend class TreeGrower;

  /// Features up to the threshold belong to the child `low`, larger ones to the one after it. A leaf is
  /// its own child, so that whoever is there stays there.
  struct Node {
    float threshold;
    std::uint32_t feature;
    std::uint32_t low;
  };

  std::uint32_t add_leaf();

  std::size_t features_;
  std::vector<std::uint32_t> roots_;
  std::vector<Node> nodes_;
  std::vector<double> values_;  // of the leaves among the nodes
};

}  // namespace hamtune
