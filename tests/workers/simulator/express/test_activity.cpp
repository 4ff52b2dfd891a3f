// Events in the order of their dates, and activities that end when they should.
#include "workers/simulator/express/activity.hpp"

#include <deque>
#include <map>

#include "tests/native.hpp"

namespace hamtune::express {
namespace {

struct Counting : Activity {
  int ends = 0;
  void at_end() override { ++ends; }
};

TEST_CASE("events come by date, those of one date in the order in which they were set") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    EventQueue queue;
    std::deque<Counting> activities(60);
    std::multimap<double, Activity*> model;  // keeps the order of insertion of one date
    const auto forget = [&](const Activity* activity) {
      for (auto at = model.begin(); at != model.end(); ++at)
        if (at->second == activity) return model.erase(at);
      return model.end();
    };
    for (int step = 0; step < 500; ++step) {
      Activity& activity = activities[random.below(60)];
      const std::uint32_t chance = random.below(8);
      if (chance < 3) {
        const double date = random.below(20);
        queue.set(activity, date, Activity::Event::end);
        forget(&activity);
        model.emplace(date, &activity);
      } else if (chance == 3) {
        for (std::uint32_t each = random.below(30); each > 0; --each) {
          Activity& one = activities[random.below(60)];
          const double date = random.below(20);
          queue.set_unsorted(one, date, Activity::Event::end);
          forget(&one);
          model.emplace(date, &one);
        }
        queue.sort();
      } else if (chance < 6) {
        queue.remove(activity);
        forget(&activity);
      } else if (!queue.empty()) {
        REQUIRE(queue.first_date() == model.begin()->first);
        Activity& first = queue.pop();
        REQUIRE(&first == model.begin()->second);
        CHECK(first.event == Activity::Event::end);
        CHECK(first.place == Activity::kNoEvent);
        model.erase(model.begin());
      }
      REQUIRE(queue.empty() == model.empty());
    }
  }
}

/// Has a model run until nothing happens any more; returns when each activity ended.
std::map<Activity*, double> run(Model& model, std::deque<Counting>& activities) {
  std::map<Activity*, double> ended;
  double now = 0;
  for (;;) {
    const double wait = model.next_event(now);
    if (wait < 0) return ended;
    now += wait;
    model.advance_to(now);
    model.handle_ended();
    for (Counting& activity : activities)
      if (activity.ends > 0 && ended.emplace(&activity, now).second) model.end(activity);
  }
}

void start(Model& model, Counting& activity, Constraint& constraint, double work) {
  model.system.start(activity.variable, &activity, 1, -1, 1);
  model.system.expand(activity.variable, constraint, 1);
  activity.remains = work;
  activity.started = true;
}

TEST_CASE("three activities on one resource: who has less leaves its share to the others") {
  Model model(false);
  Constraint host;
  host.bound = 6;
  std::deque<Counting> activities(3);
  start(model, activities[0], host, 2);
  start(model, activities[1], host, 6);
  start(model, activities[2], host, 10);
  const auto ended = run(model, activities);
  // Two a second each until 1 s, then three a second until 1 + 4/3 s, then six a second.
  CHECK(ended.at(&activities[0]) == doctest::Approx(1));
  CHECK(ended.at(&activities[1]) == doctest::Approx(1 + 4.0 / 3));
  CHECK(ended.at(&activities[2]) == doctest::Approx(3));
  for (const Counting& activity : activities) CHECK(activity.ends == 1);
}

TEST_CASE("a message takes part only once its latency is paid") {
  Model model(true);
  Constraint cable;
  cable.bound = 10;
  std::deque<Counting> activities(2);
  start(model, activities[0], cable, 30);
  Counting& late = activities[1];
  model.system.start(late.variable, &late, 0, -1, 1);
  model.system.expand(late.variable, cable, 1);
  late.remains = 10;
  late.started = true;
  model.pay_latency_until(late, 2);
  const auto ended = run(model, activities);
  // Alone until 2 s; then both have 5 a second and 10 left.
  CHECK(ended.at(&activities[0]) == doctest::Approx(4));
  CHECK(ended.at(&late) == doctest::Approx(4));
}

TEST_CASE("a sleep ends at its deadline, whatever it would have done") {
  Model model(false);
  Constraint host;
  host.bound = 1;
  std::deque<Counting> activities(1);
  start(model, activities[0], host, 100);
  activities[0].deadline = 2.5;
  CHECK(run(model, activities).at(&activities[0]) == 2.5);
}

TEST_CASE("what gets nothing of its resources is an error, not a wait without end") {
  Model model(false);
  Constraint host;
  host.bound = 0;
  std::deque<Counting> activities(1);
  start(model, activities[0], host, 1);
  CHECK_THROWS_AS(model.next_event(0), std::logic_error);
}

TEST_CASE("work is conserved: whatever comes when, a busy resource does its bound a second") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    Model model(seed % 2 == 0);
    Constraint host;
    host.bound = 1 + 9 * random.unit();
    std::deque<Counting> activities(1 + random.below(20));
    double work = 0;
    for (Counting& activity : activities) {
      const double mine = 1 + 100 * random.unit();
      start(model, activity, host, mine);
      work += mine;
    }
    double last = 0;
    for (const auto& [activity, date] : run(model, activities)) last = std::max(last, date);
    CHECK(last == doctest::Approx(work / host.bound));
  }
}

}  // namespace
}  // namespace hamtune::express
