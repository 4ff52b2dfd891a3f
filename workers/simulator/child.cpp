#include "workers/simulator/child.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "workers/simulator/own_code.hpp"
#include "workers/simulator/simulation.hpp"

namespace hamtune {

namespace {

constexpr std::size_t kMostKept = std::size_t{64} << 20;  // bytes of a process that waits

int memory_report_fd = -1;

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// A field of /proc/self/statm, in bytes: 2 is shared resident memory, 5 private data and stacks.
std::size_t memory_in_use(int field) {
  const int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);  // of the process that opens it
  std::array<char, 256> text{};
  const ssize_t size = read(statm, text.data(), text.size() - 1);
  close(statm);
  if (size <= 0) return 0;
  std::istringstream fields(text.data());
  std::size_t pages = 0;
  for (int skip = 0; skip <= field; ++skip) fields >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

constexpr std::string_view kNoMemory =
    R"({"status":"failed","simulated_time":null,"rank_finish_times":[],"link_loads":[],)"
    R"("reason":{"kind":"memory","message":"the simulation needs more memory than allowed"}})";

/// Called by operator new when there is no memory: nothing may be allocated here.
[[noreturn]] void report_no_memory() {
  write_all(memory_report_fd, kNoMemory);
  _exit(0);
}

/// What does not count against the kernel's limit, bytes.
std::size_t before = 0;

std::optional<std::uint64_t> memory_limit;  // of the request in hand

rlimit current_limit() {
  rlimit data{};
  getrlimit(RLIMIT_DATA, &data);
  return data;
}

/// What earlier requests have left counts. The kernel would not notice that it is used again, so where
/// it is above the limit already there is no memory for this request here.
void limit_memory(const Request& request) {
  static rlimit in_force = current_limit();
  if (before == 0) count_memory(request);
  memory_limit = request.memory_bytes;
  rlimit data = in_force;
  data.rlim_cur = data.rlim_max;
  if (request.memory_bytes)
    data.rlim_cur = std::min<rlim_t>(data.rlim_max, before + *request.memory_bytes);
  if (request.memory_bytes && memory_in_use(5) > data.rlim_cur) report_no_memory();
  if (data.rlim_cur != in_force.rlim_cur && setrlimit(RLIMIT_DATA, &data) == 0) in_force = data;
}

}  // namespace

void count_memory(const Request& request) {
  std::size_t ranks = 0;
  for (const ApplicationRequest& application : request.applications)
    ranks += application.hosts.size();
  before = memory_in_use(5) + ranks * (kStackKilobytes + 64) * 1024;  // guards and rounding
}

void run_child(const Request& request, Simulation& simulation, int result_fd) {
  if (memory_report_fd < 0) {
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    memory_report_fd = result_fd;
    std::set_new_handler(&report_no_memory);
  }
  limit_memory(request);
  simulation.run(request, result_fd);
}

void announce_start(int result_fd) {
  static bool announced = false;
  if (!announced) write_all(result_fd, "\n");
  announced = true;
}

void write_result(int result_fd, nlohmann::json result, bool waits) {
  // What is shared is asked for where the peak has moved: the kernel takes its time to tell.
  static long peak = 0;
  static std::size_t shared = 0;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  if (usage.ru_maxrss != peak) shared = memory_in_use(2) + owned_code();
  peak = usage.ru_maxrss;
  const std::size_t most = static_cast<std::size_t>(peak) * 1024;
  const std::size_t own = most - std::min(most, shared);
  // The kernel leaves room for stacks, which a run need not fill: what is reported has to keep the limit, too.
  const bool is_too_much = memory_limit && own > *memory_limit;
  if (is_too_much) result = nlohmann::json::parse(kNoMemory);
  result["peak_rss_bytes"] = own;
  std::string text = result.dump();
  const bool leaves = is_too_much || own > kMostKept;
  if (waits && !leaves) text += '\n';
  write_all(result_fd, text);
  if (leaves) _exit(0);
}

}  // namespace hamtune
