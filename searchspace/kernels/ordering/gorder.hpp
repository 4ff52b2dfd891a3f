// Gorder: nodes with common neighbours get neighbouring numbers. Plain C++17.
#pragma once

#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

/// The greedy algorithm of Wei, Yu, Lu and Lin, "Speedup graph processing by graph ordering"
/// (SIGMOD 2016): the next node is the one with the highest score towards the last `window` nodes,
/// where the score of two nodes counts their common neighbours and the arcs between them (a cable
/// is two arcs). It starts at the node of the highest degree; ties go to the lowest id.
std::vector<Node> gorder(const Adjacency& adjacency, std::size_t window);

}  // namespace hamtune
