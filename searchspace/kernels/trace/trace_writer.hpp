// Writes the blocks of a trace (docs/trace-format.md): what ranks share once, and who has what.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "searchspace/kernels/trace/call_sharing.hpp"

namespace hamtune {

struct WrittenBlock {
  std::uint64_t compressed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;  // of calls
  std::uint64_t ranks = 0;       // that have it
};

/// A file of compressed blocks in which equal ones stand once.
class BlockFile {
 public:
  /// `descriptor` of a file that is empty and stays the caller's.
  explicit BlockFile(int descriptor);
  ~BlockFile();
  BlockFile(const BlockFile&) = delete;
  BlockFile& operator=(const BlockFile&) = delete;

  void begin();
  void append(const void* bytes, std::size_t size);
  /// Ends a block; returns its number, which is that of an equal one if there is one.
  std::size_t end(std::uint64_t operations = 0);

  std::uint64_t block_bytes() const { return size_; }
  std::vector<WrittenBlock> blocks;

 private:
  struct Stream;
  void release(bool last);
  void deflate(const void* bytes, std::size_t size, bool last);

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::unique_ptr<Stream> stream_;
  Bytes held_;  // of a small block all of it, until it is known to be new
  std::uint64_t size_ = 0;
  std::uint64_t compressed_ = 0;
  std::pair<std::uint64_t, std::uint64_t> hash_;
  long start_ = 0;
  std::map<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>, std::size_t> known_;
};

class TraceWriter {
 public:
  TraceWriter(int calls, int flops) : calls_(calls), flops_(flops) {}

  /// Adds encoded operations to those of a rank, which `end_rank` ends.
  ///
  /// Throws TraceError where the bytes are no operations.
  void feed(const std::uint8_t* bytes, std::size_t size);
  void end_rank();

  const std::vector<WrittenBlock>& calls() const { return calls_.blocks; }
  const std::vector<WrittenBlock>& flops() const { return flops_.blocks; }
  /// Which blocks each rank has, and its parties.
  const Bytes& table() const { return table_; }

 private:
  void store();

  std::unique_ptr<TakingApart> taking_;  // of the rank under way
  BlockFile calls_;
  BlockFile flops_;
  Bytes table_;
  std::int64_t ranks_ = 0;
};

}  // namespace hamtune
