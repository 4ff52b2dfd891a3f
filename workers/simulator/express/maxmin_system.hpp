// How activities share resources: a linear max-min system (LMM), solved anew only where something changed.
//
// Its constraints are resources, its variables the rates of activities, and an element is what a variable
// takes of a constraint. The definitions are those of SimGrid 3.32's solver ("maxmin", selective update),
// down to the order in which sums are formed: rates must be the same to the last digit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workers/simulator/express/sequence.hpp"

namespace hamtune::express {

struct Activity;
struct Constraint;

/// What one activity takes of one resource, for each unit of its rate.
struct Element {
  static constexpr std::uint32_t kNowhere = static_cast<std::uint32_t>(-1);

  Constraint* constraint = nullptr;
  double weight = 0;  // positive
  double claim = 0;   // weight / penalty of the variable
  std::uint32_t place = kNowhere;  // among the enabled ones of the resource
};

/// Elements of a resource whose variables take part, in the order in which they came. All of them are looked
/// at several times an event, so what is read of them stands in rows, and memory is read in order.
class EnabledElements {
 public:
  bool empty() const { return count_ == 0; }
  std::uint32_t count() const { return count_; }
  void push_back(Element& element, std::uint32_t variable);
  void erase(Element& element);
  /// After the claim of an element has changed.
  void update(const Element& element) { claims_[element.place] = element.claim; }

  /// Calls `visit` with the number of each variable and its claim.
  template <typename Visit>
  void each_latest_first(Visit visit) const {
    for (std::size_t left = variables_.size(); left-- > 0;)
      if (variables_[left] != kNobody) visit(variables_[left], claims_[left]);
  }

  /// The same, until `visit` says that it is enough.
  template <typename Visit>
  void latest_first_until(Visit visit) const {
    for (std::size_t left = variables_.size(); left-- > 0;)
      if (variables_[left] != kNobody && visit(variables_[left])) return;
  }

  template <typename Visit>
  void each_earliest_first(Visit visit) const {
    for (const std::uint32_t variable : variables_)
      if (variable != kNobody) visit(variable);
  }

 private:
  static constexpr std::uint32_t kNobody = static_cast<std::uint32_t>(-1);

  void close_gaps();

  // By place.
  std::vector<std::uint32_t> variables_;  // kNobody: it has left
  std::vector<double> claims_;
  std::vector<Element*> elements_;
  std::uint32_t count_ = 0;
};

/// A resource.
struct Constraint {
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

  // What is asked for most stands together.
  double bound = 0;
  double remaining = 0;             // during a solution
  double usage = 0;                 // during a solution
  std::uint32_t active = 0;         // during a solution: elements of variables without a value
  std::uint32_t candidate = kNone;  // during a solution: its place among them
  Links<Constraint> modified;
  bool shared = true;  // otherwise everybody gets the whole ("fat pipe")
  std::uint32_t disabled = 0;  // elements of variables without penalty
  EnabledElements enabled;
};

/// The rate of an activity.
struct Variable {
  Activity* activity = nullptr;
  double penalty = 0;  // 0: takes part in nothing
  double bound = -1;   // most; at most 0 for none
  double value = 0;
  std::uint32_t number = 0;  // among those of its system
  std::vector<Element> elements;
};

/// Finds the rates of all variables that what changed since the last time may concern.
class MaxMinSystem {
 public:
  /// Prepares a variable that will have at most `elements`.
  void start(Variable& variable, Activity* activity, double penalty, double bound, std::size_t elements);

  /// Adds an element of a positive weight for a resource; where the variable has one already, increases it.
  void expand(Variable& variable, Constraint& constraint, double weight);

  /// Lets a variable without penalty take part, or changes its penalty.
  void enable(Variable& variable, double penalty);

  /// Ends a variable.
  void end(Variable& variable);

  void set_bound(Variable& variable, double bound);

  /// What starting and disabling at once a variable on this resource alone does: an idle wait.
  void start_idle(Constraint& constraint);
  void end_idle(Constraint& constraint);

  /// Finds the rates; calls `changed` for each activity whose rate may have changed, in SimGrid's order.
  template <typename Changed>
  void solve(Changed changed) {
    if (!modified_) return;
    find_rates();
    modified_ = false;
    std::size_t untold = taking_part_;
    for (const Constraint* each = modified_set_.first(); each != nullptr && untold > 0;
         each = ModifiedSet::after(each))
      each->enabled.each_latest_first([this, &changed, &untold](std::uint32_t number, double) {
        if (told_[number] == visit_) return;
        told_[number] = visit_;
        --untold;
        Variable& variable = *variables_[number];
        variable.value = values_[number];
        changed(variable.activity);
      });
    ++visit_;
    forget_modified();
  }

 private:
  using ModifiedSet = Sequence<Constraint, &Constraint::modified>;

  struct Candidate {
    double remaining_over_usage;  // negative: not known since something was taken
    Constraint* constraint;
  };

  std::uint32_t number();
  void add(Element& element, std::uint32_t variable);
  void remove(Element& element);
  void modify(Constraint& constraint);
  void forget_modified();

  void note_modified(Constraint& constraint);
  void spread(const Constraint& constraint);
  void note_modified(const Variable& variable);
  void leave_if_unused(Constraint& constraint);
  void find_rates();
  void find_candidates();
  double find_saturated();
  void collect_saturated_variables();
  bool set_value(const Variable& variable, double least_usage, double least_bound);
  void take(const Element& element, double value);
  void update_candidate(Constraint& constraint);

  bool modified_ = false;
  unsigned visit_ = 1;
  ModifiedSet modified_set_;
  std::size_t taking_part_ = 0;   // variables with elements that are enabled
  std::size_t not_modified_ = 0;  // resources of these that are not in the set

  // By the number of a variable.
  std::vector<Variable*> variables_;
  std::vector<double> values_;  // 0: without
  std::vector<unsigned> visited_;
  std::vector<unsigned> told_;
  std::vector<bool> saturates_;
  std::vector<std::uint32_t> free_numbers_;

  // During a solution.
  std::vector<Candidate> candidates_;
  std::uint32_t candidates_left_ = 0;
  std::vector<std::uint32_t> saturated_;
  std::vector<std::uint32_t> saturated_variables_;
};

}  // namespace hamtune::express
