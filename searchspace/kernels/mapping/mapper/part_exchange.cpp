#include "searchspace/kernels/mapping/mapper/part_exchange.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "searchspace/kernels/mapping/mapper/best_first.hpp"

namespace hamtune::mapper {
namespace {

using Vertex = std::uint32_t;
constexpr Vertex kNone = std::numeric_limits<Vertex>::max();

/// Of each vertex the weight of its arcs into each part to which it has any. A vertex of few arcs is tied to
/// few parts: where parts are many, a table of all would grow as their square. Who has as many arcs as there
/// are parts has a place for each part.
class Ties {
 public:
  struct Tie {
    std::uint32_t part;
    std::int32_t weight;
  };

  Ties(const PartGraph& graph, std::size_t parts)
      : parts_(parts), first_(graph.vertices() + 1, 0), count_(graph.vertices(), 0) {
    for (std::size_t vertex = 0; vertex < graph.vertices(); ++vertex)
      first_[vertex + 1] =
          first_[vertex] + std::min<std::size_t>(graph.first[vertex + 1] - graph.first[vertex], parts);
    ties_.resize(first_.back());
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      if (!has_all(vertex)) continue;
      count_[vertex] = static_cast<std::uint32_t>(parts);
      for (std::uint32_t part = 0; part < parts; ++part) ties_[first_[vertex] + part] = {part, 0};
    }
  }

  const Tie* begin(Vertex vertex) const { return ties_.data() + first_[vertex]; }
  const Tie* end(Vertex vertex) const { return begin(vertex) + count_[vertex]; }

  /// Adds a weight that is not 0 to one that stays 0 at least; returns the sum.
  std::int32_t add(Vertex vertex, std::uint32_t part, std::int32_t weight) {
    Tie* const found = ties_.data() + (find(vertex, part) - ties_.data());
    if (found == end(vertex)) {
      *found = {part, 0};
      ++count_[vertex];
    }
    const std::int32_t sum = found->weight += weight;
    if (sum == 0 && !has_all(vertex)) *found = begin(vertex)[--count_[vertex]];
    return sum;
  }

 private:
  bool has_all(Vertex vertex) const { return first_[vertex + 1] - first_[vertex] == parts_; }
  const Tie* find(Vertex vertex, std::uint32_t part) const {
    if (has_all(vertex)) return begin(vertex) + part;
    return std::find_if(begin(vertex), end(vertex), [part](const Tie& tie) { return tie.part == part; });
  }

