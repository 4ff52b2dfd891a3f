#include "searchspace/kernels/regression/forest.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "searchspace/kernels/graph/random.hpp"

namespace hamtune {

/// Grows one tree after the other. For each feature the observations of a node stand in a row, ordered by
/// that feature; a split parts these rows and keeps their order, so that nothing is sorted twice.
class TreeGrower {
 public:
  TreeGrower(const FeatureRows& observed, const std::vector<double>& targets, std::uint64_t seed)
      : targets_(targets),
        random_(seed),
        count_(targets.size()),
        columns_(observed.features * count_),
        sorted_(observed.features),
        times_(count_),
        is_low_(count_),
        passing_(count_) {
    for (std::size_t feature = 0; feature < observed.features; ++feature) {
      float* const column = &columns_[feature * count_];
      for (std::size_t row = 0; row < count_; ++row) column[row] = observed.row(row)[feature];
      std::vector<std::uint32_t>& order = sorted_[feature];
      order.resize(count_);
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(), [column](std::uint32_t one, std::uint32_t other) {
        return column[one] < column[other];
      });
    }
  }

  /// Adds a tree to a forest.
  void grow(RegressionForest& forest) {
    draw();
    orders_.clear();
    std::vector<std::uint32_t> varying;
    for (std::uint32_t feature = 0; feature < sorted_.size(); ++feature) {
      std::vector<std::uint32_t>& order = orders_.emplace_back();
      for (const std::uint32_t row : sorted_[feature])
        if (times_[row] > 0) order.push_back(row);
      varying.push_back(feature);
    }
    every_.clear();
    for (std::uint32_t row = 0; row < count_; ++row)
      if (times_[row] > 0) every_.push_back(row);
    forest.roots_.push_back(forest.add_leaf());
    grow(forest, forest.roots_.back(), {0, every_.size()}, std::move(varying));
  }

 private:
  /// Where the observations of a node stand in each row.
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  struct Split {
    std::uint32_t feature = 0;
    std::size_t low = 0;  // how many observations belong to the lower child; none: there is no split
    double gain = 0;
    float below = 0;  // the values beside it
    float above = 0;
  };

  void draw() {
    std::fill(times_.begin(), times_.end(), 0.0);
    for (std::size_t drawn = 0; drawn < count_; ++drawn)
      times_[random_.below(static_cast<std::uint32_t>(count_))] += 1.0;
  }

  /// `varying` holds all features that differ within the node, and possibly others.
  void grow(RegressionForest& forest, std::uint32_t node, Range range, std::vector<std::uint32_t> varying) {
    const auto [weight, mean, is_uniform] = summary(range);
    const Split split = is_uniform ? Split() : best_split(range, weight, mean, varying);
    if (split.low == 0) {
      forest.values_[node] = mean;
      return;
    }
    part(range, split, varying);
    const std::uint32_t low = forest.add_leaf();
    forest.add_leaf();
    const float middle = split.below / 2 + split.above / 2;
    forest.nodes_[node] = {middle < split.above ? middle : split.below, split.feature, low};
    grow(forest, low, {range.begin, range.begin + split.low}, varying);
    grow(forest, low + 1, {range.begin + split.low, range.end}, std::move(varying));
  }

  struct Summary {
    double weight;
    double mean;
    bool is_uniform;
  };

  Summary summary(Range range) const {
    double weight = 0;
    double sum = 0;
    bool is_uniform = true;
    for (std::size_t place = range.begin; place < range.end; ++place) {
      const std::uint32_t row = every_[place];
      weight += times_[row];
      sum += times_[row] * targets_[row];
      is_uniform = is_uniform && targets_[row] == targets_[every_[range.begin]];
    }
    return {weight, is_uniform ? targets_[every_[range.begin]] : sum / weight, is_uniform};
  }

