// Small messages that SMPI has the ranks of a communicator send each other for itself, computed.
//
// Where a truncated trace is played, which is an estimate anyway, none of them is sent: on 16 ranks they
// would be as many as those of several iterations of a program. Their times follow from what each takes
// when it shares its cables with no other. Whole traces send them over a fluid network; beside packets,
// which are held against real runs, where nobody sends them, they cost nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "workers/simulator/express/kernel.hpp"

namespace hamtune::express {

/// A rank that takes part, while it waits in its call.
struct Participant {
  Actor* actor = nullptr;
  double time = 0;  // when it is there, s; later when it is through
  const void* from = nullptr;
  void* into = nullptr;
};

/// The participants in the order of their ranks, and what their messages take. A message sets out when both
/// its ends are ready for it, and the receiver goes on when it has arrived; the sender does at once.
class ComputedCollective {
 public:
  /// Where it is free, messages take no time and cross no cable.
  ComputedCollective(Machine& machine, std::vector<Participant>& ranks, bool is_free)
      : machine_(machine), ranks_(ranks), is_free_(is_free) {}

  std::vector<Participant>& ranks() { return ranks_; }

  /// Each rank receives from the one that is so far before it, where the first follows the last.
  void shift(std::size_t distance, std::size_t bytes);

  /// The first rank receives from all others.
  void gather(std::size_t bytes);

  /// From the first rank to all others along a binomial tree.
  void broadcast(std::size_t bytes);

 private:
  double send(const Participant& from, const Participant& to, std::size_t bytes);

  Machine& machine_;
  std::vector<Participant>& ranks_;
  bool is_free_;
};

/// Whether the kernel may compute messages of so many bytes: because they are to cost nothing, or because it
/// estimates and SMPI neither adds times of its own to them nor has their sender wait.
bool computes(Kernel& kernel, std::size_t bytes);

/// Called by all ranks of a communicator, which go on when `collective` says: the last of them calls it.
void take_part(Kernel& kernel, MPI_Comm communicator, const void* from, void* into,
               void (*collective)(ComputedCollective&));

}  // namespace hamtune::express
