#include "workers/simulator/estimate.hpp"

namespace hamtune {

Estimate::Estimate(const Trace& trace)
    : trace_(trace),
      taking_part_(trace.weights.empty() ? 0 : trace.weights.front().size(), 0.0),
      places_(trace.ranks.size()),
      added_(trace.weights.size(), 0.0) {
  for (std::size_t stretch = 0; stretch < taking_part_.size(); ++stretch)
    for (std::size_t rank = 0; rank < places_.size(); ++rank)
      if (takes_part(rank, stretch)) ++taking_part_[stretch];
}

bool Estimate::takes_part(std::size_t rank, std::size_t stretch) const {
  const std::vector<Mark>& marks = trace_.ranks[rank].marks;
  return stretch + 1 < marks.size() && marks[stretch].before < marks[stretch + 1].before;
}

double Estimate::weight(std::size_t estimate, std::size_t rank) const {
  const std::size_t marks = places_[rank].marks;
  if (marks == 0 || marks > taking_part_.size() || !takes_part(rank, marks - 1)) return 0;
  return trace_.weights[estimate][marks - 1] / taking_part_[marks - 1];
}

void Estimate::pass(std::size_t rank, double now) {
  Place& place = places_[rank];
  for (std::size_t estimate = 0; estimate < added_.size(); ++estimate)
    added_[estimate] += weight(estimate, rank) * (now - place.at);
  if (added_.empty()) return;
  open_weight_ -= weight(0, rank);
  open_since_ -= weight(0, rank) * place.at;
  ++place.marks;
  place.at = now;
  open_weight_ += weight(0, rank);
  open_since_ += weight(0, rank) * place.at;
}

double Estimate::added(double now) const {
  if (added_.empty()) return 0;
  return added_.front() + open_weight_ * now - open_since_;
}

}  // namespace hamtune
