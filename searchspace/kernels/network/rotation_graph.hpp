// A network with rotational symmetry, and its distances. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "searchspace/kernels/graph/distance_levels.hpp"

namespace hamtune {

/// All turns of an edge: turn x of base node i is joined with turn x + turn of base node j. When
/// i = j and the turn is half of all, an edge is its own opposite and gives each node one cable.
struct Orbit {
  std::uint32_t i = 0;
  std::uint32_t j = 0;
  std::uint32_t turn = 0;
};

/// What an evaluation finds out.
struct DistanceSum {
  std::int64_t cost = 0;  // the sum of distances from the base nodes, plus penalties
  unsigned diameter = 0;
};

/// Node x * bases + i is turn x of base node i; turning all nodes by `bases` maps the network onto
/// itself. With a symmetry of 1 it is any network. Orbits come and go; distances are counted from
/// the base nodes only, by bit-parallel breadth-first search (see LevelShape).
class RotationGraph {
 public:
  static constexpr std::int64_t kTooFar = std::numeric_limits<std::int64_t>::max();

  RotationGraph(std::uint32_t nodes, std::uint32_t degree, std::uint32_t symmetry)
      : nodes_(nodes), symmetry_(symmetry), bases_(turned(nodes, symmetry)) {
    if (degree == 0) throw std::invalid_argument("the degree must be at least 1");
    plan_rows(degree);
    used_.assign(bases_, 0);
    pieces_.resize(std::size_t{bases_} * degree);
    for (std::uint32_t base = 0; base < bases_; ++base)
      std::fill_n(pieces_.begin() + std::size_t{base} * degree, degree, piece(base, 0));
    const std::size_t bytes = std::size_t{shape_.stride} * bases_;
    for (Matrix& matrix : matrices_) matrix = allocate(bytes);
    for (std::uint32_t base = 0; base < bases_; ++base) flip(base, base, 0);
    reached_at_start_ = bases_;
  }

  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t degree() const { return shape_.degree; }
  std::uint32_t symmetry() const { return symmetry_; }
  std::uint32_t bases() const { return bases_; }
  std::uint32_t degree_of(std::uint32_t base) const { return used_[base]; }

  /// Whether each of its nodes has one cable of the orbit, not two.
  bool is_self_paired(const Orbit& orbit) const {
    return orbit.i == orbit.j && 2 * orbit.turn == symmetry_;
  }

  /// Whether the orbit's edges join different nodes that are not joined yet.
  bool fits(const Orbit& orbit) const {
    if (orbit.i == orbit.j && orbit.turn == 0) return false;
    const std::uint32_t* const first = pieces_.data() + std::size_t{orbit.i} * shape_.degree;
    const std::uint32_t* const last = first + used_[orbit.i];
    return std::find(first, last, piece(orbit.j, orbit.turn)) == last;
  }

  void link(const Orbit& orbit) {
    link_half(orbit.i, orbit.j, orbit.turn);
    if (!is_self_paired(orbit)) link_half(orbit.j, orbit.i, opposite(orbit.turn));
  }

  void unlink(const Orbit& orbit) {
    unlink_half(orbit.i, orbit.j, orbit.turn);
    if (!is_self_paired(orbit)) unlink_half(orbit.j, orbit.i, opposite(orbit.turn));
  }

  std::uint32_t opposite(std::uint32_t turn) const { return turn == 0 ? 0 : symmetry_ - turn; }

  /// Adds up the distances from the base nodes to all nodes, and `penalty` for each of these pairs
  /// that is more than `diameter_goal` hops apart. As soon as the cost is sure to be above `limit`,
  /// or some pair has no path, it is kTooFar.
  DistanceSum evaluate(std::int64_t limit, unsigned diameter_goal, std::int64_t penalty) {
    const std::int64_t all = std::int64_t{bases_} * nodes_;
    std::int64_t reached = reached_at_start_;
    std::int64_t cost = (all - bases_) + (all - reached);
    if (diameter_goal <= 1) cost += penalty * (all - reached);
    const std::uint8_t* from = matrices_[0].get();
    std::uint8_t* to = matrices_[1].get();
    unsigned level = 1;
    while (reached < all) {
      if (cost > limit) return {kTooFar, 0};
      const auto now = static_cast<std::int64_t>(next_(shape_, from, to, pieces_.data()));
      if (now == reached) return {kTooFar, 0};
      reached = now;
      ++level;
      cost += all - reached;
      if (level == diameter_goal) cost += penalty * (all - reached);
      from = to;
      to = matrices_[from == matrices_[1].get() ? 2 : 1].get();
    }
    return {cost > limit ? kTooFar : cost, all == bases_ ? 0 : level};
  }

