#include "searchspace/kernels/mapping/mapper/bisection.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>

namespace hamtune::mapper {
namespace {

using Vertex = std::uint32_t;
using Parts = std::vector<std::uint8_t>;
constexpr Vertex kNone = std::numeric_limits<Vertex>::max();

/// A heap of vertices by gain, of which any can change.
class GainHeap {
 public:
  explicit GainHeap(std::size_t vertices) : place_(vertices, kNone) {}

  bool empty() const { return heap_.empty(); }
  Vertex top() const { return heap_.front().vertex; }
  std::int32_t gain() const { return heap_.front().gain; }
  bool holds(Vertex vertex) const { return place_[vertex] != kNone; }

  void put(Vertex vertex, std::int32_t gain) {
    if (place_[vertex] == kNone) {
      heap_.push_back({gain, vertex});
      rise(heap_.size() - 1);
      return;
    }
    const std::size_t at = place_[vertex];
    const std::int32_t before = heap_[at].gain;
    heap_[at].gain = gain;
    if (gain > before) rise(at);
    if (gain < before) sink(at);
  }

  void remove(Vertex vertex) {
    const std::size_t at = place_[vertex];
    place_[vertex] = kNone;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    heap_[at] = last;
    place_[last.vertex] = static_cast<Vertex>(at);
    rise(at);
    sink(place_[last.vertex]);
  }

  void clear() {
    for (const Entry& entry : heap_) place_[entry.vertex] = kNone;
    heap_.clear();
  }

 private:
  struct Entry {
    std::int32_t gain;
    Vertex vertex;
  };

  void rise(std::size_t at) {
    const Entry entry = heap_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (heap_[parent].gain >= entry.gain) break;
      set(at, heap_[parent]);
      at = parent;
    }
    set(at, entry);
  }

  void sink(std::size_t at) {
    const Entry entry = heap_[at];
    for (;;) {
      std::size_t child = 4 * at + 1;
      if (child >= heap_.size()) break;
      const std::size_t end = std::min(child + 4, heap_.size());
      for (std::size_t other = child + 1; other < end; ++other)
        if (heap_[other].gain > heap_[child].gain) child = other;
      if (heap_[child].gain <= entry.gain) break;
      set(at, heap_[child]);
      at = child;
    }
    set(at, entry);
  }

  void set(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    place_[entry.vertex] = static_cast<Vertex>(at);
  }

  std::vector<Entry> heap_;
  std::vector<Vertex> place_;
};

/// The weight cut less the pulls followed.
std::int64_t cost_of(const PartGraph& graph, const Parts& parts) {
  std::int64_t cost = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    if (parts[vertex] == 0) cost -= 2 * static_cast<std::int64_t>(graph.pull[vertex]);
    for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at)
      if (parts[graph.arcs[at].to] != parts[vertex]) cost += graph.arcs[at].weight;
  }
  return cost / 2;
}

/// Fiduccia-Mattheyses refinement of a split.
class Refinement {
 public:
  Refinement(const PartGraph& graph, std::int32_t least, std::int32_t most)
      : graph_(graph),
        least_(least),
        most_(most),
        slack_(*std::max_element(graph.size.begin(), graph.size.end())),
        gain_(graph.vertices()),
        moved_(graph.vertices()),
        heaps_{GainHeap(graph.vertices()), GainHeap(graph.vertices())} {}

  /// Passes until one finds nothing; returns the weight cut less the pulls followed.
  std::int64_t run(Parts& parts, std::size_t passes) {
    size_ = 0;
    for (Vertex vertex = 0; vertex < graph_.vertices(); ++vertex)
      if (parts[vertex] == 0) size_ += graph_.size[vertex];
    while (passes-- > 0 && pass(parts)) {
    }
    return cost_of(graph_, parts);
  }

  /// How far the size of part 0 is out of bounds.
  std::int32_t excess(std::int32_t size) const {
    return std::max({0, least_ - size, size - most_});
  }
  std::int32_t excess() const { return excess(size_); }

