// How activities share resources: a linear max-min system (LMM), solved anew only where something changed.
//
// Its constraints are resources, its variables the rates of activities, and an element is what a variable
// takes of a constraint. The definitions are those of SimGrid 3.32's solver ("maxmin", selective update),
// down to the order in which sums are formed: rates must be the same to the last digit.
#pragma once

#include <cstddef>
#include <vector>

#include "workers/simulator/express/sequence.hpp"

namespace hamtune::express {

struct Activity;
struct Constraint;
struct Variable;

/// What one activity takes of one resource, for each unit of its rate.
struct Element {
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  Constraint* constraint = nullptr;
  Variable* variable = nullptr;
  double weight = 0;
  double claim = 0;  // weight / penalty of the variable
  std::size_t place = kNowhere;  // among the enabled ones of the resource
  Links<Element> active;         // during a solution: of a variable without a value
};

/// Elements of a resource whose variables take part, the latest first. All of them are looked at several
/// times an event, so they stand in a row, which tells in time what is to be fetched from memory.
class EnabledElements {
 public:
  bool empty() const { return count_ == 0; }
  void push_front(Element& element);
  void erase(Element& element);

  template <typename Visit>
  void each(Visit visit) const {
    constexpr std::size_t kAhead = 6;  // places
    for (std::size_t left = places_.size(); left-- > 0;) {
      if (left >= kAhead) {
        __builtin_prefetch(places_[left - kAhead].element);
        __builtin_prefetch(places_[left - kAhead].variable);
      }
      if (places_[left].element != nullptr) visit(*places_[left].element);
    }
  }

 private:
  struct Place {
    Element* element = nullptr;  // null: it has left
    Variable* variable = nullptr;
  };

  std::vector<Place> places_;  // the earliest first
  std::size_t count_ = 0;
};

/// A resource.
struct Constraint {
  double bound = 0;
  bool shared = true;  // otherwise everybody gets the whole ("fat pipe")
  EnabledElements enabled;
  std::size_t disabled = 0;  // elements of variables without penalty
  Links<Constraint> modified;

  // during a solution
  Sequence<Element, &Element::active> active;
  double remaining = 0;
  double usage = 0;
  std::size_t candidate = 0;  // its place, or kNone
};

/// The rate of an activity.
struct Variable {
  Activity* activity = nullptr;
  double penalty = 0;  // 0: takes part in nothing
  double bound = -1;   // most; at most 0 for none
  double value = 0;
  unsigned visited = 0;
  std::vector<Element> elements;
  Links<Variable> saturated;
};

/// Finds the rates of all variables that what changed since the last time may concern.
class MaxMinSystem {
 public:
  /// Prepares a variable that will have at most `elements`.
  void start(Variable& variable, Activity* activity, double penalty, double bound, std::size_t elements);

  /// Adds an element for a resource; where the variable has one already, increases it.
  void expand(Variable& variable, Constraint& constraint, double weight);

  /// Lets a variable without penalty take part, or changes its penalty.
  void enable(Variable& variable, double penalty);

  /// Ends a variable.
  void end(Variable& variable);

  void set_bound(Variable& variable, double bound);

  /// What starting and disabling at once a variable on this resource alone does: an idle wait.
  void start_idle(Constraint& constraint);
  void end_idle(Constraint& constraint);

  /// Finds the rates; calls `changed` for each activity whose rate may have changed, in SimGrid's
  /// order, possibly several times.
  template <typename Changed>
  void solve(Changed changed) {
    if (!modified_) return;
    find_rates();
    modified_ = false;
    for (Constraint* each = modified_set_.first(); each != nullptr; each = ModifiedSet::after(each))
      each->enabled.each([&changed](const Element& element) {
        if (element.weight > 0) changed(element.variable->activity);
      });
    ++visit_;
    while (!modified_set_.empty()) modified_set_.pop_front();
  }

 private:
  using ActiveSet = Sequence<Element, &Element::active>;
  using ModifiedSet = Sequence<Constraint, &Constraint::modified>;
  using SaturatedSet = Sequence<Variable, &Variable::saturated>;

  struct Candidate {
    double remaining_over_usage;
    Constraint* constraint;
  };

  void note_modified(Constraint& constraint);
  void spread(const Constraint& constraint);
  void note_modified(const Variable& variable);
  void leave_if_unused(Constraint& constraint);
  void find_rates();
  void update_saturated(double usage, std::size_t candidate, double& least);
  void collect_saturated_variables();
  void take(Element& element);
  void update_candidate(Constraint& constraint);

  bool modified_ = false;
  unsigned visit_ = 1;
  ModifiedSet modified_set_;
  std::vector<Candidate> candidates_;
  std::size_t candidates_left_ = 0;
  std::vector<std::size_t> saturated_;
  SaturatedSet saturated_variables_;
};

}  // namespace hamtune::express
