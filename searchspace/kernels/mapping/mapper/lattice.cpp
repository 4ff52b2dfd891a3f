#include "searchspace/kernels/mapping/mapper/lattice.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace hamtune::mapper {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kMostDegree = 16;

class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t one) {
    while (parent_[one] != one) one = parent_[one] = parent_[parent_[one]];
    return one;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

struct Link {
  Rank to;
  std::uint32_t edge;
  std::uint32_t weight;
};

/// The flows considered, with a number for each pair.
struct Links {
  std::vector<std::uint32_t> first;
  std::vector<Link> links;
  std::uint32_t edges = 0;

  const Link* begin(Rank rank) const { return links.data() + first[rank]; }
  const Link* end(Rank rank) const { return links.data() + first[rank + 1]; }
  const Link* find(Rank from, Rank to) const {
    for (const Link* link = begin(from); link != end(from); ++link)
      if (link->to == to) return link;
    return nullptr;
  }
};

std::optional<Links> links_of(const Flows& flows, std::uint32_t least) {
  Links found;
  found.first.push_back(0);
  for (Rank rank = 0; rank < flows.ranks(); ++rank) {
    for (const Arc* arc = flows.begin(rank); arc != flows.end(rank); ++arc)
      if (arc->weight >= least) found.links.push_back({arc->to, kNone, arc->weight});
    const auto end = static_cast<std::uint32_t>(found.links.size());
    if (end - found.first.back() > kMostDegree || end == found.first.back()) return std::nullopt;
    found.first.push_back(end);
  }
  for (Rank rank = 0; rank < flows.ranks(); ++rank)
    for (std::uint32_t at = found.first[rank]; at < found.first[rank + 1]; ++at) {
      Link& link = found.links[at];
      if (link.to > rank)
        link.edge = found.edges++;
      else
        link.edge = found.find(link.to, rank)->edge;
    }
  return found;
}

/// What lies two links away from a rank: each vertex with the partners of the rank that it is linked
/// to, as a set of bits in their order, and these links.
class Beyond {
 public:
  struct Vertex {
    std::uint32_t partners;
    std::uint32_t edge[kMostDegree];  ///< to each of these partners
  };

  explicit Beyond(std::size_t ranks) : of_(ranks), place_(ranks) {}

  void look(const Links& links, Rank rank) {
    rank_ = rank;
    vertices_.clear();
    std::uint32_t number = 0;
    for (const Link* one = links.begin(rank); one != links.end(rank); ++one, ++number)
      for (const Link* next = links.begin(one->to); next != links.end(one->to); ++next) {
        if (next->to == rank) continue;
        if (!reached(next->to)) {
          of_[next->to] = rank + 1;
          place_[next->to] = static_cast<std::uint32_t>(vertices_.size());
          vertices_.emplace_back();
        }
        Vertex& vertex = vertices_[place_[next->to]];
        vertex.partners |= 1U << number;
        vertex.edge[number] = next->edge;
      }
  }

  const std::vector<Vertex>& vertices() const { return vertices_; }
  /// The partners of the rank that a vertex is linked to.
  std::uint32_t partners(Rank vertex) const {
    return reached(vertex) ? vertices_[place_[vertex]].partners : 0;
  }

 private:
  bool reached(Rank vertex) const { return of_[vertex] == rank_ + 1; }

