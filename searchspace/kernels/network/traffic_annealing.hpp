// Simulated annealing of networks by what an application's traffic does to them. Plain C++17.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"
#include "searchspace/kernels/graph/random.hpp"

namespace hamtune {

/// What two hosts exchange, each pair once.
struct Demand {
  Node one;
  Node other;
  double volume;  ///< above 0, in any unit
};

/// What a network does to traffic, in hops.
struct TrafficCost {
  double distance = 0;    ///< hops of a unit of volume in the mean
  double loaded = 0;      ///< the same, did every cable carry what the fourth power mean of them carries
};

/// Anneals a network over exchanges of the ends of two cables, which keep every degree.
///
/// The cost is the mean of the two terms of `TrafficCost`: the second is never below the first, and equal to it
/// where all cables carry the same. Routes are those of the tie rule "lowest-id" (`Routes`). Half of the moves join
/// two hosts that exchange something, drawn by volume; all others are drawn evenly. The temperature falls
/// geometrically. Random numbers begin anew every kEpoch moves, which makes the state between epochs small: the
/// cables, the best cables and the number of the epoch.
///
/// A symmetry of K turns every exchange K times, so that a turn by nodes / K goes on mapping the network onto itself.
/// Two cables of one orbit are not exchanged, nor are cables that half a turn maps onto themselves.
class TrafficAnnealing {
 public:
  static constexpr std::uint64_t kEpoch = 32;

  /// Hosts are the nodes. `background` is the share of all volume that is added evenly to all pairs, so that hosts
  /// which exchange nothing are not left far apart. Throws std::invalid_argument where the network is not connected
  /// or has not the symmetry, or a demand is not between two of its nodes.
  TrafficAnnealing(std::size_t nodes, std::size_t symmetry, const std::vector<Edge>& cables,
                   const std::vector<Demand>& demands, double background, std::uint64_t iterations,
                   std::uint64_t seed)
      : nodes_(nodes),
        symmetry_(symmetry),
        cables_(cables),
        orbit_(cables.size()),
        turn_(cables.size()),
        first_(nodes + 1, 0),
        neighbors_(2 * cables.size()),
        row_(nodes + 1, 0),
        iterations_(iterations),
        seed_(Random(seed).next()),
        parent_(nodes),
        edge_(nodes),
        depth_(nodes),
        queue_(nodes),
        below_(nodes),
        load_(cables.size()) {
    if (symmetry == 0 || nodes % symmetry != 0)
      throw std::invalid_argument("the symmetry does not divide the number of nodes");
    take(demands, background);
    begin_at(cables);
    best_ = cables_;
    best_cost_ = cost_;
    best_terms_ = terms_;
    warm_up();
  }

  /// Goes on from a state between epochs.
  void resume(std::uint64_t epoch, const std::vector<Edge>& cables, const std::vector<Edge>& best) {
    epoch_ = epoch;
    begin_at(best);
    best_ = cables_;
    best_cost_ = cost_;
    best_terms_ = terms_;
    begin_at(cables);
  }

  /// Runs up to that many epochs; stops at the end of the schedule.
  void run(std::uint64_t epochs) {
    for (; epochs > 0 && !finished(); --epochs, ++epoch_) {
      Random random(seed_ + epoch_);
      const double progress = static_cast<double>(epoch_ * kEpoch) / static_cast<double>(iterations_);
      const double temperature = hot_ * std::pow(kCooling, progress);
      for (std::uint64_t move = 0; move < kEpoch; ++move) propose(random, temperature);
    }
  }

  bool finished() const { return epoch_ * kEpoch >= iterations_ || cables_.size() < 2; }
  std::uint64_t epoch() const { return epoch_; }
  /// Networks evaluated for moves, since this object was made.
  std::uint64_t evaluations() const { return evaluations_; }
  const std::vector<Edge>& cables() const { return cables_; }
  const std::vector<Edge>& best() const { return best_; }
  const TrafficCost& best_terms() const { return best_terms_; }

 private:
  static constexpr double kWarmth = 0.2;      // first temperature, in what a move costs in the mean
  static constexpr double kCooling = 0.01;    // the last one, as a share of the first
  // Moves that tell what a move costs: a share of those to come.
  static constexpr std::uint64_t kFewestSampled = 8;
  static constexpr std::uint64_t kMostSampled = 64;
  static constexpr std::uint64_t kMovesASample = 16;

