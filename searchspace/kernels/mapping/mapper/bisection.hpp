// Multilevel bisection of a weighted graph with a pull of its own on every vertex. Plain C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/random.hpp"

namespace hamtune::mapper {

/// A graph to be split; arcs stand in both rows. The weights of all arcs and pulls together stay
/// below 2^31.
struct PartGraph {
  struct Arc {
    std::uint32_t to;
    std::int32_t weight;
  };
  std::vector<std::uint32_t> first;
  std::vector<Arc> arcs;
  std::vector<std::int32_t> size;  ///< of each vertex
  std::vector<std::int32_t> pull;  ///< what is saved when the vertex is in part 0, not in part 1

  std::size_t vertices() const { return size.size(); }
};

/// Splits the vertices in two: the size of part 0 lies from `least` to `most`, the weight cut less
/// the pulls that are followed is low.
///
/// Heavy-edge matching, greedy growing of part 0 on the coarsest graph, and Fiduccia-Mattheyses
/// passes on the way back (Karypis and Kumar 1998; Fiduccia and Mattheyses 1982). All vertices have
/// size 1. The best of so many tries.
///
/// Returns the part (0 or 1) of each vertex.
std::vector<std::uint8_t> split_graph(const PartGraph& graph, std::int32_t least, std::int32_t most,
                                      std::size_t tries, Random& random);

/// Lowers what a split with such bounds costs, in so many Fiduccia-Mattheyses passes at most.
void refine_split(const PartGraph& graph, std::int32_t least, std::int32_t most, std::size_t passes,
                  std::vector<std::uint8_t>& parts);

}  // namespace hamtune::mapper
