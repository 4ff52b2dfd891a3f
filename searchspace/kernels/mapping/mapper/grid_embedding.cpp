#include "searchspace/kernels/mapping/mapper/grid_embedding.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace hamtune::mapper {
namespace {

using Extents = std::vector<std::int32_t>;

/// A digit of an axis of the lattice: it runs along an axis of the box in steps.
struct Digit {
  std::size_t along;
  std::int32_t size;
  std::int32_t step;
};

/// The values of the digits (lowest first) at a point of an axis; each runs up and down by turns.
void digits_at(const std::vector<Digit>& digits, std::int32_t point, std::vector<std::int32_t>& to) {
  to.resize(digits.size());
  for (std::size_t at = 0; at < digits.size(); ++at) {
    const std::int32_t value = point % digits[at].size;
    point /= digits[at].size;
    to[at] = point % 2 == 0 ? value : digits[at].size - 1 - value;
  }
}

/// An axis beyond those of the box runs along the cores of a node.
std::int32_t hops_along(const Box& box, std::size_t axis, std::int32_t difference) {
  if (axis == box.extents.size()) return 0;
  const std::int32_t straight = std::abs(difference);
  return box.wrapped ? std::min(straight, box.extents[axis] - straight) : straight;
}

/// Hops of all steps along one line of an axis. `values` is room to work in.
std::int64_t price_line(const std::vector<Digit>& digits, const Lattice::Axis& axis, const Box& box,
                        std::vector<std::int32_t>& values) {
  std::int64_t sum = 0;
  std::int32_t above = axis.extent - 1;  // steps that change this digit or a higher one
  for (const Digit& digit : digits) {
    const std::int32_t over = above / digit.size;
    const std::int32_t hops = hops_along(box, digit.along, digit.step);
    sum += static_cast<std::int64_t>(above - over) * (hops > 0 ? hops + box.climb : 0);
    above = over;
  }
  if (axis.ring) {  // from the last point back to the first, whose digits are 0
    digits_at(digits, axis.extent - 1, values);
    std::int32_t hops = 0;
    for (std::size_t at = 0; at < digits.size(); ++at) {
      std::int32_t difference = 0;
      bool told = false;  // by an earlier digit along the same axis
      for (std::size_t other = 0; other < digits.size(); ++other) {
        if (digits[other].along != digits[at].along) continue;
        told |= other < at;
        difference += values[other] * digits[other].step;
      }
      if (!told) hops += hops_along(box, digits[at].along, difference);
    }
    sum += hops > 0 ? hops + box.climb : 0;
  }
  return sum;
}

class GridEmbedding {
 public:
  /// `even`: digits divide the axes; otherwise the last turn of a digit may be cut short.
  GridEmbedding(const Lattice& lattice, const Box& box, bool even)
      : lattice_(lattice), box_(box), even_(even), extents_(box.extents) {
    if (box.cores > 1) extents_.push_back(box.cores);
    size_.assign(extents_.size(), Extents(lattice.axes.size(), 1));
    order_.resize(extents_.size());
    for (const Lattice::Axis& axis : lattice.axes) {
      left_.push_back(axis.extent);
      if (box.cores == 1) least_price_ += axis.weight * (1 + box.climb);
    }
    turns_ = longest_first(extents_);
    takers_ = longest_first(left_);
  }

  std::optional<std::vector<std::uint32_t>> run() {
    share(0, 0, extents_.empty() ? 1 : extents_[turns_[0]]);
    if (best_.empty()) return std::nullopt;
    return places(best_);
  }

 private:
  static constexpr std::size_t kMostTried = 3000;
  static constexpr std::size_t kMostShared = 100'000'000;  ///< steps: few ways may end in any that fits
  static constexpr std::size_t kMostWeighed = std::size_t{1} << 20U;  ///< ranks x embeddings
  static constexpr double kSame = 1e-9;  ///< prices that differ by less, relative, are equal

