// All connected cubic networks of a girth, each once. Plain C++17.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/network/small_graph.hpp"

namespace hamtune {

/// Visits every connected network of degree 3 with at least that girth, up to isomorphism.
///
/// Around a node such a network is a tree down to (girth - 1) / 2 hops. The tree, with its leaves
/// joined in every way, gives the roots of the search: few, up to isomorphism. They are filled up
/// node by node until there are many. From there a backtracking search goes on, always at the node
/// with the fewest choices; nodes without an edge are alike, so that only the first of them is
/// tried. For an odd girth the joins of leaves are the shortest cycles through node 0, and no other
/// node may lie on more of them: few nodes of a network can be node 0 then. What is left of
/// repetition shows in the canonical form. Backtracking with a girth is the principle of Meringer,
/// "Fast generation of regular graphs and construction of cages" (1999); order and pruning are ours.
class CubicSearch {
 public:
  static constexpr unsigned kMostNodes = 42;
  static constexpr unsigned kLeastGirth = 3;
  static constexpr unsigned kMostGirth = 8;

  struct Found {
    SmallGraph graph;
    unsigned distances = 0;  // sum over ordered pairs
    unsigned diameter = 0;
  };

  CubicSearch(unsigned nodes, unsigned girth) : nodes_(nodes), girth_(girth) {
    if (nodes < 4 || nodes > kMostNodes || nodes % 2 != 0)
      throw std::invalid_argument("cubic networks to list have an even number of nodes, 4 to 42");
    if (girth < kLeastGirth || girth > kMostGirth)
      throw std::invalid_argument("the girth is from 3 to 8");
    plant();
    join_leaves();
    std::vector<Partial> more;
    while (!roots_.empty() && roots_.size() < kManyRoots && fill_one_node(roots_, more))
      roots_ = std::move(more);
    levels_.push_back({std::move(roots_), 0});
    leave_finished();
  }

  std::size_t code_length() const { return std::size_t{5} * nodes_ / 2; }
  std::size_t roots() const { return levels_.front().partials.size(); }
  std::size_t done() const { return levels_.front().next; }
  bool finished() const { return done() == roots(); }
  const std::set<CanonicalForm::Code>& known() const { return known_; }
  std::uint64_t tried() const { return tried_; }

  /// Where the search stands: how many roots are done, and how many parts of the root under way.
  std::vector<std::size_t> place() const {
    std::vector<std::size_t> place;
    for (const Level& level : levels_) place.push_back(level.next);
    return place;
  }

  /// Goes on from a place, up to which `known` were found.
  void resume(const std::vector<std::size_t>& place, std::uint64_t tried,
              std::set<CanonicalForm::Code> known) {
    levels_.resize(1);
    for (std::size_t depth = 0; depth < place.size(); ++depth) {
      if (depth > 0) split();
      if (place[depth] > levels_.back().partials.size())
        throw std::invalid_argument("this is no place in the search");
      levels_.back().next = place[depth];
    }
    leave_finished();
    tried_ = tried;
    known_ = std::move(known);
  }

  /// Searches from the next roots until at least so many edges were tried; returns what is new.
  std::vector<Found> run(std::uint64_t edges) {
    found_.clear();
    const std::uint64_t last = tried_ + edges;
    while (!finished() && tried_ < last) {
      now_ = levels_.back().partials[levels_.back().next];
      most_cycles_ = now_.cycles[0];
      last_tried_ = tried_ + kMostEdges;
      next_node();
      if (tried_ > last_tried_) {
        split();
      } else {
        ++levels_.back().next;
        leave_finished();
      }
    }
    return std::move(found_);
  }

 private:
  using Cycles = std::array<std::uint8_t, SmallGraph::kMostNodes>;
  using Labels = CanonicalForm::Labels;

  static constexpr std::size_t kManyRoots = 1000;
  static constexpr std::uint64_t kMostEdges = 1'000'000;  // tried from a root; then it is split
  static constexpr unsigned kNobody = 64;

  struct Partial {
    SmallGraph graph{0};
    NodeMask open = 0;     // nodes with fewer than three edges
    NodeMask touched = 0;  // nodes with an edge
    Cycles cycles{};       // through each node, of the length of an odd girth
  };

  /// Roots, or the parts of one of them.
  struct Level {
    std::vector<Partial> partials;
    std::size_t next = 0;
  };

  /// Goes on with the parts of the root at hand.
  void split() {
    if (finished()) throw std::invalid_argument("this is no place in the search");
    std::vector<Partial> parts;
    fill_one_node({levels_.back().partials[levels_.back().next]}, parts);
    levels_.push_back({std::move(parts), 0});
    leave_finished();
  }

  void leave_finished() {
    while (levels_.size() > 1 && levels_.back().next == levels_.back().partials.size()) {
      levels_.pop_back();
      ++levels_.back().next;
    }
  }

