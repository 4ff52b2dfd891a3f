#include "workers/simulator/simgrid/assumptions.hpp"

#ifdef HAMTUNE_EXPRESS

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>

#include <dlfcn.h>

#include "workers/simulator/express/express.hpp"
#include "workers/simulator/simgrid/layout.hpp"
#include "workers/simulator/simgrid/lean.hpp"
#include "workers/simulator/simgrid/request.hpp"

namespace hamtune {

namespace {

/// All that `library_function` is asked for, read from the sources by CMake.
constexpr const char* kSymbols[] = {
#include "simgrid_symbols.inc"
};

/// The file that a function or variable is of; empty if unknown.
std::string file_of(const void* place) {
  Dl_info found{};
  return dladdr(place, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : "";
}

std::string file_of_library() {
  void (*const some_function)(int*, int*, int*) = &sg_version_get;
  const void* place = nullptr;
  std::memcpy(&place, &some_function, sizeof place);
  return file_of(place);
}

void check_version(std::vector<std::string>& broken) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  if (major != SIMGRID_VERSION_MAJOR || minor != SIMGRID_VERSION_MINOR)
    broken.push_back("it was built for SimGrid " + compat::version() + ", and this is " +
                     std::to_string(major) + "." + std::to_string(minor));
}

/// Each must be the library's behind ours, and ours before it.
void check_symbols(std::vector<std::string>& broken) {
  const std::string library = file_of_library();
  const std::string own = file_of(reinterpret_cast<const void*>(&engine_version));
  for (const char* const symbol : kSymbols) {
    const void* const behind = dlsym(RTLD_NEXT, symbol);
    if (behind == nullptr)
      broken.push_back("SimGrid has no " + std::string(symbol));
    else if (file_of(behind) != library)
      broken.push_back(file_of(behind) + " takes the place of " + symbol);
    else if (file_of(dlsym(RTLD_DEFAULT, symbol)) != own)
      broken.push_back("SimGrid would not call our " + std::string(symbol));
  }
}

void check_communicator(std::vector<std::string>& broken) {
  constexpr int kNumber = 77;
  static Sentinels<2 * kCommunicatorRoom> room;
  auto* const made =
      ::new (room.place()) simgrid::smpi::Comm(MPI_GROUP_EMPTY, nullptr, false, kNumber);
  if (made->id() != kNumber || made->group() != MPI_GROUP_EMPTY)
    broken.emplace_back("a communicator does not keep its group and its number");
  if (room.used() > kCommunicatorRoom)
    broken.push_back("a communicator takes " + std::to_string(room.used()) + " bytes, not at most " +
                     std::to_string(kCommunicatorRoom));
}

/// Outside of ranks the library cannot register what it makes; once messages were counted it does not (lean.cpp).
void check_request(std::vector<std::string>& broken) {
  ++sent_messages(nullptr, 0, 0, 0);
  if (std::string lack = simgrid::smpi::Request::broken_layout(); !lack.empty())
    broken.push_back("a request of SMPI is laid out otherwise: " + lack);
}

}  // namespace

std::string engine_version() { return "1.2"; }

std::vector<std::string> broken_assumptions() {
  std::vector<std::string> broken;
  check_version(broken);
  if (!broken.empty()) return broken;
  check_symbols(broken);
  if (!express::save_mvapich_state())
    broken.emplace_back("SimGrid has not all variables in which collectives keep their choices");
  if (!broken.empty()) return broken;  // what follows calls them
  check_communicator(broken);
  check_request(broken);
  return broken;
}

}  // namespace hamtune

#else

#include "workers/simulator/simgrid/compat.hpp"

namespace hamtune {

std::string engine_version() { return {}; }

std::vector<std::string> broken_assumptions() {
  return {"this program was built without it"};
}

}  // namespace hamtune

#endif
