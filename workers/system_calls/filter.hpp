// Filters of system calls, made by libseccomp for the machine it runs on.
#pragma once

#include <seccomp.h>

#include <cstdint>
#include <vector>

namespace hamtune {

/// A filter under construction. Throws std::runtime_error where libseccomp refuses a rule.
///
/// Calls under the numbers of another architecture (32-bit or x32 code) end the process.
class Filter {
 public:
  /// `otherwise` is what happens to calls without a rule.
  explicit Filter(std::uint32_t otherwise);
  ~Filter();
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  /// A rule for each of these calls, by name; names that libseccomp does not know are left out:
  /// the kernel it was made for has no such call.
  void set(std::uint32_t action, const std::vector<const char*>& calls);

  /// A rule for a call whose arguments compare so. All comparisons have to hold.
  void set(std::uint32_t action, const char* call, const std::vector<scmp_arg_cmp>& arguments);

  /// Writes the program that bubblewrap's `--seccomp` takes.
  void write(int file) const;

  /// Puts it on this process, all its threads, and those that it starts, for good.
  void load() const;

 private:
  scmp_filter_ctx context_;
};

/// What a program of a stranger may do, and all that it starts: most things.
void filter_programs(Filter& filter);
std::uint32_t otherwise_for_programs();

/// Leaves this process, which is to read a stranger's trace, only what simulating takes: memory,
/// children, pipes that are open, and files to read. Returns false where the kernel has no filters.
bool confine_simulator();

}  // namespace hamtune