  bool odd() const { return girth_ % 2 != 0; }
  unsigned depth() const { return (girth_ - 1) / 2; }

  /// The tree around node 0: node v > 3 hangs on node (v - 2) / 2, nodes 1, 2, 3 on node 0.
  void plant() {
    const unsigned tree = 3 * (1U << depth()) - 2;
    leaves_ = 0;
    for (unsigned node = 3 * (1U << (depth() - 1)) - 2; node < tree && tree <= nodes_; ++node)
      leaves_ |= NodeMask{1} << node;
    if (tree > nodes_) return;  // no such network
    Partial start;
    start.graph = SmallGraph(nodes_);
    start.open = start.graph.all();
    for (unsigned node = 1; node < tree; ++node)
      link(start, node, node <= 3 ? 0 : (node - 2) / 2);
    for (unsigned node = 0; node < tree; ++node) {
      unsigned hops = 0;
      for (unsigned at = node; at != 0; at = at <= 3 ? 0 : (at - 2) / 2) ++hops;
      hops_[node] = hops + 1;
    }
    roots_.push_back(start);
  }

  static void link(Partial& partial, unsigned u, unsigned v) {
    partial.graph.flip(u, v);
    partial.touched |= NodeMask{1} << u | NodeMask{1} << v;
    for (const unsigned end : {u, v})
      if (partial.graph.degree(end) == 3) partial.open &= ~(NodeMask{1} << end);
  }

  /// Links two nodes and counts the shortest cycles that this closes; false when some node is then
  /// on more of them than `most`.
  bool link_counted(Partial& partial, unsigned u, unsigned v, unsigned most) const {
    bool fits = true;
    if (odd()) {
      std::array<NodeMask, kMostGirth> layers{};
      layers[0] = NodeMask{1} << u;
      NodeMask reached = layers[0];
      for (unsigned hop = 1; hop < girth_; ++hop) {
        layers[hop] = partial.graph.beside(layers[hop - 1]) & ~reached;
        reached |= layers[hop];
      }
      if ((layers[girth_ - 1] >> v & 1U) != 0)
        count_paths(partial.graph, layers, v, girth_ - 1, partial.cycles);
      for (unsigned node = 0; node < nodes_; ++node) fits = fits && partial.cycles[node] <= most;
    }
    link(partial, u, v);
    return fits;
  }

  /// Adds to each node the shortest paths through it from layer 0 to `node`; returns their number.
  unsigned count_paths(const SmallGraph& graph, const std::array<NodeMask, kMostGirth>& layers,
                       unsigned node, unsigned hop, Cycles& cycles) const {
    unsigned paths = hop == 0 ? 1 : 0;
    if (hop > 0)
      for (NodeMask rest = graph.neighbors[node] & layers[hop - 1]; rest != 0; rest &= rest - 1)
        paths += count_paths(graph, layers, lowest(rest), hop - 1, cycles);
    cycles[node] = static_cast<std::uint8_t>(cycles[node] + paths);
    return paths;
  }

  /// What a node may be joined with: too near ones would close too short a cycle.
  NodeMask choices(const Partial& partial, unsigned node) const {
    NodeMask near = partial.graph.within(node, girth_ - 2);
    if (leaves_ >> node & 1U) near |= leaves_;
    return partial.open & ~near;
  }

  /// Nodes without an edge are alike: of these the first one is left.
  NodeMask unlike(const Partial& partial, NodeMask choices) const {
    const NodeMask fresh = choices & ~partial.touched;
    return (choices & partial.touched) | (fresh & (~fresh + 1));
  }

  /// Nodes without an edge are alike, so their numbers may tell them apart: it spares the search
  /// for the canonical form all their permutations.
  Labels labels(const Partial& partial) const {
    Labels found{};
    for (unsigned node = 0; node < nodes_; ++node)
      found[node] = std::uint64_t{hops_[node]} << 8U | partial.cycles[node];
    std::uint64_t number = 1;
    for (NodeMask rest = partial.open & ~partial.touched; rest != 0; rest &= rest - 1)
      found[lowest(rest)] = number++ << 32U;
    return found;
  }

  /// Adds a partial network unless one like it is there.
  void keep(std::vector<Partial>& all, std::set<CanonicalForm::Code>& codes,
            const Partial& partial) {
    if (codes.insert(form_.of(partial.graph, labels(partial))).second) all.push_back(partial);
  }

