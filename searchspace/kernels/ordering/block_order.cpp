#include "searchspace/kernels/ordering/block_order.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "searchspace/kernels/graph/random.hpp"

namespace hamtune {
namespace {

/// A numbering under change: its mean hops within blocks and its breaks, kept up to date.
class Numbering {
 public:
  Numbering(std::size_t nodes, const std::vector<std::uint16_t>& distances,
            std::vector<Node> order, const BlockGoal& goal)
      : nodes_(nodes), distances_(distances), order_(std::move(order)), widest_(goal.sizes.back()) {
    const std::size_t blocks = (nodes + widest_ - 1) / widest_;
    full_weights_ = weights(goal.sizes, widest_);
    rest_weights_ = weights(goal.sizes, nodes - (blocks - 1) * widest_);
    for (std::size_t block = 0; block < blocks; ++block) block_costs_.push_back(cost_of(block));
    for (const double cost : block_costs_) cost_ += cost;
    breaks_ = breaks_between(0, nodes - 1);
    position_.resize(nodes);
    locate(0, nodes);
  }

  const std::vector<Node>& order() const { return order_; }
  double cost() const { return cost_; }
  std::size_t breaks() const { return breaks_; }
  std::size_t nodes() const { return nodes_; }
  Node node(std::size_t position) const { return order_[position]; }
  std::size_t position(Node node) const { return position_[node]; }
  std::size_t widest() const { return widest_; }

  /// Changes the order by `change` (undone by `undo`), which touches the positions of the two ranges
  /// [a, a_end) and [b, b_end) only, a_end <= b; keeps it when `accept(cost, breaks)` says so.
  template <typename Change, typename Undo, typename Accept>
  void attempt(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end, Change&& change,
               Undo&& undo, Accept&& accept) {
    // Neighbouring ranges share a pair of positions, which must not count twice.
    const std::size_t first_pair = a == 0 ? 0 : a - 1;
    const std::size_t first_end = std::min(a_end, nodes_ - 1);
    const std::size_t second_pair = std::max(b == 0 ? 0 : b - 1, first_end);
    const std::size_t second_end = std::max(second_pair, std::min(b_end, nodes_ - 1));
    const auto breaks_here = [&] {
      return breaks_between(first_pair, first_end) + breaks_between(second_pair, second_end);
    };

    const std::size_t breaks_before = breaks_here();
    change();
    const std::size_t breaks = breaks_ - breaks_before + breaks_here();
    fresh_.clear();
    double cost = cost_;
    const auto recost = [&](std::size_t from, std::size_t to) {
      for (std::size_t block = from / widest_; block <= (to - 1) / widest_; ++block) {
        if (!fresh_.empty() && block <= fresh_.back().first) continue;
        fresh_.emplace_back(block, cost_of(block));
        cost += fresh_.back().second - block_costs_[block];
      }
    };
    recost(a, a_end);
    if (b_end > b) recost(b, b_end);
    if (!accept(cost, breaks)) {
      undo();
      return;
    }
    cost_ = cost;
    breaks_ = breaks;
    for (const auto& [block, value] : fresh_) block_costs_[block] = value;
    locate(a, a_end);
    locate(b, b_end);
  }

  /// Swaps the nodes at the positions a < b when `accept(cost, breaks)` says so. The same as
  /// `attempt` with an exchange of length 1, but looks only at the two rows that change.
  template <typename Accept>
  void attempt_swap(std::size_t a, std::size_t b, Accept&& accept) {
    const std::size_t block_a = a / widest_, block_b = b / widest_;
    const double change_a = swap_change(a, b);
    const double change_b = swap_change(b, a);
    const std::size_t second = b == a + 1 ? b : b - 1;
    const auto breaks_here = [&] {
      return breaks_between(a == 0 ? 0 : a - 1, std::min(a + 1, nodes_ - 1)) +
             breaks_between(second, std::min(b + 1, nodes_ - 1));
    };
    const std::size_t breaks_before = breaks_here();
    std::swap(order_[a], order_[b]);
    const std::size_t breaks = breaks_ - breaks_before + breaks_here();
    const double cost = cost_ + change_a + change_b;
    if (!accept(cost, breaks)) {
      std::swap(order_[a], order_[b]);
      return;
    }
    cost_ = cost;
    breaks_ = breaks;
    block_costs_[block_a] += change_a;
    block_costs_[block_b] += change_b;
    position_[order_[a]] = a;
    position_[order_[b]] = b;
  }

