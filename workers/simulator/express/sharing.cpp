#include "workers/simulator/express/sharing.hpp"

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

void EnabledUses::push_front(Use& use) {
  use.place = places_.size();
  places_.push_back({&use, use.variable});
  ++count_;
}

/// Its place stays empty until there are as many empty ones as others.
void EnabledUses::erase(Use& use) {
  constexpr std::size_t kFew = 16;
  places_[use.place] = {};
  use.place = Use::kNowhere;
  --count_;
  while (!places_.empty() && places_.back().use == nullptr) places_.pop_back();
  if (places_.size() <= 2 * count_ + kFew) return;
  places_.erase(std::remove_if(places_.begin(), places_.end(),
                               [](const Place& place) { return place.use == nullptr; }),
                places_.end());
  for (std::size_t place = 0; place < places_.size(); ++place) places_[place].use->place = place;
}

void Sharing::start(Variable& variable, Activity* activity, double penalty, double bound,
                    std::size_t uses) {
  variable.activity = activity;
  variable.penalty = penalty;
  variable.bound = bound;
  variable.value = 0;
  variable.visited = visit_ - 1;
  variable.uses.clear();
  variable.uses.reserve(uses);  // uses are linked, so they must not move
}

void Sharing::use(Variable& variable, Constraint& constraint, double weight) {
  modified_ = true;
  const auto known = std::find_if(
      variable.uses.begin(), variable.uses.end(),
      [&constraint](const Use& use) { return use.constraint == &constraint; });
  if (known != variable.uses.end()) {
    known->weight = constraint.shared ? known->weight + weight : std::max(known->weight, weight);
    known->claim = known->weight / variable.penalty;
  } else {
    Use& use = variable.uses.emplace_back();
    use.constraint = &constraint;
    use.variable = &variable;
    use.weight = weight;
    use.claim = weight / variable.penalty;
    if (variable.penalty > 0)
      constraint.enabled.push_front(use);
    else
      ++constraint.disabled;
  }
  note_modified(constraint);
}

void Sharing::enable(Variable& variable, double penalty) {
  if (penalty == variable.penalty) return;
  modified_ = true;
  const bool was_disabled = variable.penalty <= 0;
  variable.penalty = penalty;
  for (Use& use : variable.uses) {
    use.claim = use.weight / penalty;
    if (!was_disabled) continue;
    --use.constraint->disabled;
    use.constraint->enabled.push_front(use);
  }
  note_modified(variable);
}

void Sharing::end(Variable& variable) {
  modified_ = true;
  note_modified(variable);
  for (Use& use : variable.uses) {
    Constraint& constraint = *use.constraint;
    if (use.place != Use::kNowhere)
      constraint.enabled.erase(use);
    else
      --constraint.disabled;
    if (ActiveSet::contains(&use)) constraint.active.erase(&use);
    leave_if_unused(constraint);
  }
  variable.uses.clear();
}

void Sharing::set_bound(Variable& variable, double bound) {
  modified_ = true;
  variable.bound = bound;
  for (const Use& use : variable.uses) note_modified(*use.constraint);
}

void Sharing::start_idle(Constraint& constraint) {
  modified_ = true;
  note_modified(constraint);
  ++constraint.disabled;
}

void Sharing::end_idle(Constraint& constraint) {
  modified_ = true;
  --constraint.disabled;
  leave_if_unused(constraint);
}

void Sharing::leave_if_unused(Constraint& constraint) {
  if (constraint.enabled.empty() && constraint.disabled == 0 &&
      ModifiedSet::contains(&constraint))
    modified_set_.erase(&constraint);
}

void Sharing::note_modified(Constraint& constraint) {
  if (ModifiedSet::contains(&constraint)) return;
  modified_set_.push_back(&constraint);
  spread(constraint);
}

/// Everything that shares with what shares this resource is to be solved anew as well.
void Sharing::spread(const Constraint& constraint) {
  constraint.enabled.each([this, &constraint](const Use& use) {
    Variable& variable = *use.variable;
    if (variable.visited == visit_) return;
    for (const Use& other : variable.uses) {
      if (variable.visited == visit_) break;
      if (other.constraint != &constraint && !ModifiedSet::contains(other.constraint)) {
        modified_set_.push_back(other.constraint);
        spread(*other.constraint);
      }
    }
    variable.visited = visit_;
  });
}

void Sharing::note_modified(const Variable& variable) {
  if (!variable.uses.empty() && variable.penalty > 0)
    note_modified(*variable.uses.front().constraint);
}

void Sharing::update_saturated(double usage, std::size_t candidate, double& least) {
  if (least < 0 || least > usage) {
    least = usage;
    saturated_.assign(1, candidate);
  } else if (least == usage) {
    saturated_.push_back(candidate);
  }
}

void Sharing::collect_saturated_variables() {
  for (const std::size_t candidate : saturated_) {
    const Constraint& constraint = *candidates_[candidate].constraint;
    for (Use* use = constraint.active.first(); use != nullptr; use = ActiveSet::after(use))
      if (use->weight > 0 && !SaturatedSet::contains(use->variable))
        saturated_variables_.push_back(use->variable);
  }
}

/// After what is left of a resource has changed.
void Sharing::update_candidate(Constraint& constraint) {
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

/// The variable of this use has its value now.
void Sharing::take(Use& use) {
  Constraint& constraint = *use.constraint;
  if (ActiveSet::contains(&use)) constraint.active.erase(&use);
  if (constraint.shared) {
    subtract(constraint.remaining, use.weight * use.variable->value,
             constraint.bound * kPrecision);
    subtract(constraint.usage, use.claim, kPrecision);
  } else {
    constraint.usage = 0;
    constraint.enabled.each([&constraint](const Use& other) {
      if (!(other.variable->value > 0) && other.weight > 0)
        constraint.usage = std::max(constraint.usage, other.claim);
    });
  }
  update_candidate(constraint);
}

void Sharing::find_rates() {
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
    constraint.enabled.each([&constraint](Use& use) {
      use.variable->value = 0;
      if (!(use.weight > 0)) return;
      if (constraint.shared)
        constraint.usage += use.claim;
      else if (constraint.usage < use.claim)
        constraint.usage = use.claim;
      if (!ActiveSet::contains(&use)) constraint.active.push_front(&use);
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
      for (Use& use : variable.uses) take(use);
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
