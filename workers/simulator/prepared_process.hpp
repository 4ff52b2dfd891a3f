// A process in which the ranks of an application stand ready, so that an evaluation begins there.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"
#include "workers/simulator/request.hpp"
#include "workers/simulator/simulation.hpp"
#include "workers/simulator/supervisor.hpp"

namespace hamtune {

/// Most of what an evaluation does before its first message is the same for the next one: hosts,
/// actors with their stacks, SMPI. Requests that agree in it are run in forks of a process that has
/// done it: from the first request of all on, and after others from the second of a kind in a row,
/// so that requests that all differ do not each prepare what nobody uses again. Whatever goes wrong
/// there, the caller can still run the request itself.
class PreparedProcess {
 public:
  PreparedProcess(const std::vector<Trace>& traces, Simulation& simulation)
      : traces_(traces), simulation_(simulation) {}
  PreparedProcess(const PreparedProcess&) = delete;
  PreparedProcess& operator=(const PreparedProcess&) = delete;
  ~PreparedProcess() { close(); }

  /// The answer to a request, if it is one that can be run there.
  std::optional<std::string> ask(const std::string& line);

  /// To be told of each request that is to be run elsewhere: whether there is a process for its kind now.
  bool consider(Request request);

 private:
  void open();
  void close();
  [[noreturn]] void serve(int socket, pid_t parent);
  std::string answer(const std::string& line, ReusableWorker& worker);
  std::optional<Request> request_of(const nlohmann::json& json) const;

  const std::vector<Trace>& traces_;
  Simulation& simulation_;
  bool is_first_ = true;         // no request has come yet
  std::optional<Request> last_;  // run elsewhere, or what the ranks stand ready for
  double cpu_seconds_ = 0;       // of the process itself, in no answer so far
  pid_t process_ = -1;
  int socket_ = -1;
};

}  // namespace hamtune
