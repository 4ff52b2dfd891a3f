#include "workers/simulator/supervisor.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "searchspace/kernels/trace/shallow_json.hpp"
#include "workers/simulator/child.hpp"
#include "workers/simulator/null_device.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr std::size_t kKeptLog = 16'384;   // bytes of the end of a child's log
constexpr std::size_t kLongestLine = 300;  // characters of it shown
constexpr int kMostRequests = 256;  // of a child: SMPI does not free all it makes for one

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

/// A pipe or a pair of sockets whose ends close with it.
class Ends {
 public:
  enum class Kind : std::uint8_t { pipe, sockets };

  explicit Ends(Kind kind) {
    const int failed = kind == Kind::pipe
                           ? pipe2(ends_.data(), O_CLOEXEC)
                           : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data());
    if (failed != 0) fail("cannot make a pipe");
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    close_end(0);
    close_end(1);
  }

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

  std::array<int, 2> ends_ = {-1, -1};
};

/// What is known of a child that has ended, or waits for another request.
struct Outcome {
  std::string result;  // what it wrote as its result
  std::string log;     // the end of what SimGrid wrote
  int status = 0;      // of waitpid
  double cpu_seconds = 0;
  std::uint64_t peak_bytes = 0;
  double wall_seconds = 0;
  bool out_of_time = false;
  bool was_first = true;  // of the requests of its process, which tells of its start
  bool waits = false;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Only white space, before a result.
bool says_nothing(const std::string& result) {
  return result.find_first_not_of('\n') == std::string::npos;
}

}  // namespace

double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// A process forked for a request.
class Child {
 public:
  Child(const Request& request, Simulation& simulation) {
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ < 0) fail("cannot fork");
    if (process_ == 0) live(request, simulation, parent);
    result_.close_writer();
    log_.close_writer();
    requests_.close_reader();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  /// Gives it another request; false if it is not there any more.
  bool send(const std::string& line) {
    start_ = Clock::now();
    return send_line(requests_.writer(), line);
  }

  int requests() const { return requests_served_; }

