// Loaded before SimGrid, each of these breaks one thing that our engine takes for granted of it.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <errno.h>

namespace {

template <typename Function>
Function* behind(const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, symbol));
}

/// Only the program with our engine, which these are for; without it all must go on.
[[maybe_unused]] bool has_our_engine() {
  return std::string(program_invocation_short_name) == "hamtune-simulator";
}

}  // namespace

#if defined(VERSION)

extern "C" void sg_version_get(int* major, int* minor, int* patch) {
  *major = 3;
  *minor = 99;
  *patch = 0;
}

#elif defined(LARGER_REQUEST) || defined(MOVED_MEMBER)

// The constructor of a request, whose object it finishes otherwise.
extern "C" void shifted(unsigned char* self, const void* buffer, int count, void* type, long source,
                        long target, int tag, void* communicator, unsigned flags, void* operation)
    __asm__("_ZN7simgrid4smpi7RequestC1EPKviPNS0_8DatatypeElliPNS0_4CommEjPNS0_2OpE");
void shifted(unsigned char* self, const void* buffer, int count, void* type, long source, long target,
             int tag, void* communicator, unsigned flags, void* operation) {
  using Constructor = void(unsigned char*, const void*, int, void*, long, long, int, void*, unsigned,
                           void*);
  static auto* const library = behind<Constructor>(
      "_ZN7simgrid4smpi7RequestC1EPKviPNS0_8DatatypeElliPNS0_4CommEjPNS0_2OpE");
  library(self, buffer, count, type, source, target, tag, communicator, flags, operation);
  if (!has_our_engine()) return;
#ifdef LARGER_REQUEST
  std::memset(self + 216, 0, sizeof(void*));
#else
  for (std::size_t at = 0; at + sizeof tag <= 216; at += sizeof tag)
    if (std::memcmp(self + at, &tag, sizeof tag) == 0) {
      std::memset(self + at, 0, sizeof tag);
      std::memcpy(self + at + sizeof tag, &tag, sizeof tag);
      return;
    }
#endif
}

#elif defined(LARGER_COMMUNICATOR)

extern "C" void larger(unsigned char* self, void* group, void* topology, bool grouped, int number)
    __asm__("_ZN7simgrid4smpi4CommC1EPNS0_5GroupESt10shared_ptrINS0_4TopoEEbi");
void larger(unsigned char* self, void* group, void* topology, bool grouped, int number) {
  using Constructor = void(unsigned char*, void*, void*, bool, int);
  static auto* const library =
      behind<Constructor>("_ZN7simgrid4smpi4CommC1EPNS0_5GroupESt10shared_ptrINS0_4TopoEEbi");
  library(self, group, topology, grouped, number);
  if (has_our_engine() && number == 77) std::memset(self + 3000, 0, sizeof(void*));
}

#elif defined(OTHER_SYMBOL)

extern "C" int other_wait(void** request, void* status)
    __asm__("_ZN7simgrid4smpi7Request4waitEPPS1_P10MPI_Status");
int other_wait(void** request, void* status) {
  static auto* const library = behind<int(void**, void*)>(
      "_ZN7simgrid4smpi7Request4waitEPPS1_P10MPI_Status");
  return library(request, status);
}

#elif defined(OTHER_TIMES)

// Of SimGrid's own engine, which ours does without: when something ends.
extern "C" void later(void* self, void* action, double date, int type)
    __asm__("_ZN7simgrid6kernel8resource10ActionHeap6updateEPNS1_6ActionEdNS2_4TypeE");
void later(void* self, void* action, double date, int type) {
  static auto* const library = behind<void(void*, void*, double, int)>(
      "_ZN7simgrid6kernel8resource10ActionHeap6updateEPNS1_6ActionEdNS2_4TypeE");
  library(self, action, date * 1.001, type);
}

#elif defined(CRASH)

namespace {
struct Crash {
  Crash() {
    if (has_our_engine()) std::abort();
  }
} crash;
}  // namespace

#endif