  /// Cables a-b and c-d become a-c and b-d.
  struct Exchange {
    std::uint32_t one;
    std::uint32_t other;
    Node a;
    Node b;
    Node c;
    Node d;
  };

  struct Partner {
    Node node;
    double volume;
  };

  static constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

  /// Writes the neighbours of all nodes down from the cables.
  void lay_out() {
    const Adjacency checked(nodes_, cables_);
    std::size_t place = 0;
    for (Node node = 0; node < nodes_; ++node) {
      for (const Neighbor* next = checked.begin(node); next != checked.end(node); ++next)
        neighbors_[place++] = *next;
      first_[node + 1] = place;
    }
  }

  void begin_at(const std::vector<Edge>& cables) {
    if (cables.size() != load_.size()) throw std::invalid_argument("the network has another number of cables");
    cables_ = cables;
    lay_out();
    find_orbits();
    cost_ = evaluate(std::numeric_limits<double>::infinity());
    if (!std::isfinite(cost_)) throw std::invalid_argument("the network is not connected");
  }

  /// Finds the cables that turns make of each other; those that half a turn maps onto themselves are in no orbit.
  void find_orbits() {
    members_.clear();
    std::fill(orbit_.begin(), orbit_.end(), kUnseen);
    std::vector<bool> known(cables_.size(), false);
    for (std::uint32_t cable = 0; cable < cables_.size(); ++cable) {
      if (known[cable]) continue;
      std::vector<std::uint32_t> turned;
      for (std::size_t turn = 0; turn < symmetry_; ++turn) {
        const std::uint32_t found = cable_between(turned_by(cables_[cable].u, turn), turned_by(cables_[cable].v, turn));
        if (found == kUnseen) throw std::invalid_argument("the network has not that symmetry");
        if (!known[found]) turned.push_back(found);
        known[found] = true;
      }
      if (turned.size() < symmetry_) continue;
      const auto orbit = static_cast<std::uint32_t>(members_.size() / symmetry_);
      for (std::uint32_t turn = 0; turn < symmetry_; ++turn) {
        orbit_[turned[turn]] = orbit;
        turn_[turned[turn]] = turn;
      }
      members_.insert(members_.end(), turned.begin(), turned.end());
    }
  }

  Node turned_by(Node node, std::size_t turns) const {
    return static_cast<Node>((node + turns * (nodes_ / symmetry_)) % nodes_);
  }

  /// What becomes of an exchange after some turns.
  Exchange turned_by(const Exchange& change, std::size_t turns) const {
    const auto cable = [this, turns](std::uint32_t at) {
      return members_[orbit_[at] * symmetry_ + (turn_[at] + turns) % symmetry_];
    };
    return {cable(change.one),          cable(change.other),        turned_by(change.a, turns),
            turned_by(change.b, turns), turned_by(change.c, turns), turned_by(change.d, turns)};
  }

  void take(const std::vector<Demand>& demands, double background) {
    double sum = 0.0;
    for (const Demand& demand : demands) {
      if (demand.one >= nodes_ || demand.other >= nodes_ || demand.one == demand.other)
        throw std::invalid_argument("a demand is not between two of the nodes");
      if (!(demand.volume > 0.0) || !std::isfinite(demand.volume))
        throw std::invalid_argument("a demand must have a volume above 0");
      sum += demand.volume;
      drawn_.push_back({demand.one, demand.other, sum});
      ++row_[std::min(demand.one, demand.other) + 1];
    }
    for (std::size_t node = 0; node < nodes_; ++node) row_[node + 1] += row_[node];
    partners_.resize(demands.size());
    std::vector<std::size_t> next(row_.begin(), row_.end() - 1);
    for (const Demand& demand : demands)
      partners_[next[std::min(demand.one, demand.other)]++] = {std::max(demand.one, demand.other), demand.volume};
    const double pairs = static_cast<double>(nodes_) * (static_cast<double>(nodes_) - 1.0) / 2.0;
    each_ = sum > 0.0 ? background * sum / pairs : 1.0;
    total_ = sum + each_ * pairs;
  }

