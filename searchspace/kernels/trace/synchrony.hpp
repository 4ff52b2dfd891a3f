// Whether the ranks of a trace wait for each other.
#pragma once

#include "searchspace/kernels/trace/cuts.hpp"

namespace hamtune {

/// Whether messages and collectives between two cuts lead from every rank to every other.
///
/// An iteration of which that is true holds the ranks together: none can be further ahead than the chain of messages
/// to it is long. In a pipeline nothing leads back, and the first rank goes through all iterations as fast as it
/// computes. A collective counts as leading from each of its members to each, also one with a root.
bool synchronises(const AllCalls& all, const Cut& first, const Cut& last);

}  // namespace hamtune
