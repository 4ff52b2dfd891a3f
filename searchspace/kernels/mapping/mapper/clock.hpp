// How long a search may go on: in steps (the same result everywhere) or CPU seconds. Plain C++17.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>

namespace hamtune::mapper {

/// CPU seconds of this thread.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The time of one phase of a search.
class Budget {
 public:
  static Budget steps(std::uint64_t most) {
    Budget budget;
    budget.most_ = most;
    return budget;
  }
  /// Until the thread's CPU clock shows `end`.
  static Budget until(double end) {
    Budget budget;
    budget.begin_ = cpu_seconds();
    budget.end_ = end;
    budget.timed_ = true;
    return budget;
  }

  bool spent() const { return fraction_ >= 1 || stopped_; }
  double fraction() const { return std::min(fraction_, 1.0); }
  /// Steps to make before the next look at the clock and the temperature: so many, if time limits.
  std::uint64_t portion(std::uint64_t timed = kPortion) const {
    return timed_ ? timed : std::min<std::uint64_t>(std::max<std::uint64_t>(most_ / 256, 1), most_ - done_);
  }
  void used(std::uint64_t steps) {
    done_ += steps;
    if (timed_) {
      const double length = end_ - begin_;
      fraction_ = length <= 0 ? 1 : (cpu_seconds() - begin_) / length;
    } else {
      fraction_ = most_ == 0 || done_ >= most_ ? 1 : static_cast<double>(done_) / static_cast<double>(most_);
    }
    if (stop_ && stop_()) stopped_ = true;
  }
  std::uint64_t done() const { return done_; }
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }

 private:
  static constexpr std::uint64_t kPortion = 4096;
  bool timed_ = false, stopped_ = false;
  double begin_ = 0, end_ = 0, fraction_ = 0;
  std::uint64_t most_ = 0, done_ = 0;
  std::function<bool()> stop_;
};

}  // namespace hamtune::mapper