  void exchange(std::size_t a, std::size_t b, std::size_t length) {
    std::swap_ranges(at(a), at(a + length), at(b));
  }
  void reverse(std::size_t from, std::size_t to) { std::reverse(at(from), at(to)); }
  void rotate(std::size_t from, std::size_t middle, std::size_t to) {
    std::rotate(at(from), at(middle), at(to));
  }

 private:
  std::vector<Node>::iterator at(std::size_t position) {
    return order_.begin() + static_cast<std::ptrdiff_t>(position);
  }

  void locate(std::size_t from, std::size_t to) {
    for (std::size_t p = from; p < to; ++p) position_[order_[p]] = p;
  }

  unsigned hops(std::size_t p, std::size_t q) const {
    return distances_[static_cast<std::size_t>(order_[p]) * nodes_ + order_[q]];
  }

  std::size_t breaks_between(std::size_t from, std::size_t to) const {
    std::size_t breaks = 0;
    for (std::size_t p = from; p < to; ++p) breaks += hops(p, p + 1) > 1 ? 1 : 0;
    return breaks;
  }

  /// What a hop between two positions of a widest block adds to the sum of means over the sizes.
  std::vector<double> weights(const std::vector<std::size_t>& sizes, std::size_t length) const {
    std::vector<double> table(widest_ * widest_, 0);
    for (const std::size_t size : sizes) {
      const std::size_t blocks = nodes_ / size;
      if (blocks == 0) continue;
      const std::size_t pairs = blocks * size * (size - 1) / 2;
      for (std::size_t p = 0; p < length; ++p)
        for (std::size_t q = p + 1; q < length; ++q)
          if (p / size == q / size && (q / size + 1) * size <= length)
            table[q * widest_ + p] = table[p * widest_ + q] += 1.0 / static_cast<double>(pairs);
    }
    return table;
  }

  /// How the cost of the block of `position` changes when the node at `other` comes there.
  double swap_change(std::size_t position, std::size_t other) const {
    const std::size_t from = position / widest_ * widest_;
    const std::size_t length = std::min(widest_, nodes_ - from);
    const double* weight = &weights_of(length)[(position - from) * widest_];
    const std::uint16_t* leaving = &distances_[static_cast<std::size_t>(order_[position]) * nodes_];
    const std::uint16_t* coming = &distances_[static_cast<std::size_t>(order_[other]) * nodes_];
    double change = 0;
    for (std::size_t q = 0; q < length; ++q) {
      // The distance between the two nodes that swap stays.
      if (from + q == other) continue;
      const Node node = order_[from + q];
      if (from + q == position) continue;
      change += weight[q] * (coming[node] - leaving[node]);
    }
    return change;
  }

  const std::vector<double>& weights_of(std::size_t length) const {
    return length == widest_ ? full_weights_ : rest_weights_;
  }

  double cost_of(std::size_t block) const {
    const std::size_t from = block * widest_;
    const std::size_t length = std::min(widest_, nodes_ - from);
    const std::vector<double>& table = weights_of(length);
    double cost = 0;
    for (std::size_t p = 0; p < length; ++p) {
      const std::uint16_t* row = &distances_[static_cast<std::size_t>(order_[from + p]) * nodes_];
      const double* weight = &table[p * widest_];
      for (std::size_t q = p + 1; q < length; ++q) cost += weight[q] * row[order_[from + q]];
    }
    return cost;
  }

