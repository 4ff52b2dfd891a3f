// The blocks of a trace as they are written: what ranks share, and what each has of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/trace_container.hpp"

namespace hamtune {

/// What a rank has of the blocks of version 2.
struct Entry {
  std::size_t calls;
  std::size_t flops;  // 0 where it computes nothing, else the number of the block from 1 on
  std::vector<std::int32_t> parties;
};

/// A trace taken apart.
struct SharedParts {
  std::vector<Bytes> calls;
  std::vector<std::vector<double>> flops = {{}};
  std::vector<Entry> entries;
  std::vector<std::uint64_t> operations;  // of each block of calls

  /// The operations of a rank as a whole.
  Bytes rank(std::size_t number) const;
};

/// What is in the file of version 2.
SharedParts read_parts(Opened& opened);

/// A trace of any version, taken apart.
///
/// Throws TraceError.
SharedParts read_parts(const std::string& path);

/// A list of flops, and the table of a trace.
std::vector<double> inflate_flops(File& file, const Block& block);
std::vector<Entry> read_table(File& file, const Layout& layout);

}  // namespace hamtune
