#include "workers/simulator/prepared_process.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include "searchspace/kernels/trace/shallow_json.hpp"
#include "workers/simulator/child.hpp"
#include "workers/simulator/express/express.hpp"
#include "workers/simulator/null_device.hpp"
#include "workers/simulator/supervisor.hpp"

namespace hamtune {

std::optional<std::string> PreparedProcess::ask(const std::string& line) {
  if (process_ < 0) return std::nullopt;
  std::optional<std::string> answer;
  if (send_line(socket_, line)) answer = receive_line(socket_);
  if (answer && !answer->empty()) return answer;
  close();
  last_.reset();
  return std::nullopt;
}

bool PreparedProcess::consider(Request request) {
  const bool is_first = std::exchange(is_first_, false);
  if (!express::may_suit(request)) return false;
  const bool again = last_ && Simulation::share_readiness(*last_, request);
  last_ = std::move(request);
  if (is_first || again) open();
  return process_ >= 0;
}

void PreparedProcess::open() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) serve(ends[1], parent);
  ::close(ends[1]);
  socket_ = ends[0];
  process_ = child;
  if (child < 0) close();
}

void PreparedProcess::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

/// In the process itself. What SimGrid says while it makes ready is of no use: the caller will hear
/// it again.
void PreparedProcess::serve(int socket, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const int null = null_device();
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  try {
    count_memory(*last_);
    simulation_.make_ready(*last_);
    if (!express::suits()) _exit(1);
    simulation_.initialize_ranks();
    cpu_seconds_ = cpu_seconds_of(getpid());
    ReusableWorker worker(simulation_);
    while (const std::optional<std::string> line = receive_line(socket))
      if (!send_line(socket, answer(*line, worker))) break;
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

/// Empty where the ranks do not stand ready for the request.
std::string PreparedProcess::answer(const std::string& line, ReusableWorker& worker) {
  worker.begin(line);
  const nlohmann::json json = parse_shallow(line);
  const std::optional<Request> request = request_of(json);
  if (!request) {
    worker.give_up();
    return {};
  }
  std::string answer = worker.finish(*request, id_of(json), cpu_seconds_);
  if (!answer.empty()) cpu_seconds_ = 0;
  return answer;
}

/// The request, if the ranks stand ready for it.
std::optional<Request> PreparedProcess::request_of(const nlohmann::json& json) const {
  if (!json.is_object()) return std::nullopt;
  try {
    Request request = parse_request(json, traces_);
    if (!express::may_suit(request) || !Simulation::share_readiness(*last_, request))
      return std::nullopt;
    return request;
  } catch (const InvalidRequest&) {
    return std::nullopt;
  }
}

}  // namespace hamtune