  /// Waits for the end of the request.
  Outcome follow(const std::optional<double>& wall_seconds) {
    Outcome outcome;
    outcome.was_first = requests_served_ == 0;
    collect(wall_seconds, outcome);
    ++requests_served_;
    if (outcome.waits) {
      const double cpu = cpu_seconds_of(process_);
      outcome.cpu_seconds = cpu - cpu_seconds_;
      cpu_seconds_ = cpu;
    } else {
      rusage usage{};
      while (wait4(process_, &outcome.status, 0, &usage) < 0)
        if (errno != EINTR) fail("cannot wait for a child");
      process_ = -1;
      outcome.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime) - cpu_seconds_;
      outcome.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    }
    outcome.wall_seconds = seconds_since(start_);
    return outcome;
  }

 private:
  /// In the process itself.
  [[noreturn]] void live(const Request& request, Simulation& simulation, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before the line above
    dup2(null_device(), STDIN_FILENO);
    dup2(log_.writer(), STDOUT_FILENO);
    dup2(log_.writer(), STDERR_FILENO);
    requests_.close_writer();
    run_child(request, simulation, result_.writer());
    std::unique_ptr<const Request> last;
    try {
      while (const std::optional<std::string> line = receive_line(requests_.reader())) {
        auto next = std::make_unique<const Request>(
            parse_request(parse_shallow(*line), simulation.traces()));
        run_child(*next, simulation, result_.writer());
        last = std::move(next);  // the network refers to it until there is another one
      }
    } catch (const std::exception&) {
      _exit(1);  // not a request: who sent it finds that out too
    }
    _exit(0);
  }

  /// Collects what it writes until it waits or closes both pipes; kills it at the deadline, and
  /// leaves when the reader of our own answers is gone: the child then dies with us instead of
  /// working for nobody.
  void collect(const std::optional<double>& wall_seconds, Outcome& outcome) {
    std::array<pollfd, 3> open = {
        {{result_.reader(), POLLIN, 0}, {log_.reader(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
    std::array<char, 65'536> buffer;  // not filled: that takes its time
    while (open[0].fd >= 0 || open[1].fd >= 0) {
      int timeout = -1;
      if (wall_seconds && !outcome.out_of_time) {
        const double left = *wall_seconds - seconds_since(start_);
        if (left <= 0) {
          outcome.out_of_time = true;
          kill(process_, SIGKILL);
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
      outcome.waits = !outcome.out_of_time && !says_nothing(outcome.result) &&
                      outcome.result.back() == '\n';
      if (outcome.waits) return;
    }
  }

  Ends result_{Ends::Kind::pipe};
  Ends log_{Ends::Kind::pipe};
  Ends requests_{Ends::Kind::sockets};
  pid_t process_ = -1;
  Clock::time_point start_ = Clock::now();  // of the request
  int requests_served_ = 0;
  double cpu_seconds_ = 0;  // that it had taken when it ended its last request
};

namespace {

/// Whether SimGrid begins here to tell of a segmentation fault, and what to try against it.
bool tells_of_fault(const std::string& line) {
  return line.find("Segmentation fault") == 0 || line.find("Access violation") == 0;
}

/// The last line of the log that says something; SimGrid ends some failures with empty lines, with
/// advice on debugging, and with details that are set in.
std::string last_line(const std::string& log) {
  std::string last;
  std::size_t begin = 0;
  while (begin < log.size()) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (tells_of_fault(line)) return last.empty() ? "the simulation crashed (segmentation fault)" : last;
    if (line.front() == '\t' && !last.empty()) continue;
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
  const bool started = !outcome.was_first || !outcome.result.empty();
  if (!line.empty()) return started ? reason("crash", line) : reason("invalid", "options: " + line);
  if (WIFSIGNALED(outcome.status))
    return reason("crash", std::string("SimGrid ended with: ") + strsignal(WTERMSIG(outcome.status)));
  return reason("crash",
                "SimGrid ended with exit status " + std::to_string(WEXITSTATUS(outcome.status)));
}

/// Whether what earlier requests have left in a process may be why it failed.
bool depends_on_the_past(const Json& answer) {
  if (answer["status"] != "failed") return false;
  const Json& kind = answer["reason"]["kind"];
  return kind == "memory" || kind == "crash" || kind == "killed";
}

bool is_short_of_memory(const Json& answer) {
  return answer["status"] == "failed" && answer["reason"]["kind"] == "memory";
}

Json to_answer(const Outcome& outcome, const Request& request) {
  Json answer = Json::parse(outcome.result, nullptr, false);
  if (!answer.is_object())
    answer = {{"status", "failed"},
              {"simulated_time", nullptr},
              {"reason", reason_of_death(outcome, request)},
              {"rank_finish_times", Json::array()},
              {"link_loads", Json::array()}};
  answer.emplace("application_times", Json::array());
  answer.emplace("estimate", nullptr);
  answer.emplace("messages", nullptr);
  answer["cpu_seconds"] = outcome.cpu_seconds;
  answer["wall_seconds"] = outcome.wall_seconds;
  answer.emplace("peak_rss_bytes", outcome.peak_bytes);
  return answer;
}

/// The same of a child that waits. What it wrote is not looked into: that would take longer than a small
/// simulation's share of the work.
std::string to_answer_line(const Outcome& outcome, const Json& id, double cpu_seconds_before) {
  const Json added = {{"id", id},
                      {"cpu_seconds", outcome.cpu_seconds + cpu_seconds_before},
                      {"wall_seconds", outcome.wall_seconds}};
  const std::string_view result = outcome.result;
  const std::size_t begin = result.find('{') + 1;
  std::string line = to_line(added);
  line.back() = ',';
  line.append(result, begin, result.size() - 1 - begin);  // without the end of the line
  return line;
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
          {"messages", nullptr},
          {"cpu_seconds", 0.0},
          {"wall_seconds", 0.0},
          {"peak_rss_bytes", 0}};
}

Json evaluate(const Request& request, const Json& id, Simulation& simulation) {
  try {
    Json answer =
        to_answer(Child(request, simulation).follow(request.wall_seconds), request);
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

ReusableWorker::ReusableWorker(Simulation& simulation) : simulation_(simulation) {}

ReusableWorker::~ReusableWorker() = default;

void ReusableWorker::begin(const std::string& line) {
  if (child_ && !child_->send(line)) child_.reset();
}

void ReusableWorker::give_up() { child_.reset(); }

std::string ReusableWorker::finish(const Request& request, const Json& id, double cpu_seconds_before) {
  try {
    for (const bool is_new : {false, true}) {
      if (is_new) child_ = std::make_unique<Child>(request, simulation_);
      if (!child_) continue;
      const Outcome outcome = child_->follow(request.wall_seconds);
      if (!outcome.waits || child_->requests() >= kMostRequests) child_.reset();
      if (outcome.waits) return to_answer_line(outcome, id, cpu_seconds_before);
      Json answer = to_answer(outcome, request);
      if (!is_new && depends_on_the_past(answer)) continue;
      if (is_short_of_memory(answer)) break;
      answer["id"] = id;
      answer["cpu_seconds"] = outcome.cpu_seconds + cpu_seconds_before;
      return to_line(answer);
    }
    return {};
  } catch (const std::exception& error) {
    child_.reset();
    return to_line(invalid_answer(id, error.what()));
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

bool send_line(int socket, std::string line) {
  line += '\n';
  for (std::string_view left = line; !left.empty();) {
    const ssize_t sent = send(socket, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::optional<std::string> receive_line(int socket) {
  std::string line;
  std::array<char, 65'536> buffer;  // not filled, as above
  while (line.empty() || line.back() != '\n') {
    wait_to_read(socket);
    const ssize_t size = recv(socket, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return std::nullopt;
    line.append(buffer.data(), static_cast<std::size_t>(size));
  }
  line.pop_back();
  return line;
}

}  // namespace hamtune
