// Annealing of networks for short ways, short cables and wide cuts at once. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/network/bisection.hpp"
#include "searchspace/kernels/graph/flat_graph.hpp"
#include "searchspace/kernels/network/orbit_moves.hpp"
#include "searchspace/kernels/graph/random.hpp"

namespace hamtune {

/// What a hop, a unit of cable and a cut edge cost; a cost to be kept low.
struct TradeoffPrices {
  double hop = 0.0;     // of the sum of distances over ordered pairs
  double length = 0.0;  // of all cables together
  double cut = 0.0;     // of the bisection width, from which it is taken away
};

/// Simulated annealing by exchanging the ends of two cables, with the cost a weighted sum.
///
/// The width is that of one cut that follows the network: after every exchange it is improved, by
/// Fiduccia-Mattheyses, from where it is and after a disturbance, and the narrower one stays. It is
/// an upper bound of the bisection width, as good as the search lasts.
class Tradeoff {
 public:
  /// `lengths` holds the length of a cable between any two nodes, row by row.
  Tradeoff(std::uint32_t nodes, std::uint32_t degree, const std::vector<Edge>& edges,
           std::vector<double> lengths, const TradeoffPrices& prices, double hot, double cold,
           std::uint64_t moves, std::uint64_t seed)
      : graph_(nodes, degree, 1),
        lengths_(std::move(lengths)),
        prices_(prices),
        hot_(hot),
        cold_(cold),
        planned_(std::max<std::uint64_t>(moves, 1)),
        random_(seed),
        flat_(Adjacency(nodes, edges)),
        bisector_(flat_) {
    if (lengths_.size() != std::size_t{nodes} * nodes)
      throw std::invalid_argument("lengths are those between any two nodes");
    for (const Edge& edge : edges) {
      orbits_.push_back({edge.u, edge.v, 0});
      link_checked(graph_, orbits_.back());
      length_ += length(edge.u, edge.v);
    }
    const DistanceSum found = graph_.evaluate(RotationGraph::kTooFar - 1, 0, 0);
    if (found.cost == RotationGraph::kTooFar)
      throw std::invalid_argument("the network is not connected");
    hops_ = found.cost;
    if (prices_.cut > 0.0) {
      cut_ = bisect(bisector_, nodes, kFirstStarts, random_).sides;
      width_ = cut_width(flat_, cut_);
    }
    best_ = orbits_;
    best_cost_ = cost(hops_, length_, width_);
  }

  Tradeoff(const Tradeoff&) = delete;  // its parts refer to each other
  Tradeoff& operator=(const Tradeoff&) = delete;

  void run(std::uint64_t moves) {
    for (; moves > 0 && !finished(); --moves, ++done_) propose();
  }

  bool finished() const { return orbits_.empty() || done_ >= planned_; }
  std::uint64_t done() const { return done_; }
  std::vector<Edge> best() const {
    std::vector<Edge> edges = edges_of(best_, 1, graph_.nodes());
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
      return a.u != b.u ? a.u < b.u : a.v < b.v;
    });
    return edges;
  }

 private:
  static constexpr std::size_t kFirstStarts = 100;
  static constexpr double kMostHops = 1e15;

  double length(Node u, Node v) const { return lengths_[std::size_t{u} * graph_.nodes() + v]; }

  double cost(std::int64_t hops, double cables, std::size_t width) const {
    return prices_.hop * static_cast<double>(hops) + prices_.length * cables -
           prices_.cut * static_cast<double>(width);
  }

  static bool four_ends(const OrbitChange& change) {
    const Orbit& a = change.out[0];
    const Orbit& b = change.out[1];
    return a.i != b.i && a.i != b.j && a.j != b.i && a.j != b.j;
  }

  /// Writes the exchange into the neighbour lists: each end gets its new partner for its old one.
  void rewire(const Orbit (&out)[2], const Orbit (&in)[2]) {
    for (const Orbit& gone : out)
      for (const auto& [node, before] : {std::pair(gone.i, gone.j), std::pair(gone.j, gone.i)})
        for (const Orbit& come : in) {
          if (come.i == node) flat_.replace(node, before, come.j);
          if (come.j == node) flat_.replace(node, before, come.i);
        }
  }

  void propose() {
    OrbitChange change;
    if (!moves_.choose(random_, change) || !four_ends(change) || !moves_.apply(change)) return;
    const double progress = static_cast<double>(done_) / static_cast<double>(planned_);
    const double temperature = hot_ * std::pow(cold_ / hot_, progress);
    const double allowance = -temperature * std::log(1.0 - random_.unit());
    const double limit = cost(hops_, length_, width_) + allowance;
    double cables = length_;
    for (unsigned k = 0; k < 2; ++k)
      cables += length(change.in[k].i, change.in[k].j) - length(change.out[k].i, change.out[k].j);
    // The two new edges are all that can widen the cut.
    const double left = limit - cost(0, cables, width_ + (prices_.cut > 0.0 ? 2 : 0));
    const double hops = prices_.hop > 0.0 ? std::min(left / prices_.hop, kMostHops) : kMostHops;
    DistanceSum found{RotationGraph::kTooFar, 0};
    if (left >= 0.0 || prices_.hop > 0.0)
      found = graph_.evaluate(static_cast<std::int64_t>(std::max(hops, -1.0)), 0, 0);
    if (found.cost == RotationGraph::kTooFar) {
      moves_.undo(change);
      return;
    }
    std::size_t width = 0;
    if (prices_.cut > 0.0) {
      rewire(change.out, change.in);
      other_ = cut_;
      width = bisector_.improve(other_);
      disturbed_ = cut_;
      bisector_.disturb(disturbed_, graph_.nodes() / 16 + 1, random_);
      const std::size_t second = bisector_.improve(disturbed_);
      if (second < width) {
        width = second;
        other_.swap(disturbed_);
      }
    }
    if (cost(found.cost, cables, width) > limit) {
      if (prices_.cut > 0.0) rewire(change.in, change.out);
      moves_.undo(change);
      return;
    }
    moves_.remember(change);
    hops_ = found.cost;
    length_ = cables;
    width_ = width;
    cut_.swap(other_);
    const double now = cost(hops_, length_, width_);
    if (now < best_cost_) {
      best_cost_ = now;
      best_ = orbits_;
    }
  }

  RotationGraph graph_;
  std::vector<Orbit> orbits_;
  OrbitMoves moves_{graph_, orbits_};
  std::vector<double> lengths_;
  TradeoffPrices prices_;
  double hot_;
  double cold_;
  std::uint64_t planned_;
  std::uint64_t done_ = 0;
  Random random_;
  FlatGraph flat_;
  Bisector bisector_;
  Sides cut_;
  Sides other_;
  Sides disturbed_;
  std::int64_t hops_ = 0;
  double length_ = 0.0;
  std::size_t width_ = 0;
  std::vector<Orbit> best_;
  double best_cost_ = 0.0;
};

}  // namespace hamtune
