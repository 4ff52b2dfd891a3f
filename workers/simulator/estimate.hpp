// What the stretches of a truncated trace that stand for more iterations add to its time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// Follows the ranks of an application from mark to mark, in simulated seconds.
///
/// Each rank adds what it takes for the stretches in which it does something, times their weights;
/// of those that it passes in no time, while it waits elsewhere, the mean of what the others take.
/// Of the same part of several iterations (a group) the mean counts, or where one of them is out of
/// all proportion the middle one, of two the lesser: a rank that comes late makes its neighbours wait
/// in one iteration, theirs in the next, and that is no pace. The rank that adds most decides: once a loop has settled all add the same, and until then ranks at
/// the head of a pipeline run ahead of those that set its pace. Where iterations are not alike, or
/// lie within others and hold the ranks together, it is chance which rank is late in those that are
/// kept: of such stretches all add the mean. A whole trace has no stretches and adds nothing.
class Estimate {
 public:
  explicit Estimate(const Trace& trace);

  /// A rank has come to its next mark.
  void pass(std::size_t rank, double now);

  /// What has been added by now at least: it never shrinks.
  double added(double now) const;

  /// What each of the trace's estimates adds once all ranks have passed all marks.
  std::vector<double> all() const;

  /// What the rank that adds least adds then, by the first estimate.
  double least() const;

 private:
  struct Place {
    std::size_t marks = 0;  // passed
    double at = 0;          // time of the last
  };
  struct Group {
    std::vector<std::size_t> stretches;
    double taking_part = 0;  // ranks, in any of them
  };

  bool takes_part(std::size_t rank, std::size_t stretch) const;
  bool takes_part(std::size_t rank, const Group& group) const;
  bool is_own(const Group& group) const;
  double mean_weight(std::size_t rank) const;
  std::optional<double> adds(std::size_t rank, const Group& group, std::size_t estimate) const;
  std::vector<double> by_rank(std::size_t estimate) const;

  const Trace& trace_;
  std::size_t stretches_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;       // by stretch
  std::vector<Place> places_;               // of each rank
  std::vector<std::vector<double>> taken_;  // by rank and stretch
  double left_behind_ = 0;                  // mean over the ranks, of groups that they have passed
  double open_weight_ = 0;                  // of the stretches that ranks are in
  double open_since_ = 0;  // these weights times the times of the marks at their beginnings
};

}  // namespace hamtune
