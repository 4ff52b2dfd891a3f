#include "searchspace/kernels/regression/forest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
  TreeGrower(const FeatureRows& observed, const std::vector<double>& targets)
      : targets_(targets),
        count_(targets.size()),
        columns_(observed.features * count_),
        presorted_(observed.features),
        counts_(count_),
        is_left_(count_),
        passing_(count_) {
    for (std::size_t feature = 0; feature < observed.features; ++feature) {
      float* const column = &columns_[feature * count_];
      for (std::size_t row = 0; row < count_; ++row) column[row] = observed.row(row)[feature];
      std::vector<std::uint32_t>& order = presorted_[feature];
      order.resize(count_);
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(), [column](std::uint32_t one, std::uint32_t other) {
        return column[one] < column[other];
      });
    }
  }

  /// Adds a tree to a forest.
  void grow(RegressionForest& forest, Random random) {
    draw(random);
    orders_.clear();
    for (const std::vector<std::uint32_t>& order : presorted_) orders_.push_back(drawn_of(order));
    std::vector<std::uint32_t> every(count_);
    std::iota(every.begin(), every.end(), 0U);
    samples_ = drawn_of(every);
    std::vector<std::uint32_t> features(presorted_.size());
    std::iota(features.begin(), features.end(), 0U);

    forest.roots_.push_back(forest.add_leaf());
    std::vector<Growing> growing;
    growing.push_back({forest.roots_.back(), {0, samples_.size()}, std::move(features)});
    while (!growing.empty()) {
      Growing node = std::move(growing.back());
      growing.pop_back();
      const Summary summary = summary_of(node.range);
      const Split split = summary.error > 0 ? best_split(node, summary, random) : Split();
      if (split.left == 0) {
        forest.values_[node.number] = summary.mean;
        continue;
      }
      part(node, split);
      const std::uint32_t left = forest.add_leaf();
      forest.add_leaf();
      const float middle = split.below / 2 + split.above / 2;
      forest.nodes_[node.number] = {middle < split.above ? middle : split.below, split.feature, left};
      const std::size_t border = node.range.begin + split.left;
      growing.push_back({left + 1, {border, node.range.end}, node.varying});
      growing.push_back({left, {node.range.begin, border}, std::move(node.varying)});
    }
  }

 private:
  /// Where the observations of a node stand in each row.
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  /// A node that may be split.
  struct Growing {
    std::uint32_t number;
    Range range;
    std::vector<std::uint32_t> varying;  // features: all that differ within the node, possibly others
  };

  struct Summary {
    double weight;
    double mean;
    double error;  // squared, 0 where all targets are the same
  };

  struct Split {
    std::uint32_t feature = 0;
    std::size_t left = 0;  // how many observations belong to the left child; none: there is no split
    double gain = 0;
    float below = 0;  // the values beside it
    float above = 0;
  };

  void draw(Random& random) {
    std::fill(counts_.begin(), counts_.end(), 0.0);
    for (std::size_t drawn = 0; drawn < count_; ++drawn)
      counts_[random.below(static_cast<std::uint32_t>(count_))] += 1.0;
  }

  std::vector<std::uint32_t> drawn_of(const std::vector<std::uint32_t>& order) const {
    std::vector<std::uint32_t> drawn;
    for (const std::uint32_t row : order)
      if (counts_[row] > 0) drawn.push_back(row);
    return drawn;
  }

  Summary summary_of(Range range) const {
    const double first = targets_[samples_[range.begin]];
    double weight = 0;
    double sum = 0;  // of what the targets differ from the first one: exactly 0 where they do not
    for (std::size_t place = range.begin; place < range.end; ++place) {
      const std::uint32_t row = samples_[place];
      weight += counts_[row];
      sum += counts_[row] * (targets_[row] - first);
    }
    const double mean = first + sum / weight;
    double error = 0;
    for (std::size_t place = range.begin; place < range.end; ++place) {
      const std::uint32_t row = samples_[place];
      error += counts_[row] * (targets_[row] - mean) * (targets_[row] - mean);
    }
    return {weight, mean, error};
  }

  /// Features that turn out to be the same in the whole node are taken out of those that vary.
  Split best_split(Growing& node, const Summary& summary, Random& random) {
    // Sums in another order differ by their rounding, which is not to decide between equal splits.
    const double more = 1e-10 * summary.error;
    std::vector<std::uint32_t>& varying = node.varying;
    Split best;
    std::size_t unseen = varying.size();
    while (unseen > 0) {
      std::swap(varying[random.below(static_cast<std::uint32_t>(unseen))], varying[unseen - 1]);
      const std::uint32_t feature = varying[--unseen];
      const float* const column = &columns_[feature * count_];
      const std::vector<std::uint32_t>& order = orders_[feature];
      if (column[order[node.range.begin]] == column[order[node.range.end - 1]]) {
        varying[unseen] = varying.back();
        varying.pop_back();
        continue;
      }
      double weight = 0;  // so far, and the sum of what the targets differ from their mean
      double sum = 0;
      for (std::size_t place = node.range.begin; place + 1 < node.range.end; ++place) {
        const std::uint32_t row = order[place];
        weight += counts_[row];
        sum += counts_[row] * (targets_[row] - summary.mean);
        const float next = column[order[place + 1]];
        if (column[row] == next) continue;
        const double gain = sum * sum / weight + sum * sum / (summary.weight - weight);
        if (best.left == 0 || gain > best.gain + more)
          best = {feature, place + 1 - node.range.begin, gain, column[row], next};
      }
    }
    return best;
  }

  void part(const Growing& node, const Split& split) {
    const std::vector<std::uint32_t>& order = orders_[split.feature];
    for (std::size_t place = node.range.begin; place < node.range.end; ++place)
      is_left_[order[place]] = place < node.range.begin + split.left;
    for (const std::uint32_t feature : node.varying)
      if (feature != split.feature) part(orders_[feature], node.range);
    part(samples_, node.range);
  }

  void part(std::vector<std::uint32_t>& order, Range range) {
    std::size_t left = range.begin;
    std::size_t right = 0;
    for (std::size_t place = range.begin; place < range.end; ++place) {
      const std::uint32_t row = order[place];  // written to both: no branch to be guessed
      order[left] = row;
      passing_[right] = row;
      left += is_left_[row];
      right += 1U - is_left_[row];
    }
    std::copy_n(passing_.begin(), right, order.begin() + static_cast<std::ptrdiff_t>(left));
  }

  const std::vector<double>& targets_;
  std::size_t count_;
  std::vector<float> columns_;                         // of the observations, by feature
  std::vector<std::vector<std::uint32_t>> presorted_;  // all observations by each feature
  std::vector<double> counts_;                         // how often each is in the sample
  std::vector<std::vector<std::uint32_t>> orders_;     // the sample by each feature, a node after another
  std::vector<std::uint32_t> samples_;                 // the same, by their numbers
  std::vector<std::uint8_t> is_left_;
  std::vector<std::uint32_t> passing_;
};

RegressionForest::RegressionForest(const FeatureRows& observed, const std::vector<double>& targets,
                                   std::size_t trees, std::uint64_t seed)
    : features_(observed.features) {
  if (targets.empty() || observed.rows != targets.size())
    throw std::invalid_argument("each observation has a row of features and a target");
  if (trees == 0) throw std::invalid_argument("a forest has at least one tree");
  if (!std::all_of(targets.begin(), targets.end(), [](double value) { return std::isfinite(value); }))
    throw std::invalid_argument("targets are finite");
  if (std::any_of(observed.row(0), observed.row(observed.rows), [](float value) { return std::isnan(value); }))
    throw std::invalid_argument("features are numbers");
  TreeGrower grower(observed, targets);
  // Each tree has random numbers of its own: what one does with its does not change the others.
  Random seeds(seed);
  for (std::size_t tree = 0; tree < trees; ++tree) grower.grow(*this, Random(seeds.next()));
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
          const std::uint32_t next = node.left + (value > node.threshold ? 1U : 0U);
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