  Rank rank_ = 0;
  std::vector<Rank> of_;  ///< 1 + the rank from which each vertex was reached last
  std::vector<std::uint32_t> place_;
  std::vector<Vertex> vertices_;
};

/// The factor of each edge, from 0 on; at most `most` factors.
std::optional<std::vector<std::uint32_t>> factors_of(const Links& links, std::size_t ranks,
                                                     std::uint32_t& count) {
  Sets sets(links.edges);
  Beyond beyond(ranks);
  struct Squares {
    std::uint32_t number, beside, across;
  };
  Squares squares[kMostDegree][kMostDegree];
  for (Rank rank = 0; rank < ranks; ++rank) {
    beyond.look(links, rank);
    const Link* begin = links.begin(rank);
    const auto degree = static_cast<std::uint32_t>(links.end(rank) - begin);
    for (std::uint32_t one = 0; one < degree; ++one)
      for (std::uint32_t other = one + 1; other < degree; ++other) squares[one][other].number = 0;
    for (const Beyond::Vertex& corner : beyond.vertices())
      for (std::uint32_t left = corner.partners; left != 0;) {
        const auto one = static_cast<std::uint32_t>(__builtin_ctz(left));
        left &= left - 1;
        for (std::uint32_t later = left; later != 0; later &= later - 1) {
          const auto other = static_cast<std::uint32_t>(__builtin_ctz(later));
          Squares& found = squares[one][other];
          found = {found.number + 1, corner.edge[one], corner.edge[other]};
        }
      }
    for (std::uint32_t other = 0; other < degree; ++other) {
      const std::uint32_t chords = beyond.partners(begin[other].to);
      for (std::uint32_t one = 0; one < other; ++one) {
        const Squares& found = squares[one][other];
        if ((chords >> one & 1U) != 0 || found.number != 1) {
          sets.join(begin[one].edge, begin[other].edge);
        } else {
          sets.join(begin[one].edge, found.across);
          sets.join(begin[other].edge, found.beside);
        }
      }
    }
  }
  std::vector<std::uint32_t> factor(links.edges, kNone);
  constexpr std::uint32_t kMostFactors = 13;
  count = 0;
  for (std::uint32_t edge = 0; edge < links.edges; ++edge)
    if (sets.find(edge) == edge) {
      if (count == kMostFactors) return std::nullopt;
      factor[edge] = count++;
    }
  for (std::uint32_t edge = 0; edge < links.edges; ++edge) factor[edge] = factor[sets.find(edge)];
  return factor;
}

/// Numbers the layers across one factor along it; the extent, or 0 when they form no path or ring.
std::int32_t number_layers(const Links& links, const std::vector<std::uint32_t>& factor,
                           std::uint32_t axis, std::size_t ranks, std::vector<std::int32_t>& place,
                           bool& ring) {
  std::vector<std::uint32_t> layer(ranks, kNone);
  std::vector<Rank> queue, one;  // a rank of each layer
  for (Rank root = 0; root < ranks; ++root) {
    if (layer[root] != kNone) continue;
    const auto number = static_cast<std::uint32_t>(one.size());
    one.push_back(root);
    layer[root] = number;
    queue.assign(1, root);
    for (std::size_t at = 0; at < queue.size(); ++at)
      for (const Link* link = links.begin(queue[at]); link != links.end(queue[at]); ++link)
        if (factor[link->edge] != axis && layer[link->to] == kNone) {
          layer[link->to] = number;
          queue.push_back(link->to);
        }
  }
  const std::size_t extent = one.size();
  if (extent < 2) return 0;
  std::vector<std::vector<std::uint32_t>> beside(extent);
  std::size_t ends = 0;
  std::uint32_t start = 0;
  for (std::uint32_t number = 0; number < extent; ++number) {
    for (const Link* link = links.begin(one[number]); link != links.end(one[number]); ++link)
      if (factor[link->edge] == axis) beside[number].push_back(layer[link->to]);
    if (beside[number].empty() || beside[number].size() > 2) return 0;
    if (beside[number].size() == 1) {
      ++ends;
      start = number;
    }
  }
  if (ends != 0 && ends != 2) return 0;
  ring = ends == 0;
  std::vector<std::int32_t> index(extent, -1);
  std::uint32_t at = start;
  for (std::int32_t next = 0; at != kNone; ++next) {
    index[at] = next;
    std::uint32_t after = kNone;
    for (const std::uint32_t other : beside[at])
      if (index[other] < 0 && after == kNone) after = other;
    at = after;
  }
  if (std::find(index.begin(), index.end(), -1) != index.end()) return 0;
  for (Rank rank = 0; rank < ranks; ++rank) place[rank] = index[layer[rank]];
  return static_cast<std::int32_t>(extent);
}

}  // namespace

