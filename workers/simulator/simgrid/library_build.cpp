#include "workers/simulator/simgrid/library_build.hpp"

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "workers/simulator/simgrid/compat.hpp"

namespace hamtune {

namespace {

struct Search {
  ElfW(Addr) inside;  // of the library
  std::string build;
};

std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

/// Looks for the build id among the notes of a segment.
std::string build_among(const unsigned char* note, const unsigned char* end) {
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const unsigned char* const name = note + sizeof header;
    const unsigned char* const value = name + padded(header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof "GNU" &&
        std::memcmp(name, "GNU", sizeof "GNU") == 0) {
      constexpr char kDigits[] = "0123456789abcdef";
      std::string build;
      for (std::size_t index = 0; index < header.n_descsz; ++index) {
        build += kDigits[value[index] >> 4];
        build += kDigits[value[index] & 15];
      }
      return build;
    }
    note = value + padded(header.n_descsz);
  }
  return {};
}

int visit(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool is_library = false;
  std::string build;
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const auto& segment = object->dlpi_phdr[index];
    const ElfW(Addr) begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.inside >= begin &&
        search.inside < begin + segment.p_memsz)
      is_library = true;
    if (segment.p_type == PT_NOTE && build.empty()) {
      const auto* const notes = reinterpret_cast<const unsigned char*>(begin);
      build = build_among(notes, notes + segment.p_memsz);
    }
  }
  if (is_library) search.build = build;
  return is_library ? 1 : 0;
}

}  // namespace

std::string library_build() {
  void (*const some_function)(int*, int*, int*) = &sg_version_get;
  Search search{};
  std::memcpy(&search.inside, &some_function, sizeof search.inside);
  dl_iterate_phdr(&visit, &search);
  return search.build;
}

std::string program_build() {
  std::string (*const some_function)() = &program_build;
  Search search{};
  std::memcpy(&search.inside, &some_function, sizeof search.inside);
  dl_iterate_phdr(&visit, &search);
  return search.build;
}

}  // namespace hamtune
