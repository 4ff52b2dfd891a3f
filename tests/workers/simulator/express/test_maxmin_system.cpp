// Rates of activities, held against the conditions of max-min fairness (Bertsekas and Gallager, "Data
// Networks", 1992, section 6.5.2): what a rate is limited by is full, and nobody gets more of it.
#include "workers/simulator/express/maxmin_system.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "tests/native.hpp"
#include "workers/simulator/express/activity.hpp"

namespace hamtune::express {
namespace {

struct Quiet : Activity {
  void at_end() override {}
};

constexpr double kClose = 1e-4;  // the solver's precision is 1e-5 of a bound

/// Activities on resources, of which those that are there are to be shared.
class Network {
 public:
  explicit Network(const std::vector<double>& bounds, std::vector<bool> shared = {})
      : constraints_(bounds.size()) {
    for (std::size_t at = 0; at < bounds.size(); ++at) {
      constraints_[at].bound = bounds[at];
      constraints_[at].shared = shared.empty() || shared[at];
    }
  }

  Activity& start(double penalty, double bound, const std::vector<std::pair<std::size_t, double>>& uses) {
    Activity& activity = activities_.emplace_back();
    system.start(activity.variable, &activity, penalty, bound, uses.size());
    for (const auto& [at, weight] : uses) system.expand(activity.variable, constraints_[at], weight);
    return activity;
  }

  void solve() {
    system.solve([](Activity*) {});
  }

  /// Whether the rates of all that take part are those of max-min fairness.
  void check() {
    for (const Constraint& constraint : constraints_)
      CHECK(load(constraint) <= constraint.bound * (1 + kClose));
    for (const Quiet& activity : activities_) {
      const Variable& variable = activity.variable;
      if (variable.elements.empty() || variable.penalty <= 0) continue;
      CHECK(variable.value > 0);
      if (variable.bound > 0) CHECK(variable.value <= variable.bound * (1 + kClose));
      CHECK((is_at_bound(variable) || has_bottleneck(variable)));
    }
  }

  MaxMinSystem system;

 private:
  double load(const Constraint& constraint) const {
    double load = 0;
    for (const Quiet& activity : activities_)
      for (const Element& element : activity.variable.elements) {
        if (element.constraint != &constraint || activity.variable.penalty <= 0) continue;
        const double part = element.weight * activity.variable.value;
        load = constraint.shared ? load + part : std::max(load, part);
      }
    return load;
  }

  static bool is_at_bound(const Variable& variable) {
    return variable.bound > 0 && variable.value >= variable.bound * (1 - kClose);
  }

  /// A full resource on which nobody has more for its penalty.
  bool has_bottleneck(const Variable& variable) const {
    return std::any_of(variable.elements.begin(), variable.elements.end(), [&](const Element& element) {
      const Constraint& constraint = *element.constraint;
      if (load(constraint) < constraint.bound * (1 - kClose)) return false;
      return std::none_of(activities_.begin(), activities_.end(), [&](const Quiet& other) {
        return std::any_of(other.variable.elements.begin(), other.variable.elements.end(),
                           [&](const Element& its) {
                             return its.constraint == &constraint && other.variable.penalty > 0 &&
                                    other.variable.value * other.variable.penalty >
                                        variable.value * variable.penalty * (1 + kClose);
                           });
      });
    });
  }

