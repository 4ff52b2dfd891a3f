#include "searchspace/kernels/mapping/mapper/part_exchange.hpp"

#include <limits>

namespace hamtune::mapper {
namespace {

using Vertex = std::uint32_t;
constexpr Vertex kNone = std::numeric_limits<Vertex>::max();
constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::min();

class Exchange {
 public:
  Exchange(const PartGraph& graph, const std::vector<std::size_t>& room,
           std::vector<std::uint32_t>& part)
      : graph_(graph),
        parts_(room.size()),
        part_(part),
        free_(room.begin(), room.end()),
        ties_(graph.vertices() * room.size(), 0),
        best_(graph.vertices()),
        moved_(graph.vertices(), 0) {
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      --free_[part[vertex]];
      for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at) {
        ties_[vertex * parts_ + part[graph.arcs[at].to]] += graph.arcs[at].weight;
        cut_ += part[graph.arcs[at].to] == part[vertex] ? 0 : graph.arcs[at].weight;
      }
    }
    cut_ /= 2;
  }

  std::int64_t run() {
    std::int64_t saved = 0;
    do {
      saved = pass();
      cut_ -= saved;
    } while (saved > 0);
    return cut_;
  }

 private:
  struct Best {
    std::int32_t gain;
    std::uint32_t to;
  };
  struct Move {
    Vertex vertex;
    std::uint32_t from;
  };

  /// The part, other than its own, to which a vertex is tied most.
  void look(Vertex vertex) {
    const std::int32_t* row = ties_.data() + vertex * parts_;
    const std::uint32_t mine = part_[vertex];
    Best best{kNever, mine};
    for (std::uint32_t to = 0; to < parts_; ++to)
      if (to != mine && row[to] > best.gain) best = {row[to], to};
    best.gain -= row[mine];
    best_[vertex] = best;
  }

  void move(Vertex vertex, std::uint32_t to) {
    const std::uint32_t from = part_[vertex];
    part_[vertex] = to;
    ++free_[from];
    --free_[to];
    for (std::uint32_t at = graph_.first[vertex]; at < graph_.first[vertex + 1]; ++at) {
      const auto [other, weight] = graph_.arcs[at];
      ties_[other * parts_ + from] -= weight;
      ties_[other * parts_ + to] += weight;
      if (moved_[other] == 0) look(other);
    }
  }

  /// Returns what it saved.
  std::int64_t pass() {
    const auto vertices = static_cast<Vertex>(graph_.vertices());
    for (Vertex vertex = 0; vertex < vertices; ++vertex) {
      moved_[vertex] = 0;
      look(vertex);
    }
    const std::size_t patience = 30 + vertices / 40;
    trail_.clear();
    std::int64_t sum = 0, best = 0;
    std::size_t kept = 0;
    std::uint32_t full = kNone;  // the part with one vertex too many
    while (trail_.size() < kept + patience) {
      Vertex chosen = kNone;
      std::uint32_t to = 0;
      std::int32_t gain = kNever;
      if (full != kNone) {  // the chain may end where there is room, if that is worth it
        for (Vertex vertex = 0; vertex < vertices; ++vertex) {
          if (part_[vertex] != full || moved_[vertex] != 0) continue;
          const std::int32_t* row = ties_.data() + vertex * parts_;
          for (std::uint32_t into = 0; into < parts_; ++into) {
            if (into == full || free_[into] <= 0 || row[into] - row[full] <= gain) continue;
            gain = row[into] - row[full];
            chosen = vertex;
            to = into;
          }
        }
        if (chosen != kNone && sum + gain <= best) chosen = kNone;
      }
      if (chosen == kNone) {
        gain = kNever;
        for (Vertex vertex = 0; vertex < vertices; ++vertex) {
          if (best_[vertex].gain <= gain || moved_[vertex] != 0) continue;
          if (full != kNone && part_[vertex] != full) continue;
          chosen = vertex;
          gain = best_[vertex].gain;
        }
        if (chosen == kNone) break;
        to = best_[chosen].to;
      }
      trail_.push_back({chosen, part_[chosen]});
      moved_[chosen] = 1;
      sum += gain;
      move(chosen, to);
      full = free_[to] < 0 ? to : kNone;
      if (full == kNone && sum > best) {
        best = sum;
        kept = trail_.size();
      }
    }
    for (Vertex vertex = 0; vertex < vertices; ++vertex) moved_[vertex] = 1;  // no more looks
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
  std::vector<std::int32_t> ties_;  ///< vertices x parts: weight of the arcs into each part
  std::vector<Best> best_;
  std::vector<std::uint8_t> moved_;
  std::vector<Move> trail_;
  std::int64_t cut_ = 0;
};

}  // namespace

std::int64_t exchange_siblings(const PartGraph& graph, const std::vector<std::size_t>& room,
                               std::vector<std::uint32_t>& part) {
  return Exchange(graph, room, part).run();
}

}  // namespace hamtune::mapper