  /// The core of each rank.
  std::vector<std::uint32_t> places(const std::vector<std::vector<Digit>>& digits) const {
    std::vector<std::size_t> stride(extents_.size(), 1);
    for (std::size_t axis = stride.size(); axis-- > 1;)
      stride[axis - 1] = stride[axis] * static_cast<std::size_t>(extents_[axis]);
    std::vector<std::vector<std::uint32_t>> shift(lattice_.axes.size());
    std::vector<std::int32_t> values;
    for (std::size_t axis = 0; axis < lattice_.axes.size(); ++axis)
      for (std::int32_t point = 0; point < lattice_.axes[axis].extent; ++point) {
        digits_at(digits[axis], point, values);
        std::size_t place = 0;
        for (std::size_t at = 0; at < values.size(); ++at)
          place += stride[digits[axis][at].along] *
                   static_cast<std::size_t>(values[at] * digits[axis][at].step);
        shift[axis].push_back(static_cast<std::uint32_t>(place));
      }
    std::vector<std::uint32_t> found(ranks(), 0);
    for (Rank rank = 0; rank < ranks(); ++rank)
      for (std::size_t axis = 0; axis < lattice_.axes.size(); ++axis)
        found[rank] += shift[axis][static_cast<std::size_t>(lattice_.at(rank, axis))];
    return found;
  }

  std::size_t ranks() const { return lattice_.place.size() / lattice_.axes.size(); }

  /// The most weight that a cable of the box carries; messages go along one axis after the other.
  double busiest(const std::vector<std::vector<Digit>>& digits) const {
    const std::vector<std::uint32_t> place = places(digits);
    std::vector<Rank> at_point(ranks());  // the rank at each point of the lattice
    std::vector<std::size_t> stride(lattice_.axes.size(), 1);
    for (std::size_t axis = stride.size(); axis-- > 1;)
      stride[axis - 1] = stride[axis] * static_cast<std::size_t>(lattice_.axes[axis].extent);
    std::vector<std::size_t> point(ranks(), 0);
    for (Rank rank = 0; rank < ranks(); ++rank) {
      for (std::size_t axis = 0; axis < stride.size(); ++axis)
        point[rank] += stride[axis] * static_cast<std::size_t>(lattice_.at(rank, axis));
      at_point[point[rank]] = rank;
    }
    const auto cores = static_cast<std::uint32_t>(box_.cores);
    const std::size_t axes = box_.extents.size();
    std::size_t nodes = 1;
    for (const std::int32_t extent : box_.extents) nodes *= static_cast<std::size_t>(extent);
    std::vector<double> load(nodes * axes, 0);  // of the cable from a node on along an axis
    double most = 0;
    for (std::size_t axis = 0; axis < stride.size(); ++axis) {
      const Lattice::Axis& line = lattice_.axes[axis];
      const std::int32_t steps = line.extent - (line.ring ? 0 : 1);
      const double weight = line.weight * line.extent / (static_cast<double>(ranks()) * steps);
      for (Rank rank = 0; rank < ranks(); ++rank) {
        const std::int32_t here = lattice_.at(rank, axis);
        if (here == steps) continue;
        const std::size_t next = here + 1 == line.extent
                                     ? point[rank] - stride[axis] * static_cast<std::size_t>(here)
                                     : point[rank] + stride[axis];
        send(place[rank] / cores, place[at_point[next]] / cores, nodes, [&](std::size_t cable) {
          load[cable] += weight;
          most = std::max(most, load[cable]);
        });
      }
    }
    return most;
  }

  /// Calls `use` with each cable between two nodes: node x axes + axis.
  template <typename Use>
  void send(std::size_t from, std::size_t to, std::size_t nodes, const Use& use) const {
    std::size_t stride = nodes;
    for (std::size_t axis = 0; axis < box_.extents.size() && from != to; ++axis) {
      const auto extent = static_cast<std::size_t>(box_.extents[axis]);
      stride /= extent;
      const std::size_t end = to / stride % extent;
      std::size_t at = from / stride % extent;
      const std::size_t ahead = (end + extent - at) % extent;
      const bool up = box_.wrapped && extent > 2 ? 2 * ahead <= extent : end > at;
      for (; at != end; from = from - from / stride % extent * stride + at * stride) {
        const std::size_t after = up ? (at + 1) % extent : (at + extent - 1) % extent;
        const std::size_t low = up ? from : from - at * stride + after * stride;
        use(low * box_.extents.size() + axis);
        at = after;
      }
    }
  }