 private:
  struct Free {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  };
  using Matrix = std::unique_ptr<std::uint8_t[], Free>;

  static constexpr std::size_t kAlignment = 64;

  /// How many nodes there are that turn into all.
  static std::uint32_t turned(std::uint32_t nodes, std::uint32_t symmetry) {
    if (symmetry == 0 || nodes % symmetry != 0)
      throw std::invalid_argument("the symmetry must divide the number of nodes");
    return nodes / symmetry;
  }

  static std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
    return (value + unit - 1) / unit * unit;
  }

  static Matrix allocate(std::size_t bytes) {
    const std::size_t whole = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
    auto* const memory = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, whole));
    if (memory == nullptr) throw std::bad_alloc();
    std::fill_n(memory, whole, std::uint8_t{0});
    return Matrix(memory);
  }

  void plan_rows(std::uint32_t degree) {
    shape_.rows = bases_;
    shape_.degree = degree;
    // Whole bytes, a power of two of them, so that few pieces straddle two cache lines.
    element_ = round_up(bases_, 8) / 8;
    if (symmetry_ > 1) {
      std::uint32_t power = 1;
      while (power < element_) power *= 2;
      if (power <= 8) element_ = power;
    }
    const std::uint32_t bytes = element_ * symmetry_;
    shape_.vector = bytes <= 8 ? 8 : bytes <= 16 ? 16 : 32;
    shape_.vectors = (bytes + shape_.vector - 1) / shape_.vector;
    shape_.copy = symmetry_ > 1 ? bytes : 0;
    shape_.stride = round_up(shape_.copy + shape_.vectors * shape_.vector, shape_.vector);
    if (shape_.stride > 32) shape_.stride = round_up(shape_.stride, 64);
    if (std::uint64_t{shape_.stride} * bases_ > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument("the network is too large to be annealed");
    const std::uint32_t last = bytes - (shape_.vectors - 1) * shape_.vector;
    auto* const mask = reinterpret_cast<std::uint8_t*>(shape_.last_mask);
    std::fill_n(mask, last, std::uint8_t{0xFF});
    next_ = fastest_level(shape_);
  }

  std::uint32_t piece(std::uint32_t base, std::uint32_t turn) const {
    return base * shape_.stride + turn * element_;
  }

  /// Turns the bit of base node `source` at turn `turn` of `base`, in the matrix of one hop.
  void flip(std::uint32_t source, std::uint32_t base, std::uint32_t turn) {
    std::uint8_t* const at = matrices_[0].get() + piece(base, turn) + source / 8;
    const auto bit = static_cast<std::uint8_t>(1U << (source % 8));
    *at ^= bit;
    if (shape_.copy != 0) at[shape_.copy] ^= bit;
  }

  void link_half(std::uint32_t base, std::uint32_t other, std::uint32_t turn) {
    pieces_[std::size_t{base} * shape_.degree + used_[base]++] = piece(other, turn);
    flip(base, other, turn);
    ++reached_at_start_;
  }

  void unlink_half(std::uint32_t base, std::uint32_t other, std::uint32_t turn) {
    std::uint32_t* const first = pieces_.data() + std::size_t{base} * shape_.degree;
    std::uint32_t* const last = first + --used_[base];
    *std::find(first, last, piece(other, turn)) = *last;
    *last = piece(base, 0);  // harmless: a row stays within the next one
    flip(base, other, turn);
    --reached_at_start_;
  }

  std::uint32_t nodes_;
  std::uint32_t symmetry_;
  std::uint32_t bases_;
  std::uint32_t element_ = 0;  // bytes
  LevelShape shape_;
  LevelFunction next_ = nullptr;
  std::vector<std::uint32_t> used_;    // cables of a node of each row
  std::vector<std::uint32_t> pieces_;  // of each row's neighbours; its own where there are fewer
  Matrix matrices_[3];                 // within one hop; the two latest levels
  std::int64_t reached_at_start_ = 0;
};

}  // namespace hamtune
