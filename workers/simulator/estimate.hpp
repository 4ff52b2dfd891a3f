// What the stretches of a truncated trace that stand for more iterations add to its time.
#pragma once

#include <cstddef>
#include <vector>

#include "searchspace/kernels/trace.hpp"

namespace hamtune {

/// Follows the ranks of an application from mark to mark, in simulated seconds. Of a stretch counts
/// the mean of what those ranks take for it that do something in it: the others pass it in no time
/// and wait elsewhere. A whole trace has no stretches and adds nothing.
class Estimate {
 public:
  explicit Estimate(const Trace& trace);

  /// A rank has come to its next mark.
  void pass(std::size_t rank, double now);

  /// What has been added by now at least: it never shrinks.
  double added(double now) const;

  /// What each of the trace's estimates adds in the end.
  const std::vector<double>& all() const { return added_; }

 private:
  struct Place {
    std::size_t marks = 0;  // passed
    double at = 0;          // time of the last
  };

  bool takes_part(std::size_t rank, std::size_t stretch) const;
  double weight(std::size_t estimate, std::size_t rank) const;

  const Trace& trace_;
  std::vector<double> taking_part_;  // ranks, by stretch
  std::vector<Place> places_;    // of each rank
  std::vector<double> added_;    // by each estimate in stretches that ranks have left behind
  double open_weight_ = 0;       // of the stretches that ranks are in, by the first estimate
  double open_since_ = 0;        // these weights times the times of the marks at their beginnings
};

}  // namespace hamtune
