#include "workers/simulator/express/maxmin_system.hpp"

#include <algorithm>
#include <cmath>

namespace hamtune::express {

namespace {

constexpr double kPrecision = 1e-5;  // SimGrid's maxmin/precision

/// Subtracts; what is left below `least` is nothing.
void subtract(double& value, double amount, double least) {
  value -= amount;
  if (value < least) value = 0;
}

}  // namespace

void EnabledElements::push_back(Element& element, std::uint32_t variable) {
  element.place = static_cast<std::uint32_t>(elements_.size());
  variables_.push_back(variable);
  claims_.push_back(element.claim);
  elements_.push_back(&element);
  ++count_;
}

/// Its place stays empty until there are half as many empty ones as others.
void EnabledElements::erase(Element& element) {
  constexpr std::size_t kFew = 4;
  variables_[element.place] = kNobody;
  element.place = Element::kNowhere;
  --count_;
  if (elements_.size() > count_ + count_ / 2 + kFew) close_gaps();
}

void EnabledElements::close_gaps() {
  std::uint32_t kept = 0;
  for (std::size_t place = 0; place < elements_.size(); ++place) {
    if (variables_[place] == kNobody) continue;
    elements_[place]->place = kept;
    variables_[kept] = variables_[place];
    claims_[kept] = claims_[place];
    elements_[kept] = elements_[place];
    ++kept;
  }
  variables_.resize(kept);
  claims_.resize(kept);
  elements_.resize(kept);
}

/// Of a variable that starts: those of variables that ended first, so that rows by number stay short.
std::uint32_t MaxMinSystem::number() {
  if (free_numbers_.empty()) {
    variables_.emplace_back();
    values_.emplace_back();
    visited_.emplace_back();
    told_.emplace_back();
    saturates_.emplace_back();
    return static_cast<std::uint32_t>(variables_.size() - 1);
  }
  const std::uint32_t number = free_numbers_.back();
  free_numbers_.pop_back();
  return number;
}

void MaxMinSystem::start(Variable& variable, Activity* activity, double penalty, double bound,
                         std::size_t elements) {
  variable.activity = activity;
  variable.penalty = penalty;
  variable.bound = bound;
  variable.value = 0;
  variable.number = number();
  variables_[variable.number] = &variable;
  values_[variable.number] = 0;
  visited_[variable.number] = visit_ - 1;
  told_[variable.number] = visit_ - 1;
  variable.elements.clear();
  variable.elements.reserve(elements);  // resources know their elements, so they must not move
}

void MaxMinSystem::add(Element& element, std::uint32_t variable) {
  Constraint& constraint = *element.constraint;
  if (constraint.enabled.empty() && !ModifiedSet::contains(&constraint)) ++not_modified_;
  constraint.enabled.push_back(element, variable);
}

void MaxMinSystem::remove(Element& element) {
  Constraint& constraint = *element.constraint;
  constraint.enabled.erase(element);
  if (constraint.enabled.empty() && !ModifiedSet::contains(&constraint)) --not_modified_;
}

void MaxMinSystem::modify(Constraint& constraint) {
  if (!constraint.enabled.empty()) --not_modified_;
  modified_set_.push_back(&constraint);
}

void MaxMinSystem::forget_modified() {
  while (!modified_set_.empty())
    if (!modified_set_.pop_front()->enabled.empty()) ++not_modified_;
}

void MaxMinSystem::expand(Variable& variable, Constraint& constraint, double weight) {
  modified_ = true;
  const auto known =
      std::find_if(variable.elements.begin(), variable.elements.end(),
                   [&constraint](const Element& element) { return element.constraint == &constraint; });
  if (known != variable.elements.end()) {
    known->weight = constraint.shared ? known->weight + weight : std::max(known->weight, weight);
    known->claim = known->weight / variable.penalty;
    if (known->place != Element::kNowhere) constraint.enabled.update(*known);
  } else {
    Element& element = variable.elements.emplace_back();
    element.constraint = &constraint;
    element.weight = weight;
    element.claim = weight / variable.penalty;
    if (variable.penalty > 0) {
      if (variable.elements.size() == 1) ++taking_part_;
      add(element, variable.number);
    } else {
      ++constraint.disabled;
    }
  }
  note_modified(constraint);
}

void MaxMinSystem::enable(Variable& variable, double penalty) {
  if (penalty == variable.penalty) return;
  modified_ = true;
  const bool was_disabled = variable.penalty <= 0;
  variable.penalty = penalty;
  if (was_disabled && !variable.elements.empty()) ++taking_part_;
  for (Element& element : variable.elements) {
    element.claim = element.weight / penalty;
    if (was_disabled) {
      --element.constraint->disabled;
      add(element, variable.number);
    } else {
      element.constraint->enabled.update(element);
    }
  }
  note_modified(variable);
}

void MaxMinSystem::end(Variable& variable) {
  modified_ = true;
  note_modified(variable);
  if (!variable.elements.empty() && variable.penalty > 0) --taking_part_;
  for (Element& element : variable.elements) {
    Constraint& constraint = *element.constraint;
    if (element.place != Element::kNowhere)
      remove(element);
    else
      --constraint.disabled;
    leave_if_unused(constraint);
  }
  variable.elements.clear();
  free_numbers_.push_back(variable.number);
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
  modify(constraint);
  spread(constraint);
}

/// Everything that shares with what shares this resource is to be solved anew as well. Where all that is
/// shared is to be already, there is nothing left to look for: on a busy network that is soon so.
void MaxMinSystem::spread(const Constraint& constraint) {
  constraint.enabled.latest_first_until([this, &constraint](std::uint32_t number) {
    if (not_modified_ == 0) return true;
    if (visited_[number] == visit_) return false;
    for (const Element& other : variables_[number]->elements) {
      if (visited_[number] == visit_) break;
      if (other.constraint != &constraint && !ModifiedSet::contains(other.constraint)) {
        modify(*other.constraint);
        spread(*other.constraint);
      }
    }
    visited_[number] = visit_;
    return false;
  });
}

void MaxMinSystem::note_modified(const Variable& variable) {
  if (!variable.elements.empty() && variable.penalty > 0)
    note_modified(*variable.elements.front().constraint);
}

void MaxMinSystem::collect_saturated_variables() {
  for (const std::uint32_t candidate : saturated_)
    candidates_[candidate].constraint->enabled.each_earliest_first([this](std::uint32_t number) {
      if (values_[number] != 0 || saturates_[number]) return;
      saturates_[number] = true;
      saturated_variables_.push_back(number);
      __builtin_prefetch(variables_[number]);
    });
}

/// After something of a resource has been taken.
void MaxMinSystem::update_candidate(Constraint& constraint) {
  // What rounding leaves of the usage of many may exceed the precision; SimGrid gives up on that.
  if (constraint.active == 0 || !(constraint.usage > kPrecision) ||
      !(constraint.remaining > constraint.bound * kPrecision)) {
    --candidates_left_;
    Candidate& place = candidates_[constraint.candidate];
    place = candidates_[candidates_left_];
    place.constraint->candidate = constraint.candidate;
    constraint.candidate = Constraint::kNone;
  } else {
    candidates_[constraint.candidate].remaining_over_usage = -1;
  }
}

/// The variable of this element has its value now. What is left of resources that are no candidates (any
/// more) does not matter.
void MaxMinSystem::take(const Element& element, double value) {
  Constraint& constraint = *element.constraint;
  if (constraint.candidate == Constraint::kNone) return;
  --constraint.active;
  if (constraint.shared) {
    subtract(constraint.remaining, element.weight * value, constraint.bound * kPrecision);
    subtract(constraint.usage, element.claim, kPrecision);
  } else {
    constraint.usage = 0;
    constraint.enabled.each_latest_first([this, &constraint](std::uint32_t other, double claim) {
      if (!(values_[other] > 0)) constraint.usage = std::max(constraint.usage, claim);
    });
  }
  update_candidate(constraint);
}

/// False if the variable has to wait for a later turn.
bool MaxMinSystem::set_value(const Variable& variable, double least_usage, double least_bound) {
  double& value = values_[variable.number];
  if (least_bound < 0)
    value = least_usage / variable.penalty;
  else if (std::fabs(least_bound - variable.bound * variable.penalty) < kPrecision)
    value = variable.bound;
  else
    return false;
  return true;
}

/// The most that each resource could give, from the beginning.
void MaxMinSystem::find_candidates() {
  candidates_.clear();
  for (Constraint* each = modified_set_.first(); each != nullptr; each = ModifiedSet::after(each)) {
    Constraint& constraint = *each;
    constraint.remaining = constraint.bound;
    constraint.candidate = Constraint::kNone;
    if (!(constraint.remaining > constraint.bound * kPrecision)) continue;
    double usage = 0;
    const bool shared = constraint.shared;
    constraint.enabled.each_latest_first([this, &usage, shared](std::uint32_t number, double claim) {
      values_[number] = 0;
      usage = shared ? usage + claim : std::max(usage, claim);
    });
    constraint.usage = usage;
    constraint.active = constraint.enabled.count();
    if (usage > 0) {
      constraint.candidate = static_cast<std::uint32_t>(candidates_.size());
      candidates_.push_back({constraint.remaining / usage, each});
    }
  }
  candidates_left_ = static_cast<std::uint32_t>(candidates_.size());
}

/// The resources that are full first, and what their users then get for a penalty of 1.
double MaxMinSystem::find_saturated() {
  double least = -1;
  saturated_.clear();
  for (std::uint32_t place = 0; place < candidates_left_; ++place) {
    Candidate& candidate = candidates_[place];
    double& ratio = candidate.remaining_over_usage;
    if (ratio < 0) ratio = candidate.constraint->remaining / candidate.constraint->usage;
    if (least < 0 || least > ratio) {
      least = ratio;
      saturated_.assign(1, place);
    } else if (least == ratio) {
      saturated_.push_back(place);
    }
  }
  return least;
}

void MaxMinSystem::find_rates() {
  find_candidates();
  do {
    const double least_usage = find_saturated();
    collect_saturated_variables();
    // Variables that reach their own bound first go first.
    double least_bound = -1;
    for (const std::uint32_t number : saturated_variables_) {
      const Variable& variable = *variables_[number];
      __builtin_prefetch(variable.elements.data());
      const double bound = variable.bound * variable.penalty;
      if (variable.bound > 0 && bound < least_usage)
        least_bound = least_bound < 0 ? bound : std::min(least_bound, bound);
    }
    for (const std::uint32_t number : saturated_variables_) {
      const Variable& variable = *variables_[number];
      saturates_[number] = false;
      if (!set_value(variable, least_usage, least_bound)) continue;
      for (const Element& element : variable.elements) take(element, values_[number]);
    }
    saturated_variables_.clear();
  } while (candidates_left_ > 0);
}

}  // namespace hamtune::express