 private:
  bool pass(Parts& parts) {
    const auto vertices = static_cast<Vertex>(graph_.vertices());
    heaps_[0].clear();
    heaps_[1].clear();
    std::fill(moved_.begin(), moved_.end(), std::uint8_t{0});
    for (Vertex vertex = 0; vertex < vertices; ++vertex) {
      const std::uint8_t part = parts[vertex];
      std::int32_t gain = part == 0 ? -graph_.pull[vertex] : graph_.pull[vertex];
      bool border = graph_.first[vertex] == graph_.first[vertex + 1];
      for (std::uint32_t at = graph_.first[vertex]; at < graph_.first[vertex + 1]; ++at) {
        const bool cut = parts[graph_.arcs[at].to] != part;
        gain += cut ? graph_.arcs[at].weight : -graph_.arcs[at].weight;
        border |= cut;
      }
      gain_[vertex] = gain;
      if (border || gain > 0) heaps_[part].put(vertex, gain);
    }
    if (excess() > 0) {  // any vertex may have to move
      for (Vertex vertex = 0; vertex < vertices; ++vertex)
        if (!heaps_[parts[vertex]].holds(vertex)) heaps_[parts[vertex]].put(vertex, gain_[vertex]);
    }

    trail_.clear();
    std::int64_t sum = 0, best = 0;
    std::int32_t best_excess = excess();
    std::size_t kept = 0;
    const std::size_t patience = 30 + graph_.vertices() / 40;
    while (trail_.size() < kept + patience || excess() > 0) {
      const int from = choose();
      if (from < 0) break;
      const Vertex vertex = heaps_[from].top();
      heaps_[from].remove(vertex);
      moved_[vertex] = 1;
      sum += gain_[vertex];
      size_ += from == 0 ? -graph_.size[vertex] : graph_.size[vertex];
      parts[vertex] = static_cast<std::uint8_t>(1 - from);
      trail_.push_back(vertex);
      for (std::uint32_t at = graph_.first[vertex]; at < graph_.first[vertex + 1]; ++at) {
        const auto [to, weight] = graph_.arcs[at];
        if (moved_[to] != 0) continue;
        gain_[to] += parts[to] == from ? 2 * weight : -2 * weight;
        heaps_[parts[to]].put(to, gain_[to]);
      }
      const std::int32_t now = excess();
      if (now < best_excess || (now == best_excess && sum > best)) {
        best = sum;
        best_excess = now;
        kept = trail_.size();
      }
    }
    const bool improved = kept > 0;
    while (trail_.size() > kept) {
      const Vertex vertex = trail_.back();
      trail_.pop_back();
      size_ += parts[vertex] == 0 ? -graph_.size[vertex] : graph_.size[vertex];
      parts[vertex] = static_cast<std::uint8_t>(1 - parts[vertex]);
    }
    return improved;
  }

  /// The part that a vertex should leave next; -1 when none can.
  int choose() const {
    if (size_ > most_) return heaps_[0].empty() ? -1 : 0;
    if (size_ < least_) return heaps_[1].empty() ? -1 : 1;
    bool can[2];
    for (int part = 0; part < 2; ++part) {
      can[part] = !heaps_[part].empty();
      if (!can[part]) continue;
      const std::int32_t weight = graph_.size[heaps_[part].top()];
      can[part] = excess(part == 0 ? size_ - weight : size_ + weight) <= slack_;
    }
    if (can[0] && can[1]) return heaps_[0].gain() >= heaps_[1].gain() ? 0 : 1;
    return can[0] ? 0 : can[1] ? 1 : -1;
  }

  const PartGraph& graph_;
  std::int32_t least_, most_, slack_, size_ = 0;
  std::vector<std::int32_t> gain_;
  std::vector<std::uint8_t> moved_;
  GainHeap heaps_[2];
  std::vector<Vertex> trail_;
};

/// A vertex that exchanges so many times more with one that is joined already waits for the next level, where it
/// can join both.
constexpr std::int32_t kWaits = 2;

