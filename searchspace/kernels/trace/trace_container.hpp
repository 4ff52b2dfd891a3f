// The container of a trace: its header and where its blocks are (docs/trace-format.md).
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/call_sharing.hpp"
#include "searchspace/kernels/trace/trace.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {

constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kWholeVersion = 1;  // a block for each rank, with all that it does

struct Block {
  std::uint64_t compressed;
  std::uint64_t bytes;
  std::uint64_t operations;
};

/// What a header says of the blocks.
struct Layout {
  std::uint64_t ranks = 0;
  std::vector<Block> calls;          // of version 1 one for each rank
  std::vector<std::uint64_t> users;  // ranks that have each of them
  std::vector<Block> flops;
  Block table{0, 0, 0};
};

/// A file that knows how much of it is left.
class File {
 public:
  explicit File(const std::string& path);

  std::uint64_t left() const { return left_; }

  void read(void* into, std::uint64_t bytes);
  void skip(std::uint64_t bytes);
  std::uint32_t read_u32();

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uint64_t left_ = 0;
};

/// A trace from its header up to its first block.
struct Opened {
  File file;
  Trace trace;
  std::uint32_t version;
  Layout layout;
};

/// Reads the header and checks it against the size of the file.
///
/// Throws TraceError.
Opened open_trace(const std::string& path);

/// Inflates the block that comes next in the file.
///
/// Throws TraceError where it is damaged or not as long as declared.
Bytes inflate_block(File& file, const Block& block);

/// Does something and tells, if it fails, with what.
template <typename Act>
void within(const char* what, std::size_t number, const Act& act) {
  try {
    act();
  } catch (const TraceError& error) {
    throw TraceError(std::string(what) + " " + std::to_string(number) + " of the trace: " + error.what());
  }
}

}  // namespace hamtune