std::optional<Lattice> recognise_lattice(const Flows& flows, std::uint32_t least) {
  const std::size_t ranks = flows.ranks();
  if (ranks < 3) return std::nullopt;
  const std::optional<Links> links = links_of(flows, least);
  if (!links) return std::nullopt;
  std::uint32_t count = 0;
  const auto factor = factors_of(*links, ranks, count);
  if (!factor) return std::nullopt;

  Lattice lattice;
  lattice.place.resize(ranks * count);
  std::vector<std::int32_t> place(ranks);
  std::vector<std::uint64_t> number(ranks, 0);
  std::uint64_t points = 1;
  for (std::uint32_t axis = 0; axis < count; ++axis) {
    bool ring = false;
    const std::int32_t extent = number_layers(*links, *factor, axis, ranks, place, ring);
    if (extent == 0) return std::nullopt;
    lattice.axes.push_back({extent, ring, 0, 0});
    points *= static_cast<std::uint64_t>(extent);
    if (points > ranks) return std::nullopt;
    for (Rank rank = 0; rank < ranks; ++rank) {
      lattice.place[rank * count + axis] = place[rank];
      number[rank] = number[rank] * static_cast<std::uint64_t>(extent) +
                     static_cast<std::uint64_t>(place[rank]);
    }
  }
  if (points != ranks) return std::nullopt;
  std::sort(number.begin(), number.end());
  if (std::adjacent_find(number.begin(), number.end()) != number.end()) return std::nullopt;
  for (const Link& link : links->links) {
    Lattice::Axis& axis = lattice.axes[(*factor)[link.edge]];
    axis.weight += link.weight / 2.0;
    axis.heaviest = std::max(axis.heaviest, static_cast<double>(link.weight));
  }
  return lattice;
}

std::optional<Lattice> with_rings_of_four(const Lattice& lattice) {
  const std::size_t count = lattice.axes.size(), ranks = lattice.place.size() / count;
  const auto pair = [&](std::size_t one, std::size_t other) {
    return lattice.axes[one].extent == 2 && lattice.axes[other].extent == 2 &&
           lattice.axes[one].weight == lattice.axes[other].weight;
  };
  std::vector<bool> taken(count, false);
  std::vector<std::pair<std::size_t, std::size_t>> made_of;  // each axis, of one or two
  bool any = false;
  for (std::size_t axis = 0; axis < count; ++axis) {
    if (taken[axis]) continue;
    std::size_t mate = axis + 1;
    while (mate < count && (taken[mate] || !pair(axis, mate))) ++mate;
    any |= mate < count;
    if (mate < count) taken[mate] = true;
    made_of.emplace_back(axis, mate);
  }
  if (!any) return std::nullopt;
  Lattice merged;
  for (const auto& [axis, mate] : made_of) {
    const Lattice::Axis& one = lattice.axes[axis];
    if (mate == count)
      merged.axes.push_back(one);
    else
      merged.axes.push_back(
          {4, true, 2 * one.weight, std::max(one.heaviest, lattice.axes[mate].heaviest)});
  }
  merged.place.reserve(ranks * made_of.size());
  for (Rank rank = 0; rank < ranks; ++rank)
    for (const auto& [axis, mate] : made_of) {
      const std::int32_t one = lattice.at(rank, axis);
      const std::int32_t other = mate == count ? 0 : lattice.at(rank, mate);
      merged.place.push_back(mate == count ? one : 2 * one + (one == 0 ? other : 1 - other));
    }
  return merged;
}

}  // namespace hamtune::mapper
