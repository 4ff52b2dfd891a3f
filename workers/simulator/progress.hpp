// How far the evaluation under way has come, for whoever asks meanwhile, and how many messages it took.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>

namespace hamtune::progress {

/// What the client maps as well: `workers/simulator_client.py` reads it by these places.
struct Page {
  std::atomic<double> time{0};                // simulated s
  std::atomic<std::uint64_t> operations{0};   // of the traces, that ranks have begun
  std::atomic<std::uint64_t> all{0};          // operations of all ranks
  std::atomic<std::uint64_t> messages{0};     // that were sent
};

/// That of the evaluation; one of the process's own until `share` is called.
extern Page* page;

/// The most messages that may be sent.
extern std::uint64_t most_messages;

/// Has children write into a file that the caller maps too. Throws std::runtime_error.
void share(int file);

/// An evaluation of so many operations begins; `at_limit` must not return.
void begin(std::uint64_t operations, std::uint64_t messages, std::function<void()> at_limit);

[[noreturn]] void stop_at_limit();

// Only one process writes at a time, so that no operation has to be atomic as a whole.
inline void add_one(std::atomic<std::uint64_t>& number) {
  number.store(number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

inline void pass_operation() { add_one(page->operations); }

inline void move_to(double time) { page->time.store(time, std::memory_order_relaxed); }

inline void send_message() {
  add_one(page->messages);
  if (page->messages.load(std::memory_order_relaxed) > most_messages) stop_at_limit();
}

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

}  // namespace hamtune::progress
