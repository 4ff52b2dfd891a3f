// hamtune-simulator: what an application of given traces would take on a given machine.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "searchspace/kernels/trace/shallow_json.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"
#include "workers/simulator/null_device.hpp"
#include "workers/simulator/payload.hpp"
#include "workers/simulator/progress.hpp"
#include "workers/simulator/server.hpp"
#include "workers/simulator/simgrid/assumptions.hpp"
#include "workers/simulator/simgrid/compat.hpp"
#include "workers/simulator/simgrid/library_build.hpp"
#include "workers/simulator/supervisor.hpp"
#include "workers/system_calls/filter.hpp"

namespace {

// Part of the key of cached results: raise it with every change that can move a simulated time.
constexpr const char* kSimulatorVersion = "7";

constexpr const char* kUsage =
    "usage: hamtune-simulator --trace FILE [--trace FILE ...] (--server | --request FILE)\n"
    "       hamtune-simulator --version | --assumptions\n"
    "Replays traces in SimGrid.\n"
    "  --server        read one JSON request a line, write one JSON answer a line\n"
    "  --progress FD   with --server: a file of 4096 bytes to say in how far an evaluation has come\n"
    "  --request FILE  answer the request in FILE, or on standard input for -\n"
    "  --assumptions   tell what our engine takes for granted of SimGrid and does not hold here\n"
    "example: hamtune-simulator --trace cg.ht --request request.json\n";

class WrongUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Arguments {
  std::vector<std::string> traces;
  std::optional<std::string> request;
  std::optional<int> progress;
  bool server = false;
  bool version = false;
  bool assumptions = false;
  bool help = false;
};

int to_descriptor(const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
    throw WrongUse("--progress needs the number of an open file");
  return std::stoi(text);
}

Arguments parse_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string& word = words[index];
    const auto value = [&] {
      if (++index == words.size()) throw WrongUse(word + " needs a value");
      return words[index];
    };
    if (word == "--trace")
      arguments.traces.push_back(value());
    else if (word == "--request")
      arguments.request = value();
    else if (word == "--progress")
      arguments.progress = to_descriptor(value());
    else if (word == "--server")
      arguments.server = true;
    else if (word == "--version")
      arguments.version = true;
    else if (word == "--assumptions")
      arguments.assumptions = true;
    else if (word == "--help")
      arguments.help = true;
    else
      throw WrongUse("unknown argument " + word);
  }
  if (arguments.version || arguments.assumptions || arguments.help) return arguments;
  if (arguments.traces.empty()) throw WrongUse("--trace is missing");
  if (arguments.server == arguments.request.has_value())
    throw WrongUse("either --server or --request is needed");
  return arguments;
}

int answer_once(const std::string& path, const std::vector<hamtune::Trace>& traces) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) throw WrongUse("cannot read " + path);
  }
  std::istream& input = path == "-" ? std::cin : file;
  const std::string text(std::istreambuf_iterator<char>(input), {});
  const nlohmann::json request = hamtune::parse_shallow(text);
  if (request.is_discarded()) throw WrongUse("the request is not JSON");
  hamtune::Simulation simulation(traces);
  const nlohmann::json answer = hamtune::evaluate(request, traces, simulation);
  std::cout << hamtune::to_line(answer) << '\n';
  return answer["status"] == "failed" ? 1 : 0;
}

int tell_assumptions() {
  const std::vector<hamtune::Trace> none;
  const hamtune::Simulation simulation(none);  // starts SimGrid
  const std::vector<std::string> broken = hamtune::broken_assumptions();
  std::cout << nlohmann::json{{"broken", broken}}.dump() << std::endl;
  _exit(0);  // objects were made that SimGrid could not take down
}

int run(const Arguments& arguments) {
  if (arguments.help) {
    std::cout << kUsage;
    return 0;
  }
  if (arguments.version) {
    std::cout << nlohmann::json{{"simulator", kSimulatorVersion},
                                {"simgrid", hamtune::compat::version()},
                                {"library", hamtune::library_build()},
                                {"program", hamtune::program_build()},
                                {"engine", hamtune::engine_version()}}
                     .dump()
              << '\n';
    return 0;
  }
  if (arguments.assumptions) return tell_assumptions();
  hamtune::null_device();
  if (arguments.progress) hamtune::progress::share(*arguments.progress);
  if (!hamtune::confine_simulator())
    std::cerr << "hamtune-simulator: this kernel cannot filter system calls\n";
  std::vector<hamtune::Trace> traces;
  std::size_t largest_buffer = 0;
  for (const std::string& path : arguments.traces) {
    traces.push_back(hamtune::read_trace(path));
    largest_buffer = std::max(largest_buffer, traces.back().largest_buffer);
  }
  hamtune::scratch::map(largest_buffer);
  if (arguments.server) {
    hamtune::serve(traces);
    return 0;
  }
  return answer_once(*arguments.request, traces);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse_arguments({argv + 1, argv + argc}));
  } catch (const WrongUse& error) {
    std::cerr << "hamtune-simulator: " << error.what() << "; see --help\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "hamtune-simulator: " << error.what() << '\n';
    return 1;
  }
}
