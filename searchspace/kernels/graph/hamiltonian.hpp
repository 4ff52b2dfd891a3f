// Hamiltonian cycles by rotations. Plain C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

/// Looks for a Hamiltonian cycle by Posa's rotations (Posa, "Hamiltonian circuits in random graphs",
/// 1976), from another node each time until one is found or `restarts` are used up.
///
/// Returns the nodes in the order of the cycle, or, where none was found, of the longest path met
/// (it may then leave nodes out).
std::vector<Node> hamiltonian_walk(const Adjacency& adjacency, std::uint64_t seed,
                                   unsigned restarts);

}  // namespace hamtune