  /// Joins leaves of the tree in all ways, edge by edge.
  void join_leaves() {
    if (!odd()) return;
    std::vector<Partial> latest = roots_;
    while (!latest.empty()) {
      std::vector<Partial> next;
      std::set<CanonicalForm::Code> codes;
      for (const Partial& partial : latest)
        for (NodeMask from = leaves_ & partial.open; from != 0; from &= from - 1) {
          const unsigned u = lowest(from);
          NodeMask to = partial.open & leaves_ & ~partial.graph.within(u, girth_ - 2);
          to = to >> u << u;  // each pair once
          for (; to != 0; to &= to - 1) {
            Partial more = partial;
            link_counted(more, u, lowest(to), 0xFF);
            keep(next, codes, more);
          }
        }
      roots_.insert(roots_.end(), next.begin(), next.end());
      latest = std::move(next);
    }
    roots_.erase(std::remove_if(roots_.begin(), roots_.end(),
                                [](const Partial& partial) {
                                  return *std::max_element(partial.cycles.begin(),
                                                           partial.cycles.end()) >
                                         partial.cycles[0];
                                }),
                 roots_.end());
  }

  /// The touched open node with the fewest ways to fill it up; kNobody when there is none, `dead`
  /// when some node cannot be filled up.
  unsigned narrowest(const Partial& partial, bool& dead) const {
    unsigned best = kNobody;
    unsigned least = ~0U;
    dead = false;
    for (NodeMask rest = partial.open & partial.touched; rest != 0; rest &= rest - 1) {
      const unsigned node = lowest(rest);
      const NodeMask possible = choices(partial, node);
      const unsigned needed = 3 - partial.graph.degree(node);
      if (count(possible) < needed) {
        dead = true;
        return kNobody;
      }
      const unsigned fresh = count(possible & ~partial.touched);
      const unsigned unlike_ones = count(possible & partial.touched) + std::min(fresh, needed);
      const unsigned ways = needed == 1 ? unlike_ones : unlike_ones * (unlike_ones - 1) / 2;
      if (ways < least) {
        least = ways;
        best = node;
      }
    }
    return best;
  }

  /// Gives one more node of each root all its edges, in all ways; false when none lacks any.
  bool fill_one_node(const std::vector<Partial>& roots, std::vector<Partial>& filled) {
    filled.clear();
    std::set<CanonicalForm::Code> codes;
    bool any = false;
    for (const Partial& root : roots) {
      bool dead = false;
      const unsigned node = narrowest(root, dead);
      if (dead) continue;
      if (node == kNobody) {
        keep(filled, codes, root);
      } else {
        any = true;
        fill_root(root, node, 0, filled, codes);
      }
    }
    return any;
  }

  void fill_root(const Partial& root, unsigned node, unsigned from, std::vector<Partial>& next,
                 std::set<CanonicalForm::Code>& codes) {
    if ((root.open >> node & 1U) == 0) {
      keep(next, codes, root);
      return;
    }
    for (NodeMask rest = unlike(root, choices(root, node)) >> from << from; rest != 0;
         rest &= rest - 1) {
      Partial more = root;
      if (link_counted(more, node, lowest(rest), root.cycles[0]))
        fill_root(more, node, lowest(rest), next, codes);
    }
  }

  void next_node() {
    bool dead = false;
    const unsigned node = narrowest(now_, dead);
    if (dead) return;
    if (node != kNobody)
      fill(node, 0);
    else
      record();
  }

  /// Gives a node the edges that it lacks, in all ways, to nodes from `from` on.
  void fill(unsigned node, unsigned from) {
    if ((now_.open >> node & 1U) == 0) {
      next_node();
      return;
    }
    const Partial before = now_;
    for (NodeMask rest = unlike(now_, choices(now_, node)) >> from << from; rest != 0;
         rest &= rest - 1) {
      if (++tried_ > last_tried_) return;
      if (link_counted(now_, node, lowest(rest), most_cycles_)) fill(node, lowest(rest));
      now_ = before;
    }
  }

  void record() {
    if (now_.touched != now_.graph.all()) return;  // the rest would be a network of its own
    Found found{now_.graph, 0, 0};
    Labels profile{};
    for (unsigned node = 0; node < nodes_; ++node) {
      NodeMask reached = NodeMask{1} << node;
      NodeMask latest = reached;
      profile[node] = now_.cycles[node];
      for (unsigned hops = 1; reached != now_.graph.all(); ++hops) {
        latest = now_.graph.beside(latest) & ~reached;
        reached |= latest;
        found.distances += hops * count(latest);
        found.diameter = std::max(found.diameter, hops);
        profile[node] = profile[node] * 31 + count(latest);
      }
    }
    if (known_.insert(form_.of(now_.graph, profile)).second) found_.push_back(found);
  }

  unsigned nodes_;
  unsigned girth_;
  NodeMask leaves_ = 0;
  std::array<unsigned, SmallGraph::kMostNodes> hops_{};  // from node 0, plus 1; 0 outside
  std::vector<Partial> roots_;  // while they are made
  std::vector<Level> levels_;
  std::uint64_t tried_ = 0;
  std::uint64_t last_tried_ = 0;
  Partial now_;
  unsigned most_cycles_ = 0;
  CanonicalForm form_;
  std::set<CanonicalForm::Code> known_;
  std::vector<Found> found_;
};

}  // namespace hamtune
