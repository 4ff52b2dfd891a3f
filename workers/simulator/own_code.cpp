#include "workers/simulator/own_code.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>

#include "workers/simulator/simgrid/compat.hpp"

namespace hamtune {

namespace {

std::size_t owned = 0;

template <typename Function>
std::uintptr_t address_of(Function* function) {
  return reinterpret_cast<std::uintptr_t>(function);
}

/// Something of each object whose code an evaluation runs.
std::array<std::uintptr_t, 4> samples() {
  return {address_of(&own_code), address_of(&PMPI_Init), address_of(&std::terminate),
          address_of(&std::malloc)};
}

/// Writing a byte of a page, even the one that is there, gives the process its own copy.
void own(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t page) {
  void* const start = reinterpret_cast<void*>(begin);
  if (mprotect(start, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  for (std::uintptr_t at = begin; at < end; at += page) {
    auto* const byte = reinterpret_cast<volatile unsigned char*>(at);
    *byte = *byte;
  }
  if (mprotect(start, end - begin, PROT_READ | PROT_EXEC) == 0) owned += end - begin;
}

int own_code_of(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto anchors = samples();
  for (std::size_t index = 0; index < object->dlpi_phnum; ++index) {
    const auto& segment = object->dlpi_phdr[index];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    const std::uintptr_t end = begin + segment.p_memsz;
    if (std::any_of(anchors.begin(), anchors.end(), [&](std::uintptr_t anchor) {
          return anchor >= begin && anchor < end;
        }))
      own(begin / page * page, (end + page - 1) / page * page, page);
  }
  return 0;
}

}  // namespace

void own_code() { dl_iterate_phdr(&own_code_of, nullptr); }

std::size_t owned_code() { return owned; }

}  // namespace hamtune
