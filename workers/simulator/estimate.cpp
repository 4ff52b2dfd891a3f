#include "workers/simulator/estimate.hpp"

namespace hamtune {

Estimate::Estimate(const Trace& trace)
    : weights_(trace.weights), places_(trace.ranks.size()), added_(trace.weights.size(), 0.0) {}

double Estimate::weight(std::size_t estimate, const Place& place) const {
  const bool inside = place.marks > 0 && place.marks <= weights_[estimate].size();
  if (!inside) return 0;
  return weights_[estimate][place.marks - 1] / static_cast<double>(places_.size());
}

void Estimate::pass(std::size_t rank, double now) {
  Place& place = places_[rank];
  for (std::size_t estimate = 0; estimate < weights_.size(); ++estimate)
    added_[estimate] += weight(estimate, place) * (now - place.at);
  open_weight_ -= weight(0, place);
  open_since_ -= weight(0, place) * place.at;
  ++place.marks;
  place.at = now;
  open_weight_ += weight(0, place);
  open_since_ += weight(0, place) * place.at;
}

double Estimate::added(double now) const {
  if (added_.empty()) return 0;
  return added_.front() + open_weight_ * now - open_since_;
}

}  // namespace hamtune
