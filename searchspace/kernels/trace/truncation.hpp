// Traces with fewer iterations of their loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/loops.hpp"

namespace hamtune {

/// A loop as people see it.
struct LoopSummary {
  std::size_t depth;  // 0 for a loop within no other
  std::size_t iterations;
  Regularity regularity;
  bool marked;
  double calls;  // of one iteration, all ranks together
};

/// The loops of a trace from three iterations on; of those within another, those of one iteration.
///
/// Throws CannotCut.
std::vector<LoopSummary> describe_loops(const Trace& trace);

/// A trace with fewer iterations, ready to be written.
struct Truncated {
  std::vector<std::vector<std::uint8_t>> blocks;  // of each rank
  std::vector<std::uint64_t> operations;          // of each rank
  std::vector<std::vector<double>> weights;       // as in Trace
  std::uint64_t whole_operations = 0;             // of all ranks in the whole trace
};

/// Keeps `kept` iterations of every loop, also of loops within these.
///
/// The first iteration kept of a loop counts once; what the loop takes in all is estimated from the
/// others, in which it has settled. What computations of the iterations left out took more or less
/// is added to those that are kept.
///
/// Throws CannotCut, also where there is no loop; TraceError.
Truncated truncate_trace(const std::string& path, std::size_t kept);

}  // namespace hamtune
