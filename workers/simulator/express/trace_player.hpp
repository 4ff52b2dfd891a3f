// The operations of a trace, played without the stack of their rank where messages go as packets.
//
// A rank on a stack costs a switch each time that it waits, and touches kilobytes that other ranks have
// pushed out of the caches since. The messages of a trace need nothing of SMPI either: its requests hold
// what datatypes, Fortran and one-sided communication need. So a rank stands behind its trace as a state
// machine, and what needs SMPI, such as collectives that are not expanded, is left to its stack. The order in which ranks go on
// is that of ranks on stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"
#include "workers/simulator/simgrid/compat.hpp"

namespace hamtune::express {

/// How far a rank has come in its trace.
struct Position {
  std::size_t operation = 0;
  std::size_t next_mark = 0;
  /// Since when, s, nothing is left to the rank but requests that it has freed. MPI ends without those
  /// whose other end never comes.
  std::optional<double> only_freed_since;
};

class TracePlayer {
 public:
  virtual ~TracePlayer() = default;

  /// Called on the rank's stack. Returns true when the operation at the position needs that, after which
  /// the position has to be moved; false at the end of the trace. Throws what operations do.
  virtual bool play() = 0;

  /// The request of a slot is the stack's.
  virtual void leave_to_stack(std::uint32_t slot) = 0;
};

/// What a rank plays, from the position on. All of it must outlive the player; `at_mark`, where it is set, is
/// called at every mark of the trace. The stack adds communicators as the trace numbers them.
struct Score {
  const RankTrace& trace;
  Position& position;
  const std::vector<MPI_Comm>& communicators;
  const std::function<void()>& at_mark;
};

/// Null where messages do not go as packets.
std::unique_ptr<TracePlayer> make_player(const Score& score);

}  // namespace hamtune::express