  std::size_t parts_;
  std::vector<std::size_t> first_;
  std::vector<Tie> ties_;
  std::vector<std::uint32_t> count_;
};

class Exchange {
 public:
  Exchange(const PartGraph& graph, const std::vector<std::size_t>& room,
           std::vector<std::uint32_t>& part)
      : graph_(graph),
        parts_(room.size()),
        part_(part),
        free_(room.begin(), room.end()),
        ties_(graph, room.size()),
        best_(graph.vertices()),
        moved_(graph.vertices(), 0),
        place_(graph.vertices()),
        place_in_part_(graph.vertices()),
        of_part_(room.size()) {
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      --free_[part[vertex]];
      for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at) {
        const auto [other, weight] = graph.arcs[at];
        if (weight > 0) ties_.add(vertex, part[other], weight);
        cut_ += part[other] == part[vertex] ? 0 : weight;
      }
    }
    cut_ /= 2;
    for (std::uint32_t one = 0; one < parts_; ++one)
      if (free_[one] > 0) open_.insert(one);
  }

  std::int64_t run() {
    if (parts_ < 2) return cut_;
    std::int64_t saved = 0;
    do {
      saved = pass();
      cut_ -= saved;
    } while (saved > 0);
    return cut_;
  }

 private:
  struct Best {
    std::uint32_t to;
    std::int32_t tie;  ///< to that part
    std::int32_t own;  ///< to the part where the vertex is
    std::int32_t gain() const { return tie - own; }
    void offer(std::uint32_t part, std::int32_t weight) {
      if (weight < tie || (weight == tie && part > to)) return;
      to = part;
      tie = weight;
    }
  };
  struct Move {
    Vertex vertex;
    std::uint32_t from;
  };
  struct Step {
    Vertex vertex = kNone;
    std::uint32_t to = 0;
    std::int64_t gain = 0;
  };

  /// The part, other than its own, to which a vertex is tied most; the first of several.
  void look(Vertex vertex) {
    const std::uint32_t mine = part_[vertex];
    Best best{mine == 0 ? 1U : 0U, 0, 0};
    for (const Ties::Tie* tie = ties_.begin(vertex); tie != ties_.end(vertex); ++tie) {
      if (tie->part == mine)
        best.own = tie->weight;
      else
        best.offer(tie->part, tie->weight);
    }
    best_[vertex] = best;
  }

  /// A partner of the vertex has moved, and with it the weight; the tie to where it is now is `sum`.
  void look_again(Vertex vertex, std::uint32_t from, std::uint32_t to, std::int32_t weight,
                  std::int32_t sum) {
    Best& best = best_[vertex];
    const std::int32_t before = best.gain();
    const std::uint32_t mine = part_[vertex];
    if (best.to == from) {
      look(vertex);
    } else {
      best.own += mine == to ? weight : mine == from ? -weight : 0;
      if (to != mine) best.offer(to, sum);
    }
    if (best.gain() == before) return;
    all_.change({best.gain(), vertex}, place_);
    of_part_[mine].change({best.gain(), vertex}, place_in_part_);
  }

  void move(Vertex vertex, std::uint32_t to) {
    const std::uint32_t from = part_[vertex];
    part_[vertex] = to;
    if (++free_[from] == 1) open_.insert(from);
    if (--free_[to] == 0) open_.erase(to);
    for (std::uint32_t at = graph_.first[vertex]; at < graph_.first[vertex + 1]; ++at) {
      const auto [other, weight] = graph_.arcs[at];
      if (weight == 0) continue;
      ties_.add(other, from, -weight);
      const std::int32_t sum = ties_.add(other, to, weight);
      if (moved_[other] == 0) look_again(other, from, to, weight, sum);
    }
  }

  /// All vertices may move again.
  void begin_pass() {
    all_.clear();
    for (BestFirst& heap : of_part_) heap.clear();
    for (Vertex vertex = 0; vertex < graph_.vertices(); ++vertex) {
      moved_[vertex] = 0;
      look(vertex);
      all_.add({best_[vertex].gain(), vertex}, place_);
      of_part_[part_[vertex]].add({best_[vertex].gain(), vertex}, place_in_part_);
    }
  }

  /// The part with room to which a vertex is tied most, the first of several, where its own has none.
  Best into_room(Vertex vertex) const {
    Best best{*open_.begin(), 0, best_[vertex].own};
    for (const Ties::Tie* tie = ties_.begin(vertex); tie != ties_.end(vertex); ++tie)
      if (free_[tie->part] > 0) best.offer(tie->part, tie->weight);
    return best;
  }

  /// The move out of the part that is too full into one with room, if it gains `least` or more.
  Step last_step(std::uint32_t full, std::int64_t least) const {
    Step step;
    step.gain = least;
    if (open_.empty()) return step;
    // No vertex gains more where there is room than it does anywhere.
    of_part_[full].visit_from([&step] { return step.gain; },
                              [&](Vertex vertex) {
                                const Best best = into_room(vertex);
                                if (best.gain() < step.gain) return;
                                if (best.gain() == step.gain && vertex > step.vertex) return;
                                step = {vertex, best.to, best.gain()};
                              });
    return step;
  }

  /// The move that gains most, out of the part that is too full if there is one.
  Step best_step(std::uint32_t full) const {
    const BestFirst& heap = full == kNone ? all_ : of_part_[full];
    if (heap.empty()) return {};
    const Vertex vertex = heap.first().vertex;
    return {vertex, best_[vertex].to, best_[vertex].gain()};
  }

  /// Returns what it saved.
  std::int64_t pass() {
    begin_pass();
    const std::size_t patience = 30 + graph_.vertices() / 40;
    trail_.clear();
    std::int64_t sum = 0, best = 0;
    std::size_t kept = 0;
    std::uint32_t full = kNone;  // the part with one vertex too many
    while (trail_.size() < kept + patience) {
      Step step;  // the chain may end where there is room, if that is worth it
      if (full != kNone) step = last_step(full, best - sum + 1);
      if (step.vertex == kNone) step = best_step(full);
      if (step.vertex == kNone) break;
      const std::uint32_t from = part_[step.vertex];
      trail_.push_back({step.vertex, from});
      moved_[step.vertex] = 1;
      all_.remove(step.vertex, place_);
      of_part_[from].remove(step.vertex, place_in_part_);
      sum += step.gain;
      move(step.vertex, step.to);
      full = free_[step.to] < 0 ? step.to : kNone;
      if (full == kNone && sum > best) {
        best = sum;
        kept = trail_.size();
      }
    }
    std::fill(moved_.begin(), moved_.end(), std::uint8_t{1});  // no more looks
    while (trail_.size() > kept) {
      move(trail_.back().vertex, trail_.back().from);
      trail_.pop_back();
    }
    return best;
  }

  const PartGraph& graph_;
  std::size_t parts_;
  std::vector<std::uint32_t>& part_;
  std::vector<std::int64_t> free_;
  std::set<std::uint32_t> open_;  ///< parts with room
  Ties ties_;
  std::vector<Best> best_;
  std::vector<std::uint8_t> moved_;
  // Vertices that have not moved, by what they gain where they are tied most: all, and those of each part.
  HeapPlaces place_, place_in_part_;
  BestFirst all_;
  std::vector<BestFirst> of_part_;
  std::vector<Move> trail_;
  std::int64_t cut_ = 0;
};

}  // namespace

std::int64_t exchange_siblings(const PartGraph& graph, const std::vector<std::size_t>& room,
                               std::vector<std::uint32_t>& part) {
  return Exchange(graph, room, part).run();
}

}  // namespace hamtune::mapper