  /// The longest axes first: so those that fit each other are tried together before all others.
  static std::vector<std::size_t> longest_first(const Extents& extents) {
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return extents[a] > extents[b]; });
    return order;
  }

  /// Shares an axis of the box, of which `room` is left, among the lattice's axes.
  void share(std::size_t turn, std::size_t next, std::int32_t room) {
    ++shared_;
    if (done()) return;
    if (turn == turns_.size()) {
      if (std::all_of(left_.begin(), left_.end(), [](std::int32_t rest) { return rest == 1; }))
        arrange(0);
      return;
    }
    if (next == takers_.size()) {
      std::int64_t need = 1, rest = 1;
      for (const std::int32_t one : left_) need *= one;
      for (std::size_t later = turn + 1; later < turns_.size(); ++later)
        rest *= extents_[turns_[later]];
      if (need <= rest)
        share(turn + 1, 0, turn + 1 < turns_.size() ? extents_[turns_[turn + 1]] : 1);
      return;
    }
    const std::size_t along = turns_[turn], axis = takers_[next];
    const std::int32_t whole = left_[axis];
    for (std::int32_t size = std::min(room, whole); size >= 1; --size) {
      if (even_ && whole % size != 0) continue;
      left_[axis] = (whole + size - 1) / size;
      size_[along][axis] = size;
      share(turn, next + 1, room / size);
    }
    left_[axis] = whole;
    size_[along][axis] = 1;
  }

  /// Tries the orders of the digits that share each axis of the box, then prices. Along the cores of
  /// a node there are no hops in any order.
  void arrange(std::size_t along) {
    if (done()) return;
    if (along == extents_.size()) {
      price();
      return;
    }
    std::vector<std::size_t>& order = order_[along];
    order.clear();
    for (std::size_t axis = 0; axis < left_.size(); ++axis)
      if (size_[along][axis] > 1) order.push_back(axis);
    const bool matters = along < box_.extents.size() && order.size() <= 4;
    do {
      const std::vector<std::size_t> kept = order;
      arrange(along + 1);
      order = kept;
    } while (matters && std::next_permutation(order.begin(), order.end()));
  }

  /// No flow between nodes can take less than one hop.
  bool done() const {
    return tried_ >= kMostTried || shared_ >= kMostShared ||
           (!best_.empty() && best_price_ <= least_price_);
  }

  void price() {
    ++tried_;
    std::vector<std::vector<Digit>>& digits = digits_;
    digits.resize(left_.size());
    for (std::vector<Digit>& mine : digits) mine.clear();
    for (std::size_t along = 0; along < order_.size(); ++along) {
      std::int32_t step = 1;
      for (const std::size_t axis : order_[along]) {
        digits[axis].push_back({along, size_[along][axis], step});
        step *= size_[along][axis];
      }
    }
    double sum = 0;
    for (std::size_t axis = 0; axis < digits.size() && (best_.empty() || sum <= best_price_ * (1 + kSame)); ++axis) {
      std::vector<Digit>& mine = digits[axis];
      const auto earlier = [](const Digit& a, const Digit& b) {
        return std::pair(a.step, a.along) < std::pair(b.step, b.along);
      };
      std::sort(mine.begin(), mine.end(), earlier);
      std::int64_t least = price_line(mine, lattice_.axes[axis], box_, values_);
      if (mine.size() <= 4) {
        cheapest_ = mine;
        while (std::next_permutation(mine.begin(), mine.end(), earlier)) {
          const std::int64_t hops = price_line(mine, lattice_.axes[axis], box_, values_);
          if (hops >= least) continue;
          least = hops;
          cheapest_ = mine;
        }
        mine.swap(cheapest_);
      }
      const std::int32_t steps = lattice_.axes[axis].extent - (lattice_.axes[axis].ring ? 0 : 1);
      sum += lattice_.axes[axis].weight * static_cast<double>(least) / steps;
    }
    if (!best_.empty() && sum > best_price_ * (1 + kSame)) return;
    double load = -1;  // not known yet
    if (!best_.empty() && sum >= best_price_ * (1 - kSame)) {
      weighed_ += ranks();
      if (weighed_ > kMostWeighed) return;
      if (best_load_ < 0) best_load_ = busiest(best_);
      load = busiest(digits);
      if (load >= best_load_ * (1 - kSame)) return;
    }
    best_price_ = sum;
    best_load_ = load;
    best_ = digits;
  }

  const Lattice& lattice_;
  const Box& box_;
  bool even_;
  Extents extents_;                          ///< of the axes of the box, then the cores of a node
  std::vector<std::size_t> turns_, takers_;  ///< axes of the box and of the lattice as they come
  Extents left_;                             ///< of each axis of the lattice, not yet shared out
  std::vector<Extents> size_;                ///< digits: box axes x lattice axes
  std::vector<std::vector<std::size_t>> order_;  ///< of the lattice axes along each box axis
  std::vector<std::vector<Digit>> best_;
  std::vector<std::vector<Digit>> digits_;  ///< those that are priced
  std::vector<Digit> cheapest_;             ///< of an axis of these
  std::vector<std::int32_t> values_;        ///< of the digits at a point
  double best_price_ = 0, least_price_ = 0;
  double best_load_ = -1;  ///< of the busiest cable; below 0 where nobody asked
  std::size_t tried_ = 0, shared_ = 0, weighed_ = 0;
};

