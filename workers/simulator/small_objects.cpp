// Replaces the global allocator for small objects. A message makes and frees some forty of them,
// which is a tenth of an evaluation's cost in an allocator made for threads and for all sizes.
//
// Each size has a free list, filled from spans of its own, so the address of an object tells its
// size. Spans come from address space reserved once. The program has one thread, and its forks go
// on with what they inherited. Memory is not given back: a simulation ends with its process.
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kUnit = 16;                           // sizes are multiples of it
constexpr std::size_t kSizes = 32;                          // up to 512 bytes
constexpr std::size_t kSpan = std::size_t{64} << 10;        // objects of one size
constexpr std::size_t kGrowth = std::size_t{512} << 10;     // made usable at once
constexpr std::size_t kReserved = std::size_t{64} << 30;    // address space, not memory
constexpr std::size_t kSpans = kReserved / kSpan;

struct Free {
  Free* next;
};

struct Fresh {
  unsigned char* next;
  unsigned char* end;
};

unsigned char* reserved = nullptr;
std::size_t usable = 0;  // bytes
std::size_t used = 0;    // bytes
std::array<Free*, kSizes + 1> free_lists{};
std::array<Fresh, kSizes + 1> fresh{};
std::array<std::uint8_t, kSpans> size_of_span{};

bool make_usable() {
  if (reserved == nullptr) {
    void* const start =
        mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return false;
    reserved = static_cast<unsigned char*>(start);
  }
  if (usable == kReserved) return false;
  if (mprotect(reserved + usable, kGrowth, PROT_READ | PROT_WRITE) != 0) return false;
  usable += kGrowth;
  return true;
}

/// Starts a span for objects of this many units.
bool add_span(std::size_t size) {
  if (used == usable && !make_usable()) return false;
  size_of_span[used / kSpan] = static_cast<std::uint8_t>(size);
  const std::size_t objects = kSpan / (size * kUnit);
  fresh[size] = {reserved + used, reserved + used + objects * size * kUnit};
  used += kSpan;
  return true;
}

void* allocate_small(std::size_t size) {
  if (Free* const first = free_lists[size]; first != nullptr) {
    free_lists[size] = first->next;
    return first;
  }
  Fresh& objects = fresh[size];
  if (objects.next == objects.end && !add_span(size)) return nullptr;
  void* const object = objects.next;
  objects.next += size * kUnit;
  return object;
}

}  // namespace

void* operator new(std::size_t size) {
  if (size == 0) size = 1;
  for (;;) {
    void* const object = size <= kSizes * kUnit ? allocate_small((size + kUnit - 1) / kUnit)
                                                : std::malloc(size);
    if (object != nullptr) return object;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* object) noexcept {
  const std::size_t offset =
      reinterpret_cast<std::uintptr_t>(object) - reinterpret_cast<std::uintptr_t>(reserved);
  if (offset >= used) {  // also what stands below
    std::free(object);
    return;
  }
  const std::size_t size = size_of_span[offset / kSpan];
  free_lists[size] = new (object) Free{free_lists[size]};
}

void operator delete(void* object, std::size_t) noexcept { ::operator delete(object); }
