#include "searchspace/kernels/mapping/topology_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace hamtune {

namespace {

using Branch = TopologyTree::Branch;

/// Builds the branch over the leaves from `begin` to `end`; returns its number, or none when nothing
/// is held there.
class RegularBuilder {
 public:
  RegularBuilder(const std::vector<std::uint32_t>& arity, const std::vector<std::size_t>& holds)
      : arity_(arity), holds_(holds) {}

  TopologyTree build() {
    std::size_t leaves = 1;
    for (const std::uint32_t children : arity_) leaves *= children;
    if (leaves != holds_.size()) throw std::invalid_argument("the tree has other leaves than there are");
    tree_.branches.emplace_back();
    fill(0, 0, 0, holds_.size());
    return std::move(tree_);
  }

 private:
  void fill(std::uint32_t branch, std::size_t level, std::size_t begin, std::size_t end) {
    std::size_t held = 0;
    for (std::size_t leaf = begin; leaf < end; ++leaf) held += holds_[leaf];
    tree_.branches[branch].size = held;
    if (level == arity_.size()) {
      tree_.branches[branch].leaf = static_cast<std::uint32_t>(begin);
      return;
    }
    const std::size_t width = (end - begin) / arity_[level];
    for (std::size_t from = begin; from < end; from += width) {
      if (std::all_of(holds_.begin() + static_cast<std::ptrdiff_t>(from),
                      holds_.begin() + static_cast<std::ptrdiff_t>(from + width),
                      [](std::size_t each) { return each == 0; }))
        continue;
      const auto child = static_cast<std::uint32_t>(tree_.branches.size());
      tree_.branches.emplace_back();
      tree_.branches[branch].children.push_back(child);
      fill(child, level + 1, from, from + width);
    }
  }

  const std::vector<std::uint32_t>& arity_;
  const std::vector<std::size_t>& holds_;
  TopologyTree tree_;
};

/// A join of two clusters at a distance.
struct Join {
  std::uint32_t one;
  std::uint32_t other;
  float distance;
};

/// Joins by mean distance with the nearest-neighbour chain, which needs no search for the closest
/// pair: two clusters that are each other's nearest are joined whenever they are met.
std::vector<Join> join_all(std::vector<float>& distance, std::size_t count) {
  std::vector<Join> joins;
  std::vector<std::uint32_t> size(count, 1);
  std::vector<std::uint32_t> alive(count);
  std::iota(alive.begin(), alive.end(), 0U);
  std::vector<std::uint32_t> chain;
  const auto at = [&](std::size_t a, std::size_t b) -> float& { return distance[a * count + b]; };
  while (alive.size() > 1) {
    if (chain.empty()) chain.push_back(alive.front());
    const std::uint32_t tip = chain.back();
    const std::uint32_t previous = chain.size() > 1 ? chain[chain.size() - 2] : tip;
    std::uint32_t nearest = previous;
    float shortest = previous == tip ? std::numeric_limits<float>::max() : at(tip, previous);
    for (const std::uint32_t other : alive)
      if (other != tip && at(tip, other) < shortest) {
        nearest = other;
        shortest = at(tip, other);
      }
    if (nearest != previous || chain.size() == 1) {
      chain.push_back(nearest);
      continue;
    }
    chain.resize(chain.size() - 2);
    const auto [kept, gone] = std::minmax(tip, nearest);
    joins.push_back({kept, gone, shortest});
    alive.erase(std::lower_bound(alive.begin(), alive.end(), gone));
    const auto mine = static_cast<float>(size[kept]);
    const auto its = static_cast<float>(size[gone]);
    for (const std::uint32_t other : alive)
      if (other != kept) {
        const float mean = (mine * at(kept, other) + its * at(gone, other)) / (mine + its);
        at(kept, other) = at(other, kept) = mean;
      }
    size[kept] += size[gone];
  }
  return joins;
}

/// Copies the branch `from` of a loose forest below `into` of a tree, root first.
std::size_t settle(const std::vector<Branch>& loose, std::uint32_t from, TopologyTree& tree,
                   std::uint32_t into) {
  tree.branches[into].leaf = loose[from].leaf;
  if (loose[from].children.empty()) return tree.branches[into].size = loose[from].size;
  std::size_t held = 0;
  for (const std::uint32_t child : loose[from].children) {
    const auto branch = static_cast<std::uint32_t>(tree.branches.size());
    tree.branches.emplace_back();
    tree.branches[into].children.push_back(branch);
    held += settle(loose, child, tree, branch);
  }
  return tree.branches[into].size = held;
}

class CoordinateBisection {
 public:
  CoordinateBisection(const GridHops& grid, const std::vector<std::size_t>& holds)
      : grid_(grid), holds_(holds) {}

  TopologyTree build(std::vector<std::uint32_t> hosts) {
    tree_.branches.emplace_back();
    fill(0, hosts.begin(), hosts.end());
    return std::move(tree_);
  }

 private:
  using At = std::vector<std::uint32_t>::iterator;

