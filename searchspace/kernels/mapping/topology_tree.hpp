// The hierarchy of a machine as a tree whose leaves are hosts or cores. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/partition.hpp"

namespace hamtune {

/// A tree; node 0 is the root.
struct TopologyTree {
  struct Branch {
    std::vector<std::uint32_t> children;  ///< empty for a leaf
    std::uint32_t leaf = 0;               ///< what a leaf stands for
    std::size_t size = 1;                 ///< what the leaves below hold together
  };
  std::vector<Branch> branches;
};

/// The tree of a given arity from the root to the leaves, without the leaves that hold nothing. Throws
/// std::invalid_argument where `holds` has not one entry a leaf.
TopologyTree regular_tree(const std::vector<std::uint32_t>& arity,
                          const std::vector<std::size_t>& holds);

/// The neighbour-joining tree of hosts (Wu, Xiong and Lan 2015, section 3.1.1, after Subramoni et
/// al.): the closest are joined, and stand at the mean of their distances from the others. Joins at
/// one distance make one branch, so that the levels of a fat tree are found again. O(hosts^2).
TopologyTree joined_tree(const HostHops& hops, const std::vector<std::uint32_t>& hosts,
                         const std::vector<std::size_t>& holds);

/// The tree of recursive coordinate bisection of a set of hosts, along its longest extent (Wu, Xiong and Lan
/// 2015, algorithm 2).
TopologyTree bisection_tree(const GridHops& grid, const std::vector<std::uint32_t>& hosts,
                            const std::vector<std::size_t>& holds);

/// Algorithm 1 of Wu, Xiong and Lan (2015): partitions the graph among the branches of the tree, and
/// so on down to the leaves. The tree holds exactly the nodes of the graph. Returns the leaf of each
/// node.
std::vector<std::uint32_t> map_onto_tree(const WeightedGraph& graph, const TopologyTree& tree,
                                         std::int32_t seed);

}  // namespace hamtune
