// Executions, sleeps and messages on their way, and the model that says when each ends.
//
// The definitions are those of SimGrid 3.32's models with lazy updates (Cas01 for hosts, SMPI for the
// network), down to the order of events of the same instant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workers/simulator/express/sequence.hpp"
#include "workers/simulator/express/maxmin_system.hpp"

namespace hamtune::express {

/// Events closer than this are of the same instant, s (SimGrid's surf/precision).
inline constexpr double kInstant = 1e-9;

/// What takes simulated time.
struct Activity {
  enum class Event : std::uint8_t { none, latency_paid, end };
  static constexpr std::size_t kNoEvent = static_cast<std::size_t>(-1);

  Variable variable;
  double remains = 0;      // units of work at the last update
  double factor = 1;       // of the rate
  double last_update = 0;  // s
  double last_rate = 0;
  double penalty = 1;      // of the variable once the latency is paid
  double deadline = -1;    // of a sleep, s; negative for none
  bool started = false;
  bool finished = false;
  Event event = Event::none;
  bool changed = false;  // it is among those whose next event is to be found
  std::size_t place = kNoEvent;  // in the queue
  Links<Activity> ended;

  virtual ~Activity() = default;
  /// Called when it has ended, at the end of the instant.
  virtual void at_end() = 0;

  double rate() const { return variable.value * factor; }
};

/// Events by date; those of one date in the order in which they were set.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  double first_date() const { return heap_.front().date; }
  void set(Activity& activity, double date, Activity::Event event);
  void remove(Activity& activity);
  Activity& pop();

  /// As `set` many times, but faster: nothing else may be asked for until `sort`.
  void set_unsorted(Activity& activity, double date, Activity::Event event);
  void sort();
  std::size_t size() const { return heap_.size(); }

 private:
  struct Entry {
    double date;
    std::uint64_t order;
    Activity* activity;

    bool before(const Entry& other) const {
      return date < other.date || (date == other.date && order < other.order);
    }
  };

  void put(std::size_t place, const Entry& entry);
  void rise(std::size_t place, const Entry& entry);
  void sink(std::size_t place, const Entry& entry);

  std::vector<Entry> heap_;
  std::uint64_t next_order_ = 0;
};

/// All activities of one kind: on hosts or in the network.
class Model {
 public:
  /// With `ends_at_update`, as SimGrid's network, an activity ends as soon as it is seen to have
  /// nothing left to do, not only at its event.
  explicit Model(bool ends_at_update) : ends_at_update_(ends_at_update) {}

  MaxMinSystem system;

  /// Seconds until the next event, or a negative number for none.
  double next_event(double now);

  /// Whether `next_event` has found one: rounding may tell of one that is due as of a little while ago.
  bool has_event() const { return !queue_.empty(); }

  /// Handles the events of this instant.
  void advance_to(double now);

  /// Calls at_end of what has ended, in order.
  void handle_ended();

  void pay_latency_until(Activity& activity, double date) {
    queue_.set(activity, date, Activity::Event::latency_paid);
  }

  /// Has its next event computed before anything else.
  void change_first(Activity& activity) {
    activity.changed = true;
    changed_.insert(changed_.begin(), &activity);
  }

  /// Forgets an activity.
  void end(Activity& activity);

 private:
  using EndedSet = Sequence<Activity, &Activity::ended>;

  void update(Activity& activity, double now);
  static double end_of(const Activity& activity, double now);
  void finish(Activity& activity);

  bool ends_at_update_;
  EventQueue queue_;
  std::vector<Activity*> changed_;
  EndedSet ended_;
};

}  // namespace hamtune::express
