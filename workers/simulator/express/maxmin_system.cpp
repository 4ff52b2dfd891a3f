#include "workers/simulator/express/maxmin_system.hpp"

#include <algorithm>
#include <cmath>

namespace hamtune::express {

namespace {

constexpr double kPrecision = 1e-5;  // SimGrid's maxmin/precision
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Subtracts; what is left below `least` is nothing.
void subtract(double& value, double amount, double least) {
  value -= amount;
  if (value < least) value = 0;
}

}  // namespace

void EnabledElements::push_front(Element& element) {
  element.place = places_.size();
  places_.push_back({&element, element.variable});
  ++count_;
}

/// Its place stays empty until there are as many empty ones as others.
void EnabledElements::erase(Element& element) {
  constexpr std::size_t kFew = 16;
  places_[element.place] = {};
  element.place = Element::kNowhere;
  --count_;
  while (!places_.empty() && places_.back().element == nullptr) places_.pop_back();
  if (places_.size() <= 2 * count_ + kFew) return;
  places_.erase(std::remove_if(places_.begin(), places_.end(),
                               [](const Place& place) { return place.element == nullptr; }),
                places_.end());
  for (std::size_t place = 0; place < places_.size(); ++place) places_[place].element->place = place;
}

void MaxMinSystem::start(Variable& variable, Activity* activity, double penalty, double bound,
                         std::size_t elements) {
  variable.activity = activity;
  variable.penalty = penalty;
  variable.bound = bound;
  variable.value = 0;
  variable.visited = visit_ - 1;
  variable.elements.clear();
  variable.elements.reserve(elements);  // elements are linked, so they must not move
}

void MaxMinSystem::expand(Variable& variable, Constraint& constraint, double weight) {
  modified_ = true;
  const auto known =
      std::find_if(variable.elements.begin(), variable.elements.end(),
                   [&constraint](const Element& element) { return element.constraint == &constraint; });
  if (known != variable.elements.end()) {
    known->weight = constraint.shared ? known->weight + weight : std::max(known->weight, weight);
    known->claim = known->weight / variable.penalty;
  } else {
    Element& element = variable.elements.emplace_back();
    element.constraint = &constraint;
    element.variable = &variable;
    element.weight = weight;
    element.claim = weight / variable.penalty;
    if (variable.penalty > 0)
      constraint.enabled.push_front(element);
    else
      ++constraint.disabled;
  }
  note_modified(constraint);
}

void MaxMinSystem::enable(Variable& variable, double penalty) {
  if (penalty == variable.penalty) return;
  modified_ = true;
  const bool was_disabled = variable.penalty <= 0;
  variable.penalty = penalty;
  for (Element& element : variable.elements) {
    element.claim = element.weight / penalty;
    if (!was_disabled) continue;
    --element.constraint->disabled;
    element.constraint->enabled.push_front(element);
  }
  note_modified(variable);
}

void MaxMinSystem::end(Variable& variable) {
  modified_ = true;
  note_modified(variable);
  for (Element& element : variable.elements) {
    Constraint& constraint = *element.constraint;
    if (element.place != Element::kNowhere)
      constraint.enabled.erase(element);
    else
      --constraint.disabled;
    if (ActiveSet::contains(&element)) constraint.active.erase(&element);
    leave_if_unused(constraint);
  }
  variable.elements.clear();
}

void MaxMinSystem::set_bound(Variable& variable, double bound) {
  modified_ = true;
  variable.bound = bound;
  for (const Element& element : variable.elements) note_modified(*element.constraint);
}

void MaxMinSystem::start_idle(Constraint& constraint) {
  modified_ = true;
  note_modified(constraint);
  ++constraint.disabled;
}

void MaxMinSystem::end_idle(Constraint& constraint) {
  modified_ = true;
  --constraint.disabled;
  leave_if_unused(constraint);
}

void MaxMinSystem::leave_if_unused(Constraint& constraint) {
  if (constraint.enabled.empty() && constraint.disabled == 0 &&
      ModifiedSet::contains(&constraint))
    modified_set_.erase(&constraint);
}

void MaxMinSystem::note_modified(Constraint& constraint) {
  if (ModifiedSet::contains(&constraint)) return;
  modified_set_.push_back(&constraint);
  spread(constraint);
}

/// Everything that shares with what shares this resource is to be solved anew as well.
void MaxMinSystem::spread(const Constraint& constraint) {
  constraint.enabled.each([this, &constraint](const Element& element) {
    Variable& variable = *element.variable;
    if (variable.visited == visit_) return;
    for (const Element& other : variable.elements) {
      if (variable.visited == visit_) break;
      if (other.constraint != &constraint && !ModifiedSet::contains(other.constraint)) {
        modified_set_.push_back(other.constraint);
        spread(*other.constraint);
      }
    }
    variable.visited = visit_;
  });
}

void MaxMinSystem::note_modified(const Variable& variable) {
  if (!variable.elements.empty() && variable.penalty > 0)
    note_modified(*variable.elements.front().constraint);
}

void MaxMinSystem::update_saturated(double usage, std::size_t candidate, double& least) {
  if (least < 0 || least > usage) {
    least = usage;
    saturated_.assign(1, candidate);
  } else if (least == usage) {
    saturated_.push_back(candidate);
  }
}

void MaxMinSystem::collect_saturated_variables() {
  for (const std::size_t candidate : saturated_) {
    const Constraint& constraint = *candidates_[candidate].constraint;
    for (Element* element = constraint.active.first(); element != nullptr;
         element = ActiveSet::after(element))
      if (element->weight > 0 && !SaturatedSet::contains(element->variable))
        saturated_variables_.push_back(element->variable);
  }
}

/// After what is left of a resource has changed.
void MaxMinSystem::update_candidate(Constraint& constraint) {
  if (constraint.candidate == kNone) return;
  // What rounding leaves of the usage of many may exceed the precision; SimGrid gives up on that.
  if (constraint.active.empty() || !(constraint.usage > kPrecision) ||
      !(constraint.remaining > constraint.bound * kPrecision)) {
    --candidates_left_;
    Candidate& place = candidates_[constraint.candidate];
    place = candidates_[candidates_left_];
    place.constraint->candidate = constraint.candidate;
    constraint.candidate = kNone;
  } else {
    candidates_[constraint.candidate].remaining_over_usage =
        constraint.remaining / constraint.usage;
  }
}

/// The variable of this element has its value now.
void MaxMinSystem::take(Element& element) {
  Constraint& constraint = *element.constraint;
  if (ActiveSet::contains(&element)) constraint.active.erase(&element);
  if (constraint.shared) {
    subtract(constraint.remaining, element.weight * element.variable->value, constraint.bound * kPrecision);
    subtract(constraint.usage, element.claim, kPrecision);
  } else {
    constraint.usage = 0;
    constraint.enabled.each([&constraint](const Element& other) {
      if (!(other.variable->value > 0) && other.weight > 0)
        constraint.usage = std::max(constraint.usage, other.claim);
    });
  }
  update_candidate(constraint);
}

void MaxMinSystem::find_rates() {
  double least_usage = -1;
  double least_bound = -1;
  candidates_.clear();
  saturated_.clear();
  for (Constraint* each = modified_set_.first(); each != nullptr; each = ModifiedSet::after(each)) {
    Constraint& constraint = *each;
    constraint.remaining = constraint.bound;
    constraint.candidate = kNone;
    if (!(constraint.remaining > constraint.bound * kPrecision)) continue;
    constraint.usage = 0;
    constraint.enabled.each([&constraint](Element& element) {
      element.variable->value = 0;
      if (!(element.weight > 0)) return;
      if (constraint.shared)
        constraint.usage += element.claim;
      else if (constraint.usage < element.claim)
        constraint.usage = element.claim;
      if (!ActiveSet::contains(&element)) constraint.active.push_front(&element);
    });
    if (constraint.usage > 0) {
      constraint.candidate = candidates_.size();
      candidates_.push_back({constraint.remaining / constraint.usage, each});
      update_saturated(candidates_.back().remaining_over_usage, constraint.candidate, least_usage);
    }
  }
  candidates_left_ = candidates_.size();
  collect_saturated_variables();

  do {
    // Variables that reach their own bound first go first.
    for (const Variable* variable = saturated_variables_.first(); variable != nullptr;
         variable = SaturatedSet::after(variable)) {
      const double bound = variable->bound * variable->penalty;
      if (variable->bound > 0 && bound < least_usage)
        least_bound = least_bound < 0 ? bound : std::min(least_bound, bound);
    }
    while (!saturated_variables_.empty()) {
      Variable& variable = *saturated_variables_.pop_front();
      if (least_bound < 0)
        variable.value = least_usage / variable.penalty;
      else if (std::fabs(least_bound - variable.bound * variable.penalty) < kPrecision)
        variable.value = variable.bound;
      else
        continue;  // until a later turn
      for (Element& element : variable.elements) take(element);
    }
    least_usage = -1;
    least_bound = -1;
    saturated_.clear();
    for (std::size_t candidate = 0; candidate < candidates_left_; ++candidate)
      update_saturated(candidates_[candidate].remaining_over_usage, candidate, least_usage);
    collect_saturated_variables();
  } while (candidates_left_ > 0);
}

}  // namespace hamtune::express
