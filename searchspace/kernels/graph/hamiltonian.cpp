#include "searchspace/kernels/graph/hamiltonian.hpp"

#include <algorithm>
#include <limits>

#include "searchspace/kernels/graph/random.hpp"

namespace hamtune {
namespace {

constexpr std::uint32_t kOutside = std::numeric_limits<std::uint32_t>::max();

/// A simple path that grows at its head and is turned round there when it cannot.
class Path {
 public:
  Path(const Adjacency& adjacency, Random& random) : adjacency_(adjacency), random_(random) {}

  const std::vector<Node>& nodes() const { return nodes_; }

  /// Starts again at `node` and works until the cycle is closed or `rotations` are used up.
  bool search(Node node, std::size_t rotations) {
    nodes_.assign(1, node);
    position_.assign(adjacency_.nodes(), kOutside);
    position_[node] = 0;
    while (true) {
      while (grow()) continue;
      if (nodes_.size() == adjacency_.nodes() && closed()) return true;
      if (rotations-- == 0 || !rotate()) return false;
      // A path that is stuck at its head may still have a way on at its tail.
      if (random_.below(kTurns) == 0) turn(0);
    }
  }

 private:
  static constexpr std::uint32_t kTurns = 32;

  /// Goes on to a node outside the path, the one with the fewest other ways out (it would be the
  /// hardest to reach later); of several such a random one.
  bool grow() {
    Node best = 0;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    std::uint32_t ties = 0;
    const Node head = nodes_.back();
    for (const Neighbor* n = adjacency_.begin(head); n != adjacency_.end(head); ++n) {
      if (position_[n->node] != kOutside) continue;
      const std::size_t ways = free_neighbors(n->node);
      if (ways < fewest) {
        fewest = ways;
        ties = 0;
      }
      if (ways == fewest && random_.below(++ties) == 0) best = n->node;
    }
    if (ties == 0) return false;
    position_[best] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(best);
    return true;
  }

  std::size_t free_neighbors(Node node) const {
    return static_cast<std::size_t>(
        std::count_if(adjacency_.begin(node), adjacency_.end(node),
                      [this](const Neighbor& n) { return position_[n.node] == kOutside; }));
  }

  bool closed() const {
    return nodes_.size() > 2 &&
           std::any_of(adjacency_.begin(nodes_.back()), adjacency_.end(nodes_.back()),
                       [this](const Neighbor& n) { return n.node == nodes_.front(); });
  }

  /// Takes the cable from the head to a random node of the path and drops the one behind that node:
  /// the part behind it is turned round, and the node that followed it becomes the head.
  bool rotate() {
    const Node head = nodes_.back();
    const auto degree = static_cast<std::uint32_t>(adjacency_.end(head) - adjacency_.begin(head));
    if (degree < 2 || nodes_.size() < 3) return false;
    const Node before = nodes_[nodes_.size() - 2];
    Node pivot = before;
    while (pivot == before) pivot = (adjacency_.begin(head) + random_.below(degree))->node;
    turn(position_[pivot] + 1);
    return true;
  }

  void turn(std::size_t from) {
    std::reverse(nodes_.begin() + static_cast<std::ptrdiff_t>(from), nodes_.end());
    for (std::size_t at = from; at < nodes_.size(); ++at)
      position_[nodes_[at]] = static_cast<std::uint32_t>(at);
  }

  const Adjacency& adjacency_;
  Random& random_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> position_;
};

}  // namespace

std::vector<Node> hamiltonian_walk(const Adjacency& adjacency, std::uint64_t seed,
                                   unsigned restarts) {
  const std::size_t nodes = adjacency.nodes();
  Random random(seed);
  Path path(adjacency, random);
  std::vector<Node> longest;
  for (unsigned attempt = 0; attempt < restarts; ++attempt) {
    const Node start = random.below(static_cast<std::uint32_t>(nodes));
    const bool cycle = path.search(start, 16 * nodes);
    if (cycle || path.nodes().size() > longest.size()) longest = path.nodes();
    if (cycle) break;
  }
  return longest;
}

}  // namespace hamtune
