#include "workers/simulator/estimate.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace hamtune {

namespace {

constexpr double kAlike = 2;  // times as long as another iteration

/// What one of several iterations takes: the mean, or, where one is out of all proportion, the middle one, of an even
/// number the lesser of the two.
double usual(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (*std::max_element(values.begin(), values.end()) > kAlike * *middle) return *middle;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Estimate::Estimate(const Trace& trace)
    : trace_(trace),
      stretches_(trace.weights.empty() ? 0 : trace.weights.front().size()),
      places_(trace.ranks.size()),
      taken_(trace.ranks.size(), std::vector<double>(stretches_, 0.0)) {
  std::map<std::int32_t, std::size_t> numbers;
  for (std::size_t stretch = 0; stretch < stretches_; ++stretch) {
    const std::int32_t level = trace.ranks.front().marks[stretch].level;
    const bool alone = level <= kLevelsOfGroup;
    const auto [number, is_new] = numbers.try_emplace(level, groups_.size());
    if (alone || is_new) groups_.emplace_back();
    group_of_.push_back(alone ? groups_.size() - 1 : number->second);
    groups_[group_of_.back()].stretches.push_back(stretch);
  }
  for (Group& group : groups_)
    for (std::size_t rank = 0; rank < places_.size(); ++rank)
      if (takes_part(rank, group)) ++group.taking_part;
}

bool Estimate::takes_part(std::size_t rank, std::size_t stretch) const {
  const SharedList<Mark>& marks = trace_.ranks[rank].marks;
  return marks[stretch].before < marks[stretch + 1].before;
}

bool Estimate::takes_part(std::size_t rank, const Group& group) const {
  return std::any_of(group.stretches.begin(), group.stretches.end(),
                     [&](std::size_t stretch) { return takes_part(rank, stretch); });
}

/// Whether each rank adds what it took itself.
bool Estimate::is_own(const Group& group) const {
  const std::int32_t level = trace_.ranks.front().marks[group.stretches.front()].level;
  return level < kOwnStretch || (level - kOwnStretch) % kLevelsOfGroup == 0;
}

/// The share in the mean of the stretch that the rank is in: of one by itself, which never counts for less.
double Estimate::mean_weight(std::size_t rank) const {
  const std::size_t marks = places_[rank].marks;
  if (marks == 0 || marks > stretches_ || !takes_part(rank, marks - 1)) return 0;
  const Group& group = groups_[group_of_[marks - 1]];
  return group.stretches.size() > 1 ? 0 : trace_.weights.front()[marks - 1] / group.taking_part;
}

void Estimate::pass(std::size_t rank, double now) {
  Place& place = places_[rank];
  const double weight = mean_weight(rank);
  left_behind_ += weight * (now - place.at);
  open_weight_ -= weight;
  open_since_ -= weight * place.at;
  if (place.marks > 0 && place.marks <= stretches_) {
    const std::size_t stretch = place.marks - 1;
    taken_[rank][stretch] = now - place.at;
    const Group& group = groups_[group_of_[stretch]];
    if (group.stretches.size() > 1 && group.stretches.back() == stretch && takes_part(rank, group))
      left_behind_ += *adds(rank, group, 0) / group.taking_part;
  }
  ++place.marks;
  place.at = now;
  open_weight_ += mean_weight(rank);
  open_since_ += mean_weight(rank) * now;
}

/// The mean of what the ranks add, which the largest is no less than.
double Estimate::added(double now) const {
  return left_behind_ + open_weight_ * now - open_since_;
}

/// What a rank takes for a group by an estimate; nothing where it takes part in no stretch of it.
std::optional<double> Estimate::adds(std::size_t rank, const Group& group, std::size_t estimate) const {
  std::vector<double> taken;
  double weight = 0;
  for (const std::size_t stretch : group.stretches) {
    if (!takes_part(rank, stretch)) continue;
    taken.push_back(taken_[rank][stretch]);
    weight += trace_.weights[estimate][stretch];
  }
  if (taken.empty()) return std::nullopt;
  return weight * usual(std::move(taken));
}

std::vector<double> Estimate::by_rank(std::size_t estimate) const {
  std::vector<double> sums(places_.size(), 0.0);
  const auto count = [&](const Group& group) {
    std::vector<std::optional<double>> added;
    double together = 0;
    std::size_t taking_part = 0;
    for (std::size_t rank = 0; rank < sums.size(); ++rank) {
      added.push_back(adds(rank, group, estimate));
      together += added.back().value_or(0);
      if (added.back()) ++taking_part;
    }
    if (taking_part == 0) return;
    const double mean = together / static_cast<double>(taking_part);
    for (std::size_t rank = 0; rank < sums.size(); ++rank)
      sums[rank] += is_own(group) ? added[rank].value_or(mean) : mean;
  };
  // The others look at one iteration each.
  for (const Group& group : groups_)
    if (estimate == 0)
      count(group);
    else
      for (const std::size_t stretch : group.stretches) count({{stretch}});
  return sums;
}

std::vector<double> Estimate::all() const {
  std::vector<double> most;
  for (std::size_t estimate = 0; estimate < trace_.weights.size(); ++estimate) {
    const std::vector<double> sums = by_rank(estimate);
    most.push_back(*std::max_element(sums.begin(), sums.end()));
  }
  return most;
}

double Estimate::least() const {
  if (trace_.weights.empty()) return 0;
  const std::vector<double> sums = by_rank(0);
  return *std::min_element(sums.begin(), sums.end());
}

}  // namespace hamtune