  std::size_t nodes_;
  const std::vector<std::uint16_t>& distances_;
  std::vector<Node> order_;
  std::vector<std::size_t> position_;
  std::size_t widest_;
  std::vector<double> full_weights_;
  std::vector<double> rest_weights_;
  std::vector<double> block_costs_;
  std::vector<std::pair<std::size_t, double>> fresh_;
  double cost_ = 0;
  std::size_t breaks_ = 0;
};

/// One random move: two segments change places, a stretch is turned round, or its ends shift.
///
/// Segments change places so that a cable comes into a block: one of its ends stays, the other end
/// and what surrounds it moves to a position nearby. In a large network two random places would
/// almost never have anything to do with each other.
template <typename Accept>
void move(Numbering& numbering, const Adjacency& adjacency, Random& random, Accept&& accept) {
  const auto nodes = static_cast<std::uint32_t>(numbering.nodes());
  const std::uint32_t kind = random.below(8);
  if (kind < 6) {
    const Node fixed = random.below(nodes);
    const auto degree = static_cast<std::uint32_t>(adjacency.end(fixed) - adjacency.begin(fixed));
    if (degree == 0) return;
    const Node moved = (adjacency.begin(fixed) + random.below(degree))->node;
    const std::size_t length = kind < 4 ? 1 : 1 + random.below(std::min(nodes / 2, 8U));
    const std::size_t block = numbering.position(fixed) / numbering.widest() * numbering.widest();
    std::size_t a = block + random.below(static_cast<std::uint32_t>(numbering.widest()));
    std::size_t b = numbering.position(moved);
    const std::size_t lead = random.below(static_cast<std::uint32_t>(length));
    if (a < lead || b < lead) return;
    a -= lead;
    b -= lead;
    if (a > b) std::swap(a, b);
    if (b - a < length || b + length > nodes) return;
    if (length == 1) {
      numbering.attempt_swap(a, b, accept);
      return;
    }
    const auto exchange = [&] { numbering.exchange(a, b, length); };
    numbering.attempt(a, a + length, b, b + length, exchange, exchange, accept);
    return;
  }
  const std::size_t length = 2 + random.below(std::min(nodes - 1, 23U));
  const std::size_t from = random.below(nodes - static_cast<std::uint32_t>(length) + 1);
  const std::size_t to = from + length;
  if (kind == 6) {
    const auto turn = [&] { numbering.reverse(from, to); };
    numbering.attempt(from, to, to, to, turn, turn, accept);
    return;
  }
  const std::size_t shift = 1 + random.below(static_cast<std::uint32_t>(length) - 1);
  numbering.attempt(
      from, to, to, to, [&] { numbering.rotate(from, from + shift, to); },
      [&] { numbering.rotate(from, to - shift, to); }, accept);
}

}  // namespace

std::vector<Node> block_order(const Adjacency& adjacency,
                              const std::vector<std::uint16_t>& distances, std::vector<Node> start,
                              const BlockGoal& goal) {
  const std::size_t nodes = adjacency.nodes();
  if (nodes < 3) return start;
  const auto pairs = static_cast<double>(nodes - 1);
  const auto allowed = static_cast<std::size_t>((1 - goal.adjacent_share) * pairs + 1e-9);
  const auto excess = [allowed](std::size_t breaks) {
    return breaks > allowed ? breaks - allowed : 0;
  };

  Random random(goal.seed);
  Numbering numbering(nodes, distances, std::move(start), goal);
  std::vector<Node> best = numbering.order();
  auto best_value = std::make_pair(excess(numbering.breaks()), numbering.cost());

  // One pair one hop closer changes the sum of means by about 1 / nodes: the scale of everything.
  const double unit = 1.0 / static_cast<double>(nodes);
  constexpr double kHottest = 1.0, kColdest = 0.05;
  // What a break too many costs is not known beforehand: it rises while there are too many and
  // falls while there are not, slowly against the moves, so that the walk keeps to the border.
  constexpr double kPressure = 1.02;
  double break_cost = 2 * unit, temperature = unit * kHottest;
  for (std::uint64_t step = 0; step < goal.moves; ++step) {
    if (step % (8 * nodes) == 0) {
      const double done = static_cast<double>(step) / static_cast<double>(goal.moves);
      temperature = unit * kHottest * std::pow(kColdest / kHottest, done);
      break_cost *= excess(numbering.breaks()) > 0 ? kPressure : 1 / kPressure;
    }
    // Drawing the threshold first leaves one comparison for the evaluation.
    const double limit = numbering.cost() +
                         break_cost * static_cast<double>(excess(numbering.breaks())) -
                         temperature * std::log(1 - random.unit());
    move(numbering, adjacency, random, [&](double cost, std::size_t breaks) {
      return cost + break_cost * static_cast<double>(excess(breaks)) <= limit;
    });
    const auto value = std::make_pair(excess(numbering.breaks()), numbering.cost());
    if (value < best_value) {
      best_value = value;
      best = numbering.order();
    }
  }
  return best;
}

}  // namespace hamtune
