// Networks of at most 64 nodes as bit masks, and their canonical forms. Plain C++17.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hamtune {

/// A set of nodes.
using NodeMask = std::uint64_t;

inline unsigned lowest(NodeMask mask) { return static_cast<unsigned>(__builtin_ctzll(mask)); }
inline unsigned count(NodeMask mask) { return static_cast<unsigned>(__builtin_popcountll(mask)); }

struct SmallGraph {
  static constexpr std::size_t kMostNodes = 64;

  unsigned nodes = 0;
  std::array<NodeMask, kMostNodes> neighbors{};

  explicit SmallGraph(unsigned count_of_nodes) : nodes(count_of_nodes) {}

  NodeMask all() const { return nodes == 64 ? ~NodeMask{0} : (NodeMask{1} << nodes) - 1; }
  unsigned degree(unsigned node) const { return count(neighbors[node]); }
  void flip(unsigned u, unsigned v) {
    neighbors[u] ^= NodeMask{1} << v;
    neighbors[v] ^= NodeMask{1} << u;
  }

  /// The nodes that some node of a set is joined with.
  NodeMask beside(NodeMask set) const {
    NodeMask found = 0;
    for (; set != 0; set &= set - 1) found |= neighbors[lowest(set)];
    return found;
  }

  /// The nodes at most `hops` from a node.
  NodeMask within(unsigned node, unsigned hops) const {
    NodeMask reached = NodeMask{1} << node;
    NodeMask latest = reached;
    for (unsigned hop = 0; hop < hops && latest != 0; ++hop) {
      latest = beside(latest) & ~reached;
      reached |= latest;
    }
    return reached;
  }
};

/// What two networks have in common exactly if they are the same but for the names of the nodes:
/// the least list of edges over all numberings that a colour refinement leaves open (McKay,
/// "Practical graph isomorphism", 1981; of his prunings only the return to where the way to an
/// equal numbering branched off). Degrees are at most 4.
class CanonicalForm {
 public:
  using Colors = std::array<std::uint8_t, SmallGraph::kMostNodes>;
  using Code = std::vector<std::uint8_t>;

  using Labels = std::array<std::uint64_t, SmallGraph::kMostNodes>;

  /// Nodes of different labels count as different.
  Code of(const SmallGraph& graph, const Labels& labels) {
    graph_ = &graph;
    best_.clear();
    Colors colors{};
    for (unsigned node = 0; node < graph.nodes; ++node) keys_[node] = labels[node];
    rank(colors);
    search(colors, 0);
    graph_ = nullptr;  // it may end before this does
    return best_;
  }

 private:
  /// Colours nodes by their keys: the number of nodes with a lesser one. Returns how many colours.
  unsigned rank(Colors& colors) {
    const unsigned nodes = graph_->nodes;
    for (unsigned node = 0; node < nodes; ++node) order_[node] = static_cast<std::uint8_t>(node);
    std::sort(order_.begin(), order_.begin() + nodes,
              [this](std::uint8_t a, std::uint8_t b) { return keys_[a] < keys_[b]; });
    unsigned used = 0;
    for (unsigned place = 0; place < nodes; ++place) {
      const bool is_new = place == 0 || keys_[order_[place]] != keys_[order_[place - 1]];
      if (is_new) ++used;
      colors[order_[place]] =
          is_new ? static_cast<std::uint8_t>(place) : colors[order_[place - 1]];
    }
    return used;
  }

  /// Splits colours by the colours of the neighbours, at most four of them, until nothing changes.
  unsigned refine(Colors& colors) {
    unsigned used = 0;
    for (;;) {
      for (unsigned node = 0; node < graph_->nodes; ++node) {
        std::array<std::uint8_t, 4> around{};  // in ascending order, then zeros
        std::size_t neighbors = 0;
        for (NodeMask rest = graph_->neighbors[node]; rest != 0; rest &= rest - 1) {
          const auto color = static_cast<std::uint8_t>(colors[lowest(rest)] + 1);
          std::size_t place = neighbors++;
          for (; place > 0 && around[place - 1] > color; --place) around[place] = around[place - 1];
          around[place] = color;
        }
        std::uint64_t key = colors[node];
        for (const std::uint8_t color : around) key = key << 8U | color;
        keys_[node] = key;
      }
      const unsigned now = rank(colors);
      if (now == used || now == graph_->nodes) return now;
      used = now;
    }
  }

  /// Tries the nodes of the smallest colour in turn; returns the level on which to go on.
  std::size_t search(Colors colors, std::size_t level) {
    if (refine(colors) == graph_->nodes) return compare(colors, level);
    std::array<std::uint8_t, SmallGraph::kMostNodes> sizes{};
    for (unsigned node = 0; node < graph_->nodes; ++node) ++sizes[colors[node]];
    unsigned cell = 0;
    std::uint8_t least = 0xFF;
    for (unsigned color = 0; color < graph_->nodes; ++color) {
      if (sizes[color] < 2 || sizes[color] >= least) continue;
      least = sizes[color];
      cell = color;
    }
    for (unsigned chosen = 0; chosen < graph_->nodes; ++chosen) {
      if (colors[chosen] != cell) continue;
      Colors split = colors;
      for (unsigned node = 0; node < graph_->nodes; ++node)
        if (colors[node] == cell && node != chosen) ++split[node];
      way_[level] = static_cast<std::uint8_t>(chosen);
      const std::size_t back = search(split, level + 1);
      if (back < level) return back;
    }
    return level;
  }

  /// Compares a numbering with the best one. If they are equal, an automorphism maps the choices
  /// that led to one onto the other's: where they differ first, this choice has no more to offer.
  std::size_t compare(const Colors& numbers, std::size_t level) {
    code_.clear();
    std::array<std::uint8_t, SmallGraph::kMostNodes> at{};
    for (unsigned node = 0; node < graph_->nodes; ++node)
      at[numbers[node]] = static_cast<std::uint8_t>(node);
    for (unsigned number = 0; number < graph_->nodes; ++number) {
      const std::size_t first = code_.size();
      for (NodeMask rest = graph_->neighbors[at[number]]; rest != 0; rest &= rest - 1)
        if (numbers[lowest(rest)] > number) code_.push_back(numbers[lowest(rest)]);
      std::sort(code_.begin() + static_cast<std::ptrdiff_t>(first), code_.end());
      code_.push_back(0xFF);
    }
    if (best_.empty() || code_ < best_) {
      best_ = code_;
      best_way_ = way_;
      return level;
    }
    if (code_ != best_) return level;
    const auto differs = std::mismatch(way_.begin(), way_.end(), best_way_.begin());
    return std::min(level, static_cast<std::size_t>(differs.first - way_.begin()));
  }

  const SmallGraph* graph_ = nullptr;
  std::array<std::uint64_t, SmallGraph::kMostNodes> keys_{};
  std::array<std::uint8_t, SmallGraph::kMostNodes> order_{};
  std::array<std::uint8_t, SmallGraph::kMostNodes> way_{};       // nodes chosen, by level
  std::array<std::uint8_t, SmallGraph::kMostNodes> best_way_{};  // the same, of the best numbering
  Code best_;
  Code code_;
};

}  // namespace hamtune
