#include "searchspace/kernels/ordering/gorder.hpp"

#include <set>
#include <utility>

namespace hamtune {
namespace {

/// The nodes that have no number yet, the one with the highest score (then the lowest id) first.
class Candidates {
 public:
  explicit Candidates(std::size_t nodes) : score_(nodes, 0), placed_(nodes, 0) {
    for (Node node = 0; node < nodes; ++node) ranking_.emplace_hint(ranking_.end(), 0, node);
  }

  void add(Node node, int change) {
    if (placed_[node] != 0) return;
    ranking_.erase({-score_[node], node});
    score_[node] += change;
    ranking_.emplace(-score_[node], node);
  }

  void place(Node node) {
    ranking_.erase({-score_[node], node});
    placed_[node] = 1;
  }

  Node best() const { return ranking_.begin()->second; }

 private:
  std::vector<int> score_;
  std::vector<char> placed_;
  std::set<std::pair<int, Node>> ranking_;
};

}  // namespace

std::vector<Node> gorder(const Adjacency& adjacency, std::size_t window) {
  constexpr int kArcsOfACable = 2;
  const std::size_t nodes = adjacency.nodes();
  Candidates candidates(nodes);
  // What the node `node` contributes to the scores of the others while it is in the window.
  const auto contribute = [&](Node node, int sign) {
    for (const Neighbor* n = adjacency.begin(node); n != adjacency.end(node); ++n) {
      candidates.add(n->node, kArcsOfACable * sign);
      for (const Neighbor* m = adjacency.begin(n->node); m != adjacency.end(n->node); ++m)
        if (m->node != node) candidates.add(m->node, sign);
    }
  };

  Node next = 0;
  for (Node node = 1; node < nodes; ++node)
    if (adjacency.end(node) - adjacency.begin(node) > adjacency.end(next) - adjacency.begin(next))
      next = node;

  std::vector<Node> order;
  order.reserve(nodes);
  while (true) {
    candidates.place(next);
    order.push_back(next);
    if (order.size() == nodes) return order;
    contribute(next, 1);
    if (order.size() > window) contribute(order[order.size() - 1 - window], -1);
    next = candidates.best();
  }
}

}  // namespace hamtune