  /// The cost of the network as it is, or infinity: it is not connected, or costs more than `limit`.
  double evaluate(double limit) {
    std::fill(load_.begin(), load_.end(), 0.0);
    const double most = limit * total_;
    double hops = 0.0;
    double open = total_;  // what the hosts still to come exchange, of which each unit takes a hop at least
    for (Node root = 0; root + 1 < nodes_; ++root) {
      if (!search(root)) return std::numeric_limits<double>::infinity();
      // What a node exchanges with the root, and, once its turn comes, what those behind it do as well.
      std::fill(below_.begin(), below_.begin() + root + 1, 0.0);
      std::fill(below_.begin() + root + 1, below_.end(), each_);
      double sum = each_ * static_cast<double>(nodes_ - 1 - root);
      for (std::size_t place = row_[root]; place < row_[root + 1]; ++place) {
        below_[partners_[place].node] += partners_[place].volume;
        sum += partners_[place].volume;
      }
      open -= sum;
      for (std::size_t place = nodes_; place-- > 1;) {
        const Node node = queue_[place];
        const double passing = below_[node];
        hops += passing;  // over the cable to its parent
        load_[edge_[node]] += passing;
        below_[parent_[node]] += passing;
      }
      if (hops + open > most) return std::numeric_limits<double>::infinity();
    }
    double fourth = 0.0;
    for (const double load : load_) fourth += load * load * load * load;
    const auto count = static_cast<double>(load_.size());
    terms_ = {hops / total_, std::sqrt(std::sqrt(fourth / count)) * count / total_};
    const double cost = (terms_.distance + terms_.loaded) / 2.0;
    return cost > limit ? std::numeric_limits<double>::infinity() : cost;
  }

  /// The breadth-first tree of a root, neighbours in increasing number; false where it does not hold all nodes.
  bool search(Node root) {
    std::fill(depth_.begin(), depth_.end(), kUnseen);
    depth_[root] = 0;
    queue_[0] = root;
    std::size_t tail = 1;
    for (std::size_t head = 0; head < tail && tail < nodes_; ++head) {
      const Node node = queue_[head];
      for (std::size_t place = first_[node]; place < first_[node + 1]; ++place) {
        const Neighbor next = neighbors_[place];
        if (depth_[next.node] != kUnseen) continue;
        depth_[next.node] = depth_[node] + 1;
        parent_[next.node] = node;
        edge_[next.node] = next.edge;
        queue_[tail++] = next.node;
      }
    }
    return tail == nodes_;
  }

  /// What a move costs in the mean says how warm to begin.
  void warm_up() {
    Random random(~seed_);
    double sum = 0.0;
    unsigned dearer = 0;
    const std::uint64_t samples = std::clamp(iterations_ / kMovesASample, kFewestSampled, kMostSampled);
    for (std::uint64_t sample = 0; sample < samples && cables_.size() >= 2; ++sample) {
      Exchange change{};
      if (!draw(random, change)) continue;
      const double cost = evaluate(std::numeric_limits<double>::infinity());
      undo(change);
      if (!std::isfinite(cost) || cost <= cost_) continue;
      sum += cost - cost_;
      ++dearer;
    }
    hot_ = dearer > 0 ? kWarmth * sum / dearer : 0.0;
  }

  void propose(Random& random, double temperature) {
    Exchange change{};
    if (!draw(random, change)) return;
    const double allowance = -std::log(1.0 - random.unit()) * temperature;
    const double cost = evaluate(cost_ + allowance);
    ++evaluations_;
    if (!std::isfinite(cost)) {
      undo(change);
      return;
    }
    cost_ = cost;
    if (cost_ < best_cost_) {
      best_cost_ = cost_;
      best_terms_ = terms_;
      best_ = cables_;
    }
  }

  /// Draws an exchange and makes it; false where what was drawn cannot be.
  bool draw(Random& random, Exchange& change) {
    Node a = 0;
    Node c = 0;
    std::uint32_t one = 0;
    std::uint32_t other = 0;
    if (!drawn_.empty() && (random.next() >> 63U) != 0) {
      const double at = random.unit() * drawn_.back().volume;
      const auto found = std::upper_bound(drawn_.begin(), drawn_.end() - 1, at,
                                          [](double value, const Demand& demand) { return value < demand.volume; });
      a = found->one;
      c = found->other;
      one = any_cable(random, a);
      other = any_cable(random, c);
    } else {
      const auto count = static_cast<std::uint32_t>(cables_.size());
      one = random.below(count);
      other = random.below(count);
      const bool turned = (random.next() >> 63U) != 0;
      a = cables_[one].u;
      c = turned ? cables_[other].v : cables_[other].u;
    }
    const Node b = cables_[one].u ^ cables_[one].v ^ a;
    const Node d = cables_[other].u ^ cables_[other].v ^ c;
    if (orbit_[one] == kUnseen || orbit_[other] == kUnseen || orbit_[one] == orbit_[other]) return false;
    change = {one, other, a, b, c, d};
    for (std::size_t turns = 0; turns < symmetry_; ++turns) {
      if (exchange(turned_by(change, turns))) continue;
      undo(change, turns);
      return false;
    }
    return true;
  }

