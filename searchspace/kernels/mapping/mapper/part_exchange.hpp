// Exchanges among many parts of a graph, all equally far from each other. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/mapper/bisection.hpp"

namespace hamtune::mapper {

/// Lowers the weight cut between parts that take no more than `room[part]` vertices each.
///
/// Chains of moves: a vertex moves where it saves most or costs least; from the part that is now too
/// full, the next one; what the moves up to the best moment saved is kept (Kernighan and Lin 1970,
/// with more than two parts). Sizes and pulls of the vertices are left out of account.
///
/// Memory grows with the arcs and so does the time of a pass, not with vertices times parts.
///
/// Returns the weight that is still cut.
std::int64_t exchange_siblings(const PartGraph& graph, const std::vector<std::size_t>& room,
                               std::vector<std::uint32_t>& part);

}  // namespace hamtune::mapper
