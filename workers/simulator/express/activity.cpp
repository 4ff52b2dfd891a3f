#include "workers/simulator/express/activity.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace hamtune::express {

namespace {

constexpr std::size_t kChildren = 4;  // of each place of the heap
constexpr double kLeastWork = 1e-5 * kInstant;  // less is nothing

}  // namespace

void EventQueue::put(std::size_t place, const Entry& entry) {
  heap_[place] = entry;
  entry.activity->place = place;
}

void EventQueue::rise(std::size_t place, const Entry& entry) {
  while (place > 0) {
    const std::size_t parent = (place - 1) / kChildren;
    if (!entry.before(heap_[parent])) break;
    put(place, heap_[parent]);
    place = parent;
  }
  put(place, entry);
}

void EventQueue::sink(std::size_t place, const Entry& entry) {
  for (;;) {
    const std::size_t first = kChildren * place + 1;
    if (first >= heap_.size()) break;
    std::size_t least = first;
    for (std::size_t child = first + 1; child < first + kChildren && child < heap_.size(); ++child)
      if (heap_[child].before(heap_[least])) least = child;
    if (!heap_[least].before(entry)) break;
    put(place, heap_[least]);
    place = least;
  }
  put(place, entry);
}

void EventQueue::set(Activity& activity, double date, Activity::Event event) {
  activity.event = event;
  const Entry entry = {date, next_order_++, &activity};
  if (activity.place == Activity::kNoEvent) {
    heap_.push_back(entry);
    rise(heap_.size() - 1, entry);
  } else if (entry.before(heap_[activity.place])) {
    rise(activity.place, entry);
  } else {
    sink(activity.place, entry);
  }
}

void EventQueue::set_unsorted(Activity& activity, double date, Activity::Event event) {
  activity.event = event;
  const Entry entry = {date, next_order_++, &activity};
  if (activity.place == Activity::kNoEvent) {
    activity.place = heap_.size();
    heap_.push_back(entry);
  } else {
    heap_[activity.place] = entry;
  }
}

void EventQueue::sort() {
  if (heap_.size() < 2) return;
  for (std::size_t place = (heap_.size() - 2) / kChildren + 1; place-- > 0;) {
    const Entry entry = heap_[place];
    sink(place, entry);
  }
}

void EventQueue::remove(Activity& activity) {
  activity.event = Activity::Event::none;
  if (activity.place == Activity::kNoEvent) return;
  const std::size_t place = activity.place;
  activity.place = Activity::kNoEvent;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (place == heap_.size()) return;
  if (last.before(heap_[place]))
    rise(place, last);
  else
    sink(place, last);
}

Activity& EventQueue::pop() {
  Activity& activity = *heap_.front().activity;
  const Activity::Event event = activity.event;
  remove(activity);
  activity.event = event;
  return activity;
}

/// Counts the work done since the last update.
void Model::update(Activity& activity, double now) {
  if (activity.remains > 0) {
    activity.remains -= activity.last_rate * (now - activity.last_update);
    if (activity.remains < kLeastWork) activity.remains = 0;
  }
  if (ends_at_update_ && activity.remains <= 0 && activity.variable.penalty > 0) finish(activity);
  activity.last_update = now;
  activity.last_rate = activity.rate();
}

/// When an activity has nothing left to do, at its present rate.
double Model::end_of(const Activity& activity, double now) {
  double date = -1;
  if (const double rate = activity.rate(); rate > 0)
    date = now + (activity.remains > 0 ? activity.remains / rate : 0);
  if (activity.deadline >= 0 && (date <= -1 || activity.deadline < date)) date = activity.deadline;
  if (!(date > -1)) throw std::logic_error("an activity gets nothing of its resources");
  return date;
}

double Model::next_event(double now) {
  constexpr std::size_t kAhead = 4;
  constexpr std::size_t kFew = 8;  // where fewer than one event in so many changes, the others stay sorted
  system.solve([this](Activity* activity) {
    if (activity->changed) return;
    activity->changed = true;
    changed_.push_back(activity);
  });
  const bool many = changed_.size() * kFew > queue_.size();
  for (std::size_t at = 0; at < changed_.size(); ++at) {
    if (at + kAhead < changed_.size()) __builtin_prefetch(&changed_[at + kAhead]->remains);
    Activity& activity = *changed_[at];
    activity.changed = false;
    if (!activity.started || activity.finished || activity.penalty <= 0 ||
        activity.event == Activity::Event::latency_paid)
      continue;
    update(activity, now);
    const double date = end_of(activity, now);
    if (many)
      queue_.set_unsorted(activity, date, Activity::Event::end);
    else
      queue_.set(activity, date, Activity::Event::end);
  }
  changed_.clear();
  if (many) queue_.sort();
  return queue_.empty() ? -1 : queue_.first_date() - now;
}

void Model::advance_to(double now) {
  while (!queue_.empty() && std::fabs(queue_.first_date() - now) < kInstant) {
    Activity& activity = queue_.pop();
    if (activity.event == Activity::Event::latency_paid) {
      system.enable(activity.variable, activity.penalty);
      activity.last_update = now;
    } else {
      finish(activity);
    }
    activity.event = Activity::Event::none;
  }
}

void Model::finish(Activity& activity) {
  activity.remains = 0;
  if (activity.finished) return;
  activity.finished = true;
  ended_.push_back(&activity);
}

void Model::handle_ended() {
  while (!ended_.empty()) ended_.pop_front()->at_end();
}

void Model::end(Activity& activity) {
  if (EndedSet::contains(&activity)) ended_.erase(&activity);
  system.end(activity.variable);
  queue_.remove(activity);
  if (activity.changed) changed_.erase(std::find(changed_.begin(), changed_.end(), &activity));
  activity.changed = false;
  activity.started = false;
}

}  // namespace hamtune::express