/// A closed tour over `length` nodes of a box: a comb whose teeth are pairs of lines, and back along
/// its spine. An odd tour leaves one node out and steps over it.
std::optional<std::vector<std::uint32_t>> closed_tour(std::size_t length, const Box& box) {
  const std::size_t even = length + length % 2;
  std::size_t nodes = 1;
  for (const std::int32_t extent : box.extents) nodes *= static_cast<std::size_t>(extent);
  // Lines run along a boustrophedon of all other axes; `across` counts them.
  for (std::size_t across = 0; across < box.extents.size(); ++across) {
    const auto most = static_cast<std::size_t>(box.extents[across]) / 2 * 2;
    const std::size_t line = nodes / static_cast<std::size_t>(box.extents[across]);
    if (most < 2 || line < 2 || most * line < even || even < 4) continue;
    std::size_t rows = 2;
    while (rows * line < even) rows += 2;
    if (even < 2 * rows) continue;
    std::vector<std::size_t> reach(rows / 2, 1);  // how far each tooth goes beyond the spine
    std::size_t more = (even - 2 * rows) / 2;
    for (std::size_t& tooth : reach) {
      const std::size_t extra = std::min(more, line - 2);
      tooth += extra;
      more -= extra;
    }
    if (more > 0) continue;
    std::vector<std::uint32_t> tour;
    const auto put = [&](std::size_t row, std::size_t column) {
      // The node at a place of the boustrophedon.
      std::size_t node = 0, stride = nodes, rest = column, size = line;
      for (std::size_t axis = 0; axis < box.extents.size(); ++axis) {
        const auto extent = static_cast<std::size_t>(box.extents[axis]);
        stride /= extent;
        if (axis == across) {
          node += row * stride;
          continue;
        }
        size /= extent;
        std::size_t digit = rest / size;
        rest %= size;
        if (digit % 2 == 1) rest = size - 1 - rest;
        node += digit * stride;
      }
      tour.push_back(static_cast<std::uint32_t>(node));
    };
    put(0, 0);
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t at = 1; at <= reach[row / 2]; ++at)
        put(row, row % 2 == 0 ? at : reach[row / 2] + 1 - at);
    for (std::size_t row = rows; row-- > 1;) put(row, 0);
    tour.resize(length);
    return tour;
  }
  return std::nullopt;
}

/// The cheapest way to cut a block for a tree below some level, by dynamic programming.
class Cutting {
 public:
  struct Cuts {
    double price = std::numeric_limits<double>::infinity();
    Extents pieces;  ///< at this level, of each axis
  };

  Cutting(const Lattice& lattice, const std::vector<std::uint32_t>& arity,
          const std::vector<int>& hops)
      : lattice_(lattice),
        arity_(arity),
        hops_(hops),
        ranks_(static_cast<double>(lattice.ranks())),
        memo_(arity.size()) {
    room_.assign(arity.size() + 1, 1);
    for (std::size_t level = arity.size(); level-- > 0;)
      room_[level] = room_[level + 1] * arity[level];
  }

  const Cuts& best(std::size_t level, const Extents& block) {
    const auto known = memo_[level].find(block);
    if (known != memo_[level].end()) return known->second;
    Cuts found;
    Extents pieces(block.size(), 1);
    try_pieces(level, block, 0, static_cast<std::int32_t>(arity_[level]), pieces, found);
    return memo_[level].emplace(block, std::move(found)).first->second;
  }