/// Joins vertices to those that they exchange most with; returns the coarse vertex of each.
std::vector<Vertex> match(const PartGraph& graph, std::int32_t heaviest, Random& random,
                          Vertex& coarse) {
  const auto vertices = static_cast<Vertex>(graph.vertices());
  std::vector<Vertex> order(vertices), mate(vertices, kNone), lonely(vertices, kNone);
  std::iota(order.begin(), order.end(), 0U);
  for (Vertex at = vertices; at > 1; --at) std::swap(order[at - 1], order[random.below(at)]);
  for (const Vertex vertex : order) {
    if (mate[vertex] != kNone) continue;
    Vertex best = kNone, taken = kNone;
    std::int32_t weight = 0, taken_weight = 0;
    for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at) {
      const auto& arc = graph.arcs[at];
      if (mate[arc.to] != kNone) {
        if (arc.weight > taken_weight) {
          taken = arc.to;
          taken_weight = arc.weight;
        }
      } else if (arc.weight > weight && graph.size[vertex] + graph.size[arc.to] <= heaviest) {
        best = arc.to;
        weight = arc.weight;
      }
    }
    // Better alone for now than with one of another group: that pair would hold both groups together.
    if (best != kNone && weight < taken_weight / kWaits) continue;
    if (best == kNone && taken != kNone) {  // two that hang on the same vertex go together
      const Vertex other = lonely[taken];
      if (other != kNone && mate[other] == kNone &&
          graph.size[vertex] + graph.size[other] <= heaviest) {
        best = other;
        lonely[taken] = kNone;
      } else {
        lonely[taken] = vertex;
      }
    }
    if (best == kNone) continue;
    mate[vertex] = best;
    mate[best] = vertex;
  }
  std::vector<Vertex> group(vertices, kNone);
  coarse = 0;
  for (Vertex vertex = 0; vertex < vertices; ++vertex) {
    if (group[vertex] != kNone) continue;
    group[vertex] = coarse;
    if (mate[vertex] != kNone) group[mate[vertex]] = coarse;
    ++coarse;
  }
  return group;
}

PartGraph contract(const PartGraph& graph, const std::vector<Vertex>& group, Vertex coarse) {
  PartGraph small;
  small.size.assign(coarse, 0);
  small.pull.assign(coarse, 0);
  std::vector<Vertex> one(coarse, kNone), other(coarse, kNone), place(coarse, kNone);
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    const Vertex into = group[vertex];
    small.size[into] += graph.size[vertex];
    small.pull[into] += graph.pull[vertex];
    (one[into] == kNone ? one : other)[into] = vertex;
  }
  small.first.reserve(coarse + 1);
  small.first.push_back(0);
  small.arcs.reserve(graph.arcs.size());
  for (Vertex into = 0; into < coarse; ++into) {
    const std::size_t begin = small.arcs.size();
    for (const Vertex vertex : {one[into], other[into]}) {
      if (vertex == kNone) continue;
      for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at) {
        const Vertex to = group[graph.arcs[at].to];
        if (to == into) continue;
        if (place[to] != kNone && place[to] >= begin) {
          small.arcs[place[to]].weight += graph.arcs[at].weight;
        } else {
          place[to] = static_cast<Vertex>(small.arcs.size());
          small.arcs.push_back({to, graph.arcs[at].weight});
        }
      }
    }
    small.first.push_back(static_cast<std::uint32_t>(small.arcs.size()));
  }
  return small;
}

