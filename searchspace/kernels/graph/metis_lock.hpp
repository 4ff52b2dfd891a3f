#pragma once

#include <mutex>

namespace hamtune {

/// Held by whoever calls METIS. It draws from the C library's rand(), which is one sequence for the
/// whole process, so that of calls at once none would be decided by its seed.
inline std::mutex& metis_lock() {
  static std::mutex lock;
  return lock;
}

}  // namespace hamtune
