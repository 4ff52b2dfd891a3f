#include "tests/fuzz/trace_reading.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "searchspace/kernels/trace/collective_messages.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"
#include "searchspace/kernels/trace/trace_summary.hpp"
#include "searchspace/kernels/trace/truncation.hpp"

namespace hamtune::fuzz {

namespace {

constexpr std::size_t kKeptIterations = 3;
constexpr std::size_t kMostRanks = 256;  // of those whose matrices are made, to stay quick

/// A file in memory that is written anew each time.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("trace", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "a file in memory can be made");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  void write(const std::uint8_t* data, std::size_t size) const {
    require(ftruncate(descriptor_, 0) == 0 &&
                pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size),
            "the file in memory can be written");
  }

 private:
  int descriptor_;
};

}  // namespace

void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

bool is_plain_line(const char* words) {
  const std::size_t length = std::strlen(words);
  return length > 0 && length < 4096 && std::none_of(words, words + length, [](char letter) {
           return static_cast<unsigned char>(letter) < ' ';
         });
}

void read_as_trace(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  file.write(data, size);
  try {
    const Trace trace = read_trace(file.path());
    summarize(trace);
    if (trace.ranks.size() <= kMostRanks) traffic_matrix(trace);
    describe_loops(trace);
    truncate_trace(file.path(), kKeptIterations);
  } catch (const TraceError& error) {
    require(is_plain_line(error.what()), "a trace is refused in one plain line");
  } catch (const CannotCut& error) {
    require(is_plain_line(error.what()), "what cannot be cut is said in one plain line");
  }
}

}  // namespace hamtune::fuzz