/// Grows part 0 from a vertex, always by who gains most, until it has `target`.
Parts grow(const PartGraph& graph, std::int32_t target, Vertex seed) {
  const auto vertices = static_cast<Vertex>(graph.vertices());
  Parts parts(vertices, 1);
  GainHeap heap(vertices);
  std::vector<std::int32_t> gain(vertices);
  for (Vertex vertex = 0; vertex < vertices; ++vertex) {
    gain[vertex] = graph.pull[vertex];
    for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at)
      gain[vertex] -= graph.arcs[at].weight;
  }
  std::int32_t size = 0;
  Vertex untouched = 0;
  heap.put(seed, gain[seed]);
  while (size < target) {
    while (heap.empty()) {
      if (untouched == vertices) return parts;
      if (parts[untouched] == 1) heap.put(untouched, gain[untouched]);
      ++untouched;
    }
    const Vertex vertex = heap.top();
    heap.remove(vertex);
    // Better to stop short than to overshoot by more.
    if (size > 0 && size + graph.size[vertex] - target > target - size) continue;
    parts[vertex] = 0;
    size += graph.size[vertex];
    for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at) {
      const auto& arc = graph.arcs[at];
      gain[arc.to] += 2 * arc.weight;
      if (parts[arc.to] == 1) heap.put(arc.to, gain[arc.to]);
    }
  }
  return parts;
}

Parts split_coarse(const PartGraph& graph, std::int32_t least, std::int32_t most, Random& random) {
  const std::size_t tries = least < most ? 3 : 2;
  const std::int32_t targets[] = {least + (most - least) / 2, most, least};
  Refinement refinement(graph, least, most);
  Parts best;
  std::int64_t best_cost = 0;
  std::int32_t best_excess = 0;
  for (std::size_t attempt = 0; attempt < tries; ++attempt) {
    Parts parts = grow(graph, targets[attempt % 3], random.below(static_cast<std::uint32_t>(graph.vertices())));
    const std::int64_t cost = refinement.run(parts, 3);
    const std::int32_t excess = refinement.excess();
    if (best.empty() || excess < best_excess || (excess == best_excess && cost < best_cost)) {
      best = std::move(parts);
      best_cost = cost;
      best_excess = excess;
    }
  }
  return best;
}

Parts split(const PartGraph& whole, std::int32_t least, std::int32_t most, Random& random) {
  constexpr Vertex kCoarse = 60;
  std::deque<PartGraph> coarser;
  std::vector<std::vector<Vertex>> groups;
  const auto level = [&](std::size_t at) -> const PartGraph& {
    return at == 0 ? whole : coarser[at - 1];
  };
  const std::int32_t total =
      std::accumulate(whole.size.begin(), whole.size.end(), std::int32_t{0});
  const std::int32_t heaviest = std::max(2, total / 16);
  while (level(groups.size()).vertices() > kCoarse) {
    const PartGraph& graph = level(groups.size());
    Vertex coarse = 0;
    std::vector<Vertex> group = match(graph, heaviest, random, coarse);
    if (coarse > graph.vertices() * 9 / 10) break;
    coarser.push_back(contract(graph, group, coarse));
    groups.push_back(std::move(group));
  }
  Parts parts = split_coarse(level(groups.size()), least, most, random);
  for (std::size_t at = groups.size(); at-- > 0;) {
    const std::vector<Vertex>& group = groups[at];
    Parts finer(group.size());
    for (Vertex vertex = 0; vertex < group.size(); ++vertex) finer[vertex] = parts[group[vertex]];
    parts = std::move(finer);
    Refinement(level(at), least, most).run(parts, 4);
  }
  return parts;
}

}  // namespace

std::vector<std::uint8_t> split_graph(const PartGraph& graph, std::int32_t least, std::int32_t most,
                                      std::size_t tries, Random& random) {
  const auto total = static_cast<std::int32_t>(graph.vertices());
  if (most <= 0 || total == 0) return Parts(graph.vertices(), 1);
  if (least >= total) return Parts(graph.vertices(), 0);
  Parts best = split(graph, least, most, random);
  if (tries < 2) return best;
  std::int64_t least_cost = cost_of(graph, best);
  for (std::size_t more = 1; more < tries; ++more) {
    Parts parts = split(graph, least, most, random);
    const std::int64_t cost = cost_of(graph, parts);
    if (cost >= least_cost) continue;
    least_cost = cost;
    best = std::move(parts);
  }
  return best;
}

void refine_split(const PartGraph& graph, std::int32_t least, std::int32_t most, std::size_t passes,
                  Parts& parts) {
  Refinement(graph, least, most).run(parts, passes);
}

}  // namespace hamtune::mapper
