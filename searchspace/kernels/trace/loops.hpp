// Loops that all ranks of a trace go through together.
#pragma once

#include <cstddef>
#include <vector>

#include "searchspace/kernels/trace/cuts.hpp"

namespace hamtune {

/// How much the iterations of a loop have in common in each rank.
enum class Regularity : std::uint8_t {
  exact,   // the same calls with the same arguments
  sizes,   // the same but for the sizes of messages
  shape,   // the same operations on the same communicators
  uneven,  // marked by the program, each different
};

struct Loop {
  std::vector<Cut> cuts;  // where iterations begin, and where the last one ends
  Regularity regularity;
  bool marked;  // by the program (MPI_Pcontrol, level 1), rather than found

  std::size_t iterations() const { return cuts.size() - 1; }
};

/// Finds the loops between two cuts, in order, none within another; those within an iteration are
/// found by another call. No call of a loop makes or frees a communicator.
///
/// A period is sought in the rank with most calls. Where the iterations begin in the other ranks
/// follows from the messages and collectives that tie them to it (Mattern 1989, consistent cuts);
/// all ranks must then repeat themselves alike.
///
/// `least` is the number of iterations from which on a repetition is a loop.
std::vector<Loop> find_loops(const AllCalls& all, const Cut& first, const Cut& last,
                             std::size_t least);

/// As `find_loops` for the whole trace; the program's marks, where it has any, come first.
std::vector<Loop> find_outer_loops(const AllCalls& all, std::size_t least);

/// The cut before all calls.
Cut beginning(const AllCalls& all);

/// The cut before the last call of each rank, finalize.
Cut ending(const AllCalls& all);

}  // namespace hamtune
