#include "workers/simulator/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include "workers/simulator/child.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr std::size_t kKeptLog = 16'384;   // bytes of the end of a child's log
constexpr std::size_t kLongestLine = 300;  // characters of it shown

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

/// A pipe whose ends close with it.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) fail("cannot make a pipe");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

  std::array<int, 2> ends_ = {-1, -1};
};

/// What is known of a child that has ended.
struct Outcome {
  std::string result;  // what it wrote as its result
  std::string log;     // the end of what SimGrid wrote
  int status = 0;      // of waitpid
  rusage usage{};
  double wall_seconds = 0;
  bool out_of_time = false;
};

/// Collects both pipes until the child closes them; kills it at the deadline, and leaves when the
/// reader of our own answers is gone: the child then dies with us instead of working for nobody.
void follow(pid_t child, int result, int log, std::optional<double> wall_seconds,
            Clock::time_point start, Outcome& outcome) {
  std::array<pollfd, 3> open = {{{result, POLLIN, 0}, {log, POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
  std::array<char, 65'536> buffer{};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    int timeout = -1;
    if (wall_seconds && !outcome.out_of_time) {
      const double left = *wall_seconds - seconds_since(start);
      if (left <= 0) {
        outcome.out_of_time = true;
        kill(child, SIGKILL);
      } else {
        timeout = static_cast<int>(std::min(left, 1e6) * 1000) + 1;
      }
    }
    if (poll(open.data(), open.size(), timeout) < 0 && errno != EINTR) fail("cannot poll");
    if ((open[2].revents & POLLERR) != 0) _exit(1);
    for (std::size_t index = 0; index < 2; ++index) {
      if (open[index].fd < 0 || open[index].revents == 0) continue;
      const ssize_t size = read(open[index].fd, buffer.data(), buffer.size());
      if (size <= 0) {
        open[index].fd = -1;
        continue;
      }
      std::string& text = index == 0 ? outcome.result : outcome.log;
      text.append(buffer.data(), static_cast<std::size_t>(size));
      if (index == 1 && text.size() > 2 * kKeptLog) text.erase(0, text.size() - kKeptLog);
    }
  }
}

[[noreturn]] void become_child(const Request& request, Simulation& simulation, const Pipe& result,
                               const Pipe& log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before the line above
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(log.writer(), STDOUT_FILENO);
  dup2(log.writer(), STDERR_FILENO);
  run_child(request, simulation, result.writer());
}

Outcome run(const Request& request, Simulation& simulation) {
  const auto start = Clock::now();
  Pipe result;
  Pipe log;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) fail("cannot fork");
  if (child == 0) become_child(request, simulation, result, log, parent);
  result.close_writer();
  log.close_writer();
  Outcome outcome;
  follow(child, result.reader(), log.reader(), request.wall_seconds, start, outcome);
  while (wait4(child, &outcome.status, 0, &outcome.usage) < 0)
    if (errno != EINTR) fail("cannot wait for a child");
  outcome.wall_seconds = seconds_since(start);
  return outcome;
}

/// The last line of the log that says something; SimGrid ends some failures with empty lines and
/// with advice on debugging.
std::string last_line(const std::string& log) {
  std::string last;
  std::size_t begin = 0;
  while (begin < log.size()) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line.find("Segmentation fault") == 0 && !last.empty()) continue;
    last = line.substr(0, kLongestLine);
  }
  return last;
}

/// Why a child ended without a result.
Json reason_of_death(const Outcome& outcome, const Request& request) {
  const std::string line = last_line(outcome.log);
  const auto reason = [](const char* kind, const std::string& message) {
    return Json{{"kind", kind}, {"message", message}};
  };
  if (outcome.out_of_time)
    return reason("wall", "stopped after " + std::to_string(*request.wall_seconds) +
                              " s of wall-clock time");
  for (const char* sign : {"Memory allocation of", "Failed to allocate stack", "bad_alloc"})
    if (line.find(sign) != std::string::npos)
      return reason("memory", "the simulation needs more memory than allowed");
  if (WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGKILL)
    return reason("killed",
                  "something killed the simulation, perhaps the system for want of memory");
  const bool started = !outcome.result.empty();
  if (!line.empty()) return started ? reason("crash", line) : reason("invalid", "options: " + line);
  if (WIFSIGNALED(outcome.status))
    return reason("crash", std::string("SimGrid ended with: ") + strsignal(WTERMSIG(outcome.status)));
  return reason("crash",
                "SimGrid ended with exit status " + std::to_string(WEXITSTATUS(outcome.status)));
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

Json to_answer(const Outcome& outcome, const Request& request) {
  Json answer = Json::parse(outcome.result, nullptr, false);
  if (!answer.is_object())
    answer = {{"status", "failed"},
              {"simulated_time", nullptr},
              {"reason", reason_of_death(outcome, request)},
              {"rank_finish_times", Json::array()},
              {"link_loads", Json::array()}};
  const auto shared = answer.value("shared_bytes", std::uint64_t{0});
  answer.erase("shared_bytes");
  const std::uint64_t peak = static_cast<std::uint64_t>(outcome.usage.ru_maxrss) * 1024;
  answer.emplace("application_times", Json::array());
  answer.emplace("estimate", nullptr);
  answer["cpu_seconds"] = seconds(outcome.usage.ru_utime) + seconds(outcome.usage.ru_stime);
  answer["wall_seconds"] = outcome.wall_seconds;
  answer["peak_rss_bytes"] = peak - std::min(peak, shared);
  return answer;
}

}  // namespace

Json invalid_answer(const Json& id, const std::string& message) {
  return {{"id", id},
          {"status", "failed"},
          {"simulated_time", nullptr},
          {"reason", {{"kind", "invalid"}, {"message", message}}},
          {"rank_finish_times", Json::array()},
          {"link_loads", Json::array()},
          {"application_times", Json::array()},
          {"estimate", nullptr},
          {"cpu_seconds", 0.0},
          {"wall_seconds", 0.0},
          {"peak_rss_bytes", 0}};
}

Json evaluate(const Request& request, const Json& id, Simulation& simulation) {
  try {
    Json answer = to_answer(run(request, simulation), request);
    answer["id"] = id;
    return answer;
  } catch (const std::exception& error) {
    return invalid_answer(id, error.what());
  }
}

Json evaluate(const Json& request, const std::vector<Trace>& traces, Simulation& simulation) {
  try {
    return evaluate(parse_request(request, traces), id_of(request), simulation);
  } catch (const std::exception& error) {
    return invalid_answer(id_of(request), error.what());
  }
}

std::string to_line(const Json& answer) {
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void wait_to_read(int fd) {
  std::array<pollfd, 2> open = {{{fd, POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
  while (open[0].revents == 0) {
    if (poll(open.data(), open.size(), -1) < 0 && errno != EINTR) fail("cannot poll");
    if ((open[1].revents & POLLERR) != 0) _exit(1);
  }
}

}  // namespace hamtune
