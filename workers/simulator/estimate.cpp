#include "workers/simulator/estimate.hpp"

#include <algorithm>

namespace hamtune {

Estimate::Estimate(const Trace& trace)
    : trace_(trace),
      taking_part_(trace.weights.empty() ? 0 : trace.weights.front().size(), 0.0),
      together_(taking_part_.size(), 0.0),
      places_(trace.ranks.size()),
      added_(trace.weights.size(), std::vector<double>(trace.ranks.size(), 0.0)) {
  for (std::size_t stretch = 0; stretch < taking_part_.size(); ++stretch)
    for (std::size_t rank = 0; rank < places_.size(); ++rank)
      if (takes_part(rank, stretch)) ++taking_part_[stretch];
}

bool Estimate::takes_part(std::size_t rank, std::size_t stretch) const {
  const SharedList<Mark>& marks = trace_.ranks[rank].marks;
  return stretch + 1 < marks.size() && marks[stretch].before < marks[stretch + 1].before;
}

/// Whether the rank adds what it took itself.
bool Estimate::counts(std::size_t rank, std::size_t stretch) const {
  return takes_part(rank, stretch) &&
         trace_.ranks[rank].marks[stretch].level != kMeanStretch;
}

/// The share in the mean of the stretch that the rank is in.
double Estimate::mean_weight(std::size_t rank) const {
  const std::size_t marks = places_[rank].marks;
  if (marks == 0 || marks > taking_part_.size() || !takes_part(rank, marks - 1)) return 0;
  return trace_.weights.front()[marks - 1] / taking_part_[marks - 1];
}

void Estimate::pass(std::size_t rank, double now) {
  Place& place = places_[rank];
  const double weight = mean_weight(rank);
  left_behind_ += weight * (now - place.at);
  open_weight_ -= weight;
  open_since_ -= weight * place.at;
  if (place.marks > 0 && takes_part(rank, place.marks - 1)) {
    const std::size_t stretch = place.marks - 1;
    together_[stretch] += now - place.at;
    for (std::size_t estimate = 0; counts(rank, stretch) && estimate < added_.size(); ++estimate)
      added_[estimate][rank] += trace_.weights[estimate][stretch] * (now - place.at);
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

std::vector<double> Estimate::by_rank(std::size_t estimate) const {
  std::vector<double> adds = added_[estimate];
  for (std::size_t stretch = 0; stretch < taking_part_.size(); ++stretch) {
    const double weight = trace_.weights[estimate][stretch];
    if (weight == 0 || taking_part_[stretch] == 0) continue;
    const double mean = weight * together_[stretch] / taking_part_[stretch];
    for (std::size_t rank = 0; rank < adds.size(); ++rank)
      if (!counts(rank, stretch)) adds[rank] += mean;
  }
  return adds;
}

std::vector<double> Estimate::all() const {
  std::vector<double> most;
  for (std::size_t estimate = 0; estimate < added_.size(); ++estimate) {
    const std::vector<double> adds = by_rank(estimate);
    most.push_back(*std::max_element(adds.begin(), adds.end()));
  }
  return most;
}

double Estimate::least() const {
  if (added_.empty()) return 0;
  const std::vector<double> adds = by_rank(0);
  return *std::min_element(adds.begin(), adds.end());
}

}  // namespace hamtune