 private:
  void try_pieces(std::size_t level, const Extents& block, std::size_t axis, std::int32_t room,
                  Extents& pieces, Cuts& found) {
    if (axis == block.size()) {
      Extents inner(block.size());
      std::int64_t volume = 1;
      for (std::size_t at = 0; at < block.size(); ++at) {
        inner[at] = (block[at] + pieces[at] - 1) / pieces[at];
        volume *= inner[at];
      }
      if (volume > static_cast<std::int64_t>(room_[level + 1])) return;
      double price = 0, parts = 1;
      double points = 1;
      for (std::size_t at = 0; at < block.size(); ++at) {
        points *= block[at];
        parts *= pieces[at];
      }
      for (std::size_t at = 0; at < block.size(); ++at) {
        const Lattice::Axis& across = lattice_.axes[at];
        double cut = pieces[at] - 1;
        if (across.ring && block[at] == across.extent && pieces[at] > 1) ++cut;
        // The weight of one of its flows, for each line of the block across this axis.
        const double steps = across.extent - (across.ring ? 0 : 1);
        const double each = across.weight / (ranks_ / across.extent * steps);
        price += hops_[level] * cut * each * points / block[at];
      }
      if (level + 1 < arity_.size()) price += parts * best(level + 1, inner).price;
      if (level + 1 == arity_.size() && volume > 1) return;
      if (price >= found.price) return;
      found.price = price;
      found.pieces = pieces;
      return;
    }
    for (std::int32_t count = 1; count <= std::min(room, block[axis]); ++count) {
      pieces[axis] = count;
      try_pieces(level, block, axis + 1, room / count, pieces, found);
    }
    pieces[axis] = 1;
  }

  const Lattice& lattice_;
  const std::vector<std::uint32_t>& arity_;
  const std::vector<int>& hops_;
  double ranks_;
  std::vector<std::size_t> room_;  ///< leaves below a node of each level
  std::vector<std::map<Extents, Cuts>> memo_;
};

}  // namespace

std::optional<std::vector<std::uint32_t>> embed_in_grid(const Lattice& lattice, const Box& box) {
  const std::size_t ranks = lattice.ranks();
  if (lattice.axes.size() == 1 && lattice.axes[0].ring) {
    const auto cores = static_cast<std::uint32_t>(box.cores);
    const auto tour = closed_tour((ranks + cores - 1) / cores, box);
    if (tour) {
      std::vector<std::uint32_t> places;
      for (Rank rank = 0; rank < ranks; ++rank) {
        const auto at = static_cast<std::uint32_t>(lattice.at(rank, 0));
        places.push_back((*tour)[at / cores] * cores + at % cores);
      }
      return places;
    }
  }
  const auto even = GridEmbedding(lattice, box, true).run();
  return even ? even : GridEmbedding(lattice, box, false).run();
}

std::optional<std::vector<std::uint32_t>> cut_for_tree(const Lattice& lattice,
                                                       const std::vector<std::uint32_t>& arity,
                                                       const std::vector<int>& hops) {
  Extents whole;
  for (const Lattice::Axis& axis : lattice.axes) whole.push_back(axis.extent);
  Cutting cutting(lattice, arity, hops);
  const std::size_t ranks = lattice.place.size() / whole.size();
  std::vector<std::uint32_t> leaf(ranks, 0);
  std::vector<std::int32_t> place = lattice.place;
  Extents block = whole;
  if (cutting.best(0, whole).pieces.empty()) return std::nullopt;
  for (std::size_t level = 0; level < arity.size(); ++level) {
    const Extents pieces = cutting.best(level, block).pieces;
    if (pieces.empty()) return std::nullopt;
    Extents inner(block.size());
    for (std::size_t axis = 0; axis < block.size(); ++axis)
      inner[axis] = (block[axis] + pieces[axis] - 1) / pieces[axis];
    for (Rank rank = 0; rank < ranks; ++rank) {
      std::uint32_t child = 0;
      for (std::size_t axis = 0; axis < block.size(); ++axis) {
        std::int32_t& point = place[rank * block.size() + axis];
        child = child * static_cast<std::uint32_t>(pieces[axis]) +
                static_cast<std::uint32_t>(point / inner[axis]);
        point %= inner[axis];
      }
      leaf[rank] = leaf[rank] * arity[level] + child;
    }
    block = inner;
  }
  return leaf;
}

}  // namespace hamtune::mapper