  std::size_t fill(std::uint32_t branch, At begin, At end) {
    if (end - begin == 1) {
      tree_.branches[branch].leaf = *begin;
      return tree_.branches[branch].size = holds_[*begin];
    }
    const std::size_t axis = longest(begin, end);
    std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
      const std::int32_t one = grid_.place(a)[axis];
      const std::int32_t other = grid_.place(b)[axis];
      return one != other ? one < other : a < b;
    });
    std::size_t held = 0;
    const At middle = begin + (end - begin) / 2;
    for (const auto& [from, to] : {std::pair{begin, middle}, std::pair{middle, end}}) {
      const auto child = static_cast<std::uint32_t>(tree_.branches.size());
      tree_.branches.emplace_back();
      tree_.branches[branch].children.push_back(child);
      held += fill(child, from, to);
    }
    return tree_.branches[branch].size = held;
  }

  std::size_t longest(At begin, At end) const {
    std::size_t best = 0;
    std::int32_t widest = -1;
    for (std::size_t axis = 0; axis < grid_.extents().size(); ++axis) {
      std::int32_t low = std::numeric_limits<std::int32_t>::max();
      std::int32_t high = 0;
      for (At host = begin; host != end; ++host) {
        low = std::min(low, grid_.place(*host)[axis]);
        high = std::max(high, grid_.place(*host)[axis]);
      }
      if (high - low > widest) {
        widest = high - low;
        best = axis;
      }
    }
    return best;
  }

  const GridHops& grid_;
  const std::vector<std::size_t>& holds_;
  TopologyTree tree_;
};

class TreeMapping {
 public:
  TreeMapping(const TopologyTree& tree, std::int32_t seed, std::size_t nodes)
      : tree_(tree), seed_(seed), leaf_(nodes) {}

  void map(const WeightedGraph& graph, const std::vector<std::uint32_t>& names,
           std::uint32_t branch) {
    const Branch* here = &tree_.branches[branch];
    while (here->children.size() == 1) here = &tree_.branches[here->children.front()];
    if (here->children.empty()) {
      for (const std::uint32_t name : names) leaf_[name] = here->leaf;
      return;
    }
    std::vector<std::size_t> sizes;
    for (const std::uint32_t child : here->children) sizes.push_back(tree_.branches[child].size);
    const std::vector<std::uint32_t> part = partition(graph, sizes, seed_);
    std::vector<std::vector<std::uint32_t>> members(sizes.size());
    for (std::uint32_t node = 0; node < part.size(); ++node) members[part[node]].push_back(node);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<std::uint32_t> own;
      for (const std::uint32_t node : members[i]) own.push_back(names[node]);
      const std::uint32_t child = here->children[i];
      if (tree_.branches[child].children.empty()) {
        for (const std::uint32_t name : own) leaf_[name] = tree_.branches[child].leaf;
      } else {
        map(induced(graph, members[i], number_), own, child);
      }
    }
  }

  std::vector<std::uint32_t> leaves() { return std::move(leaf_); }

 private:
  const TopologyTree& tree_;
  std::int32_t seed_;
  std::vector<std::uint32_t> leaf_;
  std::vector<std::uint32_t> number_;
};

}  // namespace

TopologyTree regular_tree(const std::vector<std::uint32_t>& arity,
                          const std::vector<std::size_t>& holds) {
  return RegularBuilder(arity, holds).build();
}

TopologyTree joined_tree(const HostHops& hops, const std::vector<std::uint32_t>& hosts,
                         const std::vector<std::size_t>& holds) {
  const std::size_t count = hosts.size();
  std::vector<float> distance(count * count);
  std::visit(
      [&](const auto& between) {
        for (std::size_t a = 0; a < count; ++a)
          for (std::size_t b = 0; b < count; ++b)
            distance[a * count + b] = static_cast<float>(between(hosts[a], hosts[b]));
      },
      hops);
  // The branches as they come up, and which of them each cluster is now.
  std::vector<Branch> loose(count);
  std::vector<float> height(count, 0.0F);
  std::vector<std::uint32_t> current(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    loose[i].leaf = hosts[i];
    loose[i].size = holds[hosts[i]];
    current[i] = i;
  }
  for (const Join& join : join_all(distance, count)) {
    Branch above;
    for (const std::uint32_t cluster : {join.one, join.other}) {
      const std::uint32_t below = current[cluster];
      const bool same = !loose[below].children.empty() && height[below] == join.distance;
      if (same)
        above.children.insert(above.children.end(), loose[below].children.begin(),
                              loose[below].children.end());
      else
        above.children.push_back(below);
    }
    current[join.one] = static_cast<std::uint32_t>(loose.size());
    loose.push_back(std::move(above));
    height.push_back(join.distance);
  }
  TopologyTree tree;
  tree.branches.emplace_back();
  settle(loose, static_cast<std::uint32_t>(loose.size() - 1), tree, 0);
  return tree;
}

TopologyTree bisection_tree(const GridHops& grid, const std::vector<std::uint32_t>& hosts,
                            const std::vector<std::size_t>& holds) {
  return CoordinateBisection(grid, holds).build(hosts);
}

std::vector<std::uint32_t> map_onto_tree(const WeightedGraph& graph, const TopologyTree& tree,
                                         std::int32_t seed) {
  std::vector<std::uint32_t> names(graph.nodes());
  std::iota(names.begin(), names.end(), 0U);
  TreeMapping mapping(tree, seed, graph.nodes());
  mapping.map(graph, names, 0);
  return mapping.leaves();
}

}  // namespace hamtune