  void undo(const Exchange& change) { undo(change, symmetry_); }

  /// Takes the first turns of an exchange back, the last one first.
  void undo(const Exchange& change, std::size_t turns) {
    while (turns-- > 0) take_back(turned_by(change, turns));
  }

  /// False, and nothing changed, where that would join nodes that are joined, or a node with itself.
  bool exchange(const Exchange& change) {
    const auto [one, other, a, b, c, d] = change;
    if (a == c || b == d || a == d || b == c || joined(a, c) || joined(b, d)) return false;
    cables_[one] = {std::min(a, c), std::max(a, c)};
    cables_[other] = {std::min(b, d), std::max(b, d)};
    replace(a, one, {c, one});
    replace(b, one, {d, other});
    replace(c, other, {a, one});
    replace(d, other, {b, other});
    return true;
  }

  void take_back(const Exchange& change) {
    const auto [one, other, a, b, c, d] = change;
    cables_[one] = {std::min(a, b), std::max(a, b)};
    cables_[other] = {std::min(c, d), std::max(c, d)};
    replace(a, one, {b, one});
    replace(b, other, {a, one});
    replace(c, one, {d, other});
    replace(d, other, {c, other});
  }

  /// Puts another neighbour in the place of the one behind `gone`; the row stays in order.
  void replace(Node node, std::uint32_t gone, Neighbor come) {
    std::size_t place = first_[node];
    while (neighbors_[place].edge != gone) ++place;
    for (; place > first_[node] && neighbors_[place - 1].node > come.node; --place)
      neighbors_[place] = neighbors_[place - 1];
    for (; place + 1 < first_[node + 1] && neighbors_[place + 1].node < come.node; ++place)
      neighbors_[place] = neighbors_[place + 1];
    neighbors_[place] = come;
  }

  std::uint32_t any_cable(Random& random, Node node) {
    const auto count = static_cast<std::uint32_t>(first_[node + 1] - first_[node]);
    return neighbors_[first_[node] + random.below(count)].edge;
  }

  bool joined(Node one, Node other) const { return cable_between(one, other) != kUnseen; }

  /// Its number, or kUnseen where two nodes are not joined.
  std::uint32_t cable_between(Node one, Node other) const {
    const auto begin = neighbors_.begin() + static_cast<std::ptrdiff_t>(first_[one]);
    const auto end = neighbors_.begin() + static_cast<std::ptrdiff_t>(first_[one + 1]);
    const auto found = std::find_if(begin, end, [other](const Neighbor& next) { return next.node == other; });
    return found == end ? kUnseen : found->edge;
  }

  std::size_t nodes_;
  std::size_t symmetry_;
  std::vector<Edge> cables_;
  std::vector<std::uint32_t> orbit_;  // of each cable; kUnseen where it has none
  std::vector<std::uint32_t> turn_;   // by which the first of the orbit becomes it
  std::vector<std::uint32_t> members_;  // of each orbit, by turn
  std::vector<std::size_t> first_;    // where the neighbours of each node begin
  std::vector<Neighbor> neighbors_;   // in increasing number
  std::vector<std::size_t> row_;      // where the partners of larger number of each node begin
  std::vector<Partner> partners_;
  double each_ = 0.0;                 // what every pair exchanges in addition
  std::vector<Demand> drawn_;         // the demands; `volume` is the sum so far
  double total_ = 0.0;
  std::uint64_t iterations_;
  std::uint64_t epoch_ = 0;
  std::uint64_t evaluations_ = 0;
  std::uint64_t seed_;
  double hot_ = 0.0;
  double cost_ = 0.0;
  TrafficCost terms_;
  std::vector<Edge> best_;
  double best_cost_ = 0.0;
  TrafficCost best_terms_;

  // Of the tree at hand, by node; `queue_` by place.
  std::vector<Node> parent_;
  std::vector<std::uint32_t> edge_;
  std::vector<std::uint32_t> depth_;
  std::vector<Node> queue_;
  std::vector<double> below_;  // what a node and those behind it exchange with the root
  std::vector<double> load_;   // of each cable, both ways
};

}  // namespace hamtune