  /// Features that turn out to be the same in the whole node are taken out of `varying`.
  Split best_split(Range range, double weight, double mean, std::vector<std::uint32_t>& varying) {
    // Sums in another order differ by their rounding, which is not to decide between equal splits.
    constexpr double kMore = 1 + 1e-10;
    Split best;
    std::size_t left = varying.size();
    while (left > 0) {
      std::swap(varying[random_.below(static_cast<std::uint32_t>(left))], varying[left - 1]);
      const std::uint32_t feature = varying[--left];
      const float* const column = &columns_[feature * count_];
      const std::vector<std::uint32_t>& order = orders_[feature];
      if (column[order[range.begin]] == column[order[range.end - 1]]) {
        varying[left] = varying.back();
        varying.pop_back();
        continue;
      }
      double low = 0;  // the weight so far, and the sum of what the targets differ from their mean
      double sum = 0;
      for (std::size_t place = range.begin; place + 1 < range.end; ++place) {
        const std::uint32_t row = order[place];
        low += times_[row];
        sum += times_[row] * (targets_[row] - mean);
        const float next = column[order[place + 1]];
        if (column[row] == next) continue;
        const double gain = sum * sum / low + sum * sum / (weight - low);
        if (best.low == 0 || gain > best.gain * kMore)
          best = {feature, place + 1 - range.begin, gain, column[row], next};
      }
    }
    return best;
  }

  void part(Range range, const Split& split, const std::vector<std::uint32_t>& varying) {
    const std::vector<std::uint32_t>& order = orders_[split.feature];
    for (std::size_t place = range.begin; place < range.end; ++place)
      is_low_[order[place]] = place < range.begin + split.low;
    for (const std::uint32_t feature : varying)
      if (feature != split.feature) part(orders_[feature], range);
    part(every_, range);
  }

  void part(std::vector<std::uint32_t>& order, Range range) {
    std::size_t low = range.begin;
    std::size_t high = 0;
    for (std::size_t place = range.begin; place < range.end; ++place) {
      const std::uint32_t row = order[place];  // written to one of both: no branch to be guessed
      order[low] = row;
      passing_[high] = row;
      low += is_low_[row];
      high += 1U - is_low_[row];
    }
    std::copy_n(passing_.begin(), high, order.begin() + static_cast<std::ptrdiff_t>(low));
  }

  const std::vector<double>& targets_;
  Random random_;
  std::size_t count_;
  std::vector<float> columns_;                       // of the observations, by feature
  std::vector<std::vector<std::uint32_t>> sorted_;   // all observations by each feature
  std::vector<double> times_;                        // how often each is drawn
  std::vector<std::vector<std::uint32_t>> orders_;   // those drawn, by feature, of all nodes
  std::vector<std::uint32_t> every_;                 // those drawn
  std::vector<std::uint8_t> is_low_;
  std::vector<std::uint32_t> passing_;
};

RegressionForest::RegressionForest(const FeatureRows& observed, const std::vector<double>& targets,
                                   std::size_t trees, std::uint64_t seed)
    : features_(observed.features) {
  if (targets.empty() || observed.rows != targets.size())
    throw std::invalid_argument("each observation has a row of features and a target");
  TreeGrower grower(observed, targets, seed);
  for (std::size_t tree = 0; tree < trees; ++tree) grower.grow(*this);
}

std::uint32_t RegressionForest::add_leaf() {
  const auto leaf = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({std::numeric_limits<float>::infinity(), 0, leaf});
  values_.push_back(0);
  return leaf;
}

std::vector<double> RegressionForest::predict(const FeatureRows& rows) const {
  if (rows.features != features_) throw std::invalid_argument("these are other features");
  constexpr std::size_t kTogether = 16;  // rows that go down a tree side by side, without a branch
  std::vector<double> said(roots_.size() * rows.rows);
  for (std::size_t first = 0; first < rows.rows; first += kTogether) {
    const std::size_t count = std::min(kTogether, rows.rows - first);
    for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
      std::array<std::uint32_t, kTogether> at{};
      at.fill(roots_[tree]);
      std::uint32_t moved = features_ > 0 ? 1 : 0;  // without any all trees are leaves
      while (moved != 0) {
        moved = 0;
        for (std::size_t row = 0; row < count; ++row) {
          const Node& node = nodes_[at[row]];
          const float value = rows.row(first + row)[node.feature];
          const std::uint32_t next = node.low + (value > node.threshold ? 1U : 0U);
          moved |= next ^ at[row];
          at[row] = next;
        }
      }
      for (std::size_t row = 0; row < count; ++row) said[tree * rows.rows + first + row] = values_[at[row]];
    }
  }
  return said;
}

}  // namespace hamtune
