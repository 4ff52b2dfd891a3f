#include "workers/simulator/child.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <new>
#include <string>
#include <string_view>

#include "workers/simulator/own_code.hpp"
#include "workers/simulator/simulation.hpp"

namespace hamtune {

namespace {

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
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  for (int skip = 0; skip <= field; ++skip) statm >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Called by operator new when there is no memory: nothing may be allocated here.
[[noreturn]] void report_no_memory() {
  write_all(memory_report_fd,
            R"({"status":"failed","simulated_time":null,"rank_finish_times":[],"link_loads":[],)"
            R"("reason":{"kind":"memory","message":"the simulation needs more memory than allowed"}})");
  _exit(0);
}

void limit_memory(const Request& request, bool has_stacks) {
  if (!request.memory_bytes) return;
  std::size_t ranks = 0;
  if (!has_stacks)
    for (const ApplicationRequest& application : request.applications)
      ranks += application.hosts.size();
  const std::size_t stacks = ranks * (kStackKilobytes + 64) * 1024;  // guards and rounding
  const rlim_t limit = memory_in_use(5) + stacks + *request.memory_bytes;
  const rlimit data = {limit, limit};
  setrlimit(RLIMIT_DATA, &data);
}

}  // namespace

void run_child(const Request& request, Simulation& simulation, int result_fd) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  memory_report_fd = result_fd;
  std::set_new_handler(&report_no_memory);
  limit_memory(request, simulation.is_ready());
  simulation.run(request, result_fd);
}

void announce_start(int result_fd) { write_all(result_fd, "\n"); }

void write_result_and_leave(int result_fd, nlohmann::json result) {
  // Pages of scratch buffers and code, which the peak of this process's memory includes.
  result["shared_bytes"] = memory_in_use(2) + owned_code();
  write_all(result_fd, result.dump());
  _exit(0);
}

}  // namespace hamtune
