// Where threads that anneal exchange their states, so that all go on from the best of them. Plain C++17.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "searchspace/kernels/mapping/mapper/flows.hpp"

namespace hamtune::mapper {

/// Threads that follow the same schedule, and how far each came. What cools as slowly with other random
/// numbers ends at other costs, and from some temperature on a good one is known by its mean: who is worse
/// then loses nothing by going on from there (as in the population annealing of Hukushima and Iba, 2003, with
/// a population of threads).
class BestExchange {
 public:
  /// How far a thread came.
  struct Report {
    double mean;  ///< of the cost since the last exchange or a little later: one cost tells little
    std::int64_t cost;
    std::vector<Slot> slots;
    double temperature;
  };

  explicit BestExchange(std::size_t threads) : reports_(threads) {}

  /// Waits for all threads. Returns the report of the least mean, the same to all; nothing where that is
  /// the caller's, or where the exchanges have ended.
  std::shared_ptr<const Report> synchronise(std::size_t thread, Report mine);

  /// Nobody waits any more: a thread that has ended will not come.
  void end();

 private:
  /// All are here: they go on.
  void close();

  std::mutex mutex_;
  std::condition_variable closed_;
  std::vector<std::optional<Report>> reports_;  ///< of those who are here
  std::size_t here_ = 0, least_ = 0;
  std::uint64_t generation_ = 0;
  bool ended_ = false;
  std::shared_ptr<const Report> best_;
};

/// One of the threads that exchange.
struct Participant {
  BestExchange& exchange;
  std::size_t thread;
};

}  // namespace hamtune::mapper
