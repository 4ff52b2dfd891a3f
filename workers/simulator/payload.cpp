#include "workers/simulator/payload.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace hamtune {

namespace {

constexpr std::size_t kLeastHalf = std::size_t{64} << 20;    // room for temporary buffers
constexpr std::size_t kLeastBlock = std::size_t{8} << 20;    // stays in a cache; few mappings fork fast
constexpr std::size_t kMostBlocks = 4096;                    // mappings; the kernel allows 65,530
constexpr std::size_t kSharedArray = std::size_t{1} << 20;   // arrays from here up are shared
constexpr std::size_t kBookkeeping = 4096;                   // bytes of SMPI's largest header

struct Region {
  unsigned char* start = nullptr;
  std::size_t half = 0;
};

Region region;

std::size_t round_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error("cannot map scratch memory: " + std::string(what) + ": " +
                           std::strerror(errno));
}

}  // namespace

namespace scratch {

void map(std::size_t largest_buffer) {
  const std::size_t wanted = std::max(largest_buffer, kLeastHalf);
  const std::size_t block =
      std::max(kLeastBlock, round_up(wanted / (kMostBlocks / 2) + 1, kLeastBlock));
  const std::size_t half = round_up(wanted, block);
  const int memory = memfd_create("hamtune-scratch", MFD_CLOEXEC);
  if (memory < 0 || ftruncate(memory, static_cast<off_t>(block)) != 0) fail("memfd");
  void* const start = mmap(nullptr, 2 * half, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) fail("address space");
  region = {static_cast<unsigned char*>(start), half};
  for (std::size_t offset = 0; offset < 2 * half; offset += block)
    if (mmap(region.start + offset, block, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory,
             0) == MAP_FAILED)
      fail("block");
  close(memory);
}

const void* send_buffer() { return region.start; }

void* receive_buffer() { return region.start + region.half; }

bool contains(const void* pointer) {
  const auto* const byte = static_cast<const unsigned char*>(pointer);
  return byte >= region.start && byte < region.start + 2 * region.half;
}

}  // namespace scratch

bool is_bookkeeping(const void* from, std::size_t size) {
  return from != nullptr && size > 0 && size <= kBookkeeping && !scratch::contains(from);
}

void leave_payload_in_place() {
  smpi_comm_copy_data_callback = [](simgrid::kernel::activity::CommImpl* message, void* buffer,
                                    std::size_t size) {
    if (scratch::contains(buffer)) return;  // nothing, and not a copy
    // Of no bytes, SMPI's own callback moves nothing but still frees the copy of a detached send.
    smpi_comm_copy_buffer_callback(message, buffer, size <= kBookkeeping ? size : 0);
  };
}

MPI_Datatype Payload::plain_type(std::int32_t size) {
  switch (size) {
    case 1:
      return MPI_BYTE;
    case 2:
      return MPI_SHORT;
    case 4:
      return MPI_INT;
    case 8:
      return MPI_DOUBLE;
    case 16:
      return MPI_C_DOUBLE_COMPLEX;
    case 32:
      return MPI_C_LONG_DOUBLE_COMPLEX;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Datatype Payload::type(std::int32_t size, bool is_counted) {
  if (size == 0 && !is_counted) return MPI_BYTE;
  if (const MPI_Datatype plain = plain_type(size); plain != MPI_DATATYPE_NULL) return plain;
  return derived_type(size);
}

MPI_Datatype Payload::derived_type(std::int32_t size) {
  MPI_Datatype& type = derived_.try_emplace(size, MPI_DATATYPE_NULL).first->second;
  if (type == MPI_DATATYPE_NULL) {
    MPI_Type_contiguous(size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
  }
  return type;
}

MPI_Op Payload::reduction(bool commutative) {
  MPI_Op& op = commutative ? commutative_ : ordered_;
  if (op == MPI_OP_NULL)
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, commutative ? 1 : 0, &op);
  return op;
}

}  // namespace hamtune

// Replaces the global array allocator: SMPI allocates the temporary buffers of its collectives so,
// and no array of a megabyte holds anything else in this program.
void* operator new[](std::size_t size) {
  if (size >= hamtune::kSharedArray && size <= 2 * hamtune::region.half)
    return hamtune::region.start;
  return ::operator new(size);
}

void operator delete[](void* pointer) noexcept {
  if (!hamtune::scratch::contains(pointer)) ::operator delete(pointer);
}

void operator delete[](void* pointer, std::size_t) noexcept { ::operator delete[](pointer); }