  std::vector<Constraint> constraints_;
  std::deque<Quiet> activities_;
};

TEST_CASE("three flows over two cables: the textbook's example") {
  // One crosses both, the others one each; the narrow cable halves, the wide one gives the rest.
  Network network({10, 30});
  const Activity& both = network.start(1, -1, {{0, 1}, {1, 1}});
  const Activity& narrow = network.start(1, -1, {{0, 1}});
  const Activity& wide = network.start(1, -1, {{1, 1}});
  network.solve();
  CHECK(both.variable.value == 5);
  CHECK(narrow.variable.value == 5);
  CHECK(wide.variable.value == 25);
}

TEST_CASE("penalties divide, bounds hold, and fat pipes give everybody the whole") {
  Network network({12, 7}, {true, false});
  const Activity& light = network.start(1, -1, {{0, 1}});
  const Activity& heavy = network.start(2, -1, {{0, 1}});
  network.solve();
  CHECK(light.variable.value == doctest::Approx(8));
  CHECK(heavy.variable.value == doctest::Approx(4));
  const Activity& bounded = network.start(1, 0.5, {{0, 1}});
  const Activity& one = network.start(1, -1, {{1, 1}});
  const Activity& other = network.start(1, -1, {{1, 1}});
  network.solve();
  CHECK(bounded.variable.value == 0.5);
  CHECK(light.variable.value == doctest::Approx(2 * 11.5 / 3));
  CHECK(one.variable.value == 7);
  CHECK(other.variable.value == 7);
}

TEST_CASE("a resource used twice counts twice, a fat pipe once") {
  Network network({10, 10}, {true, false});
  const Activity& twice = network.start(1, -1, {{0, 1}, {0, 1}});
  const Activity& fat = network.start(1, -1, {{1, 1}, {1, 0.5}});
  network.solve();
  CHECK(twice.variable.value == 5);
  CHECK(twice.variable.elements.size() == 1);
  CHECK(fat.variable.value == 10);
}

TEST_CASE("only what shares with something changed is solved anew, and told") {
  Network network({10, 10});
  Activity& here = network.start(1, -1, {{0, 1}});
  const Activity& there = network.start(1, -1, {{1, 1}});
  network.solve();
  network.start(1, -1, {{0, 1}});
  std::vector<const Activity*> told;
  network.system.solve([&](Activity* activity) { told.push_back(activity); });
  CHECK(std::count(told.begin(), told.end(), &here) == 1);
  CHECK(std::count(told.begin(), told.end(), &there) == 0);
  CHECK(here.variable.value == 5);
  CHECK(there.variable.value == 10);
  told.clear();
  network.system.solve([&](Activity* activity) { told.push_back(activity); });
  CHECK(told.empty());
}

TEST_CASE("what has a change in common with others is told, however many resources lie between") {
  // Two chains: each activity shares a resource with the next one of its chain.
  constexpr std::size_t kLength = 20;
  Network network(std::vector<double>(2 * kLength + 2, 10));
  std::vector<const Activity*> one;
  for (std::size_t at = 0; at < kLength; ++at) {
    one.push_back(&network.start(1, -1, {{at, 1}, {at + 1, 1}}));
    network.start(1, -1, {{kLength + 1 + at, 1}, {kLength + 2 + at, 1}});
  }
  network.solve();
  const Activity& waiting = network.start(0, -1, {{0, 1}});  // takes part in nothing yet
  std::vector<const Activity*> told;
  network.system.solve([&](Activity* activity) { told.push_back(activity); });
  std::sort(told.begin(), told.end());
  std::sort(one.begin(), one.end());
  CHECK(told == one);
  CHECK(waiting.variable.value == 0);
}

TEST_CASE("rates are max-min fair however activities come, change and go") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::uint32_t resources = 1 + random.below(10);
    std::vector<double> bounds;
    std::vector<bool> shared;
    for (std::uint32_t at = 0; at < resources; ++at) {
      bounds.push_back(1 + 100 * random.unit());
      shared.push_back(random.below(5) != 0);
    }
    Network network(bounds, shared);
    std::vector<Activity*> running;
    for (int step = 0; step < 80; ++step) {
      const std::uint32_t chance = random.below(10);
      if (running.empty() || chance < 5) {
        std::vector<std::pair<std::size_t, double>> elements;
        for (std::uint32_t each = 0; each <= random.below(4); ++each) {
          const std::size_t at = random.below(resources);
          if (std::none_of(elements.begin(), elements.end(),
                           [at](const auto& element) { return element.first == at; }))
            elements.emplace_back(at, random.below(3) == 0 ? 0.05 : 1.0);
        }
        const double penalty = random.below(4) == 0 ? 0 : 0.5 + random.unit();
        running.push_back(
            &network.start(penalty, random.below(3) == 0 ? 1 + 20 * random.unit() : -1, elements));
      } else {
        const std::size_t at = random.below(static_cast<std::uint32_t>(running.size()));
        Activity& activity = *running[at];
        if (chance < 7) {
          network.system.end(activity.variable);
          running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
          // Another one may come before rates are found, with the number that has become free.
          if (random.below(2) == 0)
            running.push_back(&network.start(1, -1, {{random.below(resources), 1}}));
        } else if (chance < 9) {
          network.system.enable(activity.variable, 0.5 + random.unit());
        } else {
          network.system.set_bound(activity.variable, 1 + 20 * random.unit());
        }
      }
      network.solve();
      network.check();
    }
  }
}

TEST_CASE("a variable that changes is told once, whatever it takes of how many resources") {
  Network network({10, 10, 10});
  const Activity& wide = network.start(1, -1, {{0, 1}, {1, 1}, {2, 1}});
  network.start(1, -1, {{1, 1}});
  std::vector<const Activity*> told;
  network.system.solve([&](Activity* activity) { told.push_back(activity); });
  CHECK(told.size() == 2);
  CHECK(std::count(told.begin(), told.end(), &wide) == 1);
}

TEST_CASE("elements are visited the latest first or the earliest first, also after most have left") {
  std::deque<Element> elements(100);
  EnabledElements enabled;
  for (std::uint32_t number = 0; number < 100; ++number) {
    elements[number].claim = number / 2.0;
    enabled.push_back(elements[number], number);
  }
  for (std::size_t at = 0; at < 100; ++at)
    if (at % 10 != 3) enabled.erase(elements[at]);
  elements[43].claim = 7;
  enabled.update(elements[43]);
  CHECK(enabled.count() == 10);
  std::vector<std::uint32_t> latest_first;
  enabled.each_latest_first([&](std::uint32_t variable, double claim) {
    latest_first.push_back(variable);
    CHECK(claim == (variable == 43 ? 7 : variable / 2.0));
  });
  CHECK(latest_first == std::vector<std::uint32_t>{93, 83, 73, 63, 53, 43, 33, 23, 13, 3});
  std::vector<std::uint32_t> earliest_first;
  enabled.each_earliest_first([&](std::uint32_t variable) { earliest_first.push_back(variable); });
  CHECK(earliest_first == std::vector<std::uint32_t>(latest_first.rbegin(), latest_first.rend()));
  for (std::size_t at = 3; at < 100; at += 10) enabled.erase(elements[at]);
  CHECK(enabled.empty());
}

}  // namespace
}  // namespace hamtune::express
