#include "searchspace/kernels/mapping/mapper/lattice_bisection.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace hamtune::mapper {
namespace {

constexpr std::size_t kPasses = 4;

/// A cut of vertices in some order: `first` of them, or all but these, are part 0.
struct Cut {
  std::int64_t cost = std::numeric_limits<std::int64_t>::max();
  std::size_t first = 0;
  bool front = true;  ///< whether the first ones are part 0
  bool stepped = false;  ///< whether a layer is divided

  /// Of planes that cut the same, a flat one leaves parts that are easier to split.
  bool operator<(const Cut& other) const {
    return std::tie(cost, stepped) < std::tie(other.cost, other.stepped);
  }
};

/// The cheapest cut of an order with `least` to `most` vertices in part 0, pulls counted.
Cut cheapest(const PartGraph& graph, const std::vector<std::uint32_t>& order, std::size_t least,
             std::size_t most) {
  const std::size_t count = order.size();
  std::vector<std::int32_t> side(count, 1);  // -1 once it is behind the plane
  std::int64_t pulls = 0;
  for (const std::int32_t pull : graph.pull) pulls += pull;
  std::int64_t cut = 0, followed = 0;
  Cut best;
  for (std::size_t first = 0;; ++first) {
    if (first >= least && first <= most && cut - followed < best.cost)
      best = {cut - followed, first, true};
    if (count - first >= least && count - first <= most && cut - (pulls - followed) < best.cost)
      best = {cut - (pulls - followed), first, false};
    if (first == count) return best;
    const std::uint32_t vertex = order[first];
    side[vertex] = -1;
    followed += graph.pull[vertex];
    for (std::uint32_t at = graph.first[vertex]; at < graph.first[vertex + 1]; ++at) {
      const auto& arc = graph.arcs[at];
      cut += std::int64_t{arc.weight} * side[arc.to];
    }
  }
}

std::vector<std::uint8_t> sides(const Cut& cut, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint8_t> parts(order.size(), cut.front ? 1 : 0);
  for (std::size_t at = 0; at < cut.first; ++at) parts[order[at]] = cut.front ? 0 : 1;
  return parts;
}

}  // namespace

LatticeBisection::LatticeBisection(const Lattice& lattice) : lattice_(lattice) {
  const std::size_t count = lattice.axes.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (count < kMostAxes) {
    do orders_.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    return;
  }
  for (std::size_t turn = 0; turn < count; ++turn) {
    orders_.push_back(order);
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
}

/// Where to begin along each axis: on a ring, behind the longest stretch without any of the ranks.
std::vector<std::int32_t> LatticeBisection::origins(const std::vector<Rank>& ranks) const {
  std::vector<std::int32_t> found(lattice_.axes.size(), 0);
  std::vector<std::uint8_t> taken;
  for (std::size_t axis = 0; axis < found.size(); ++axis) {
    if (!lattice_.axes[axis].ring) continue;
    const std::int32_t extent = lattice_.axes[axis].extent;
    taken.assign(static_cast<std::size_t>(extent), 0);
    for (const Rank rank : ranks) taken[static_cast<std::size_t>(lattice_.at(rank, axis))] = 1;
    std::int32_t longest = 0, empty = 0;
    for (std::int32_t point = 0; point < 2 * extent; ++point) {
      if (taken[static_cast<std::size_t>(point % extent)] == 0) {
        ++empty;
        continue;
      }
      if (empty > longest) {
        longest = empty;
        found[axis] = point % extent;
      }
      empty = 0;
    }
  }
  return found;
}

/// Coordinates counted from there, axes x ranks.
std::vector<std::uint32_t> LatticeBisection::places(const std::vector<Rank>& ranks) const {
  const std::vector<std::int32_t> origin = origins(ranks);
  std::vector<std::uint32_t> found;
  found.reserve(origin.size() * ranks.size());
  for (std::size_t axis = 0; axis < origin.size(); ++axis)
    for (const Rank rank : ranks) {
      const std::int32_t point = lattice_.at(rank, axis) - origin[axis];
      found.push_back(
          static_cast<std::uint32_t>(point < 0 ? point + lattice_.axes[axis].extent : point));
    }
  return found;
}

/// The ranks' numbers by coordinates, the first axis of an order before the others.
std::vector<std::uint32_t> LatticeBisection::sorted(const std::vector<std::uint32_t>& places,
                                           const std::vector<std::size_t>& order) const {
  const std::size_t count = places.size() / order.size();
  std::vector<std::uint32_t> found(count), next(count), end;
  std::iota(found.begin(), found.end(), 0U);
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    const std::uint32_t* place = places.data() + *axis * count;
    end.assign(static_cast<std::size_t>(lattice_.axes[*axis].extent) + 1, 0);
    for (std::size_t at = 0; at < count; ++at) ++end[place[at] + 1];
    std::partial_sum(end.begin(), end.end(), end.begin());
    for (const std::uint32_t at : found) next[end[place[at]]++] = at;
    found.swap(next);
  }
  return found;
}

std::vector<std::uint8_t> LatticeBisection::split(const PartGraph& graph, const std::vector<Rank>& ranks,
                                         std::int32_t least, std::int32_t most,
                                         std::size_t number) const {
  const auto total = static_cast<std::int32_t>(ranks.size());
  if (most <= 0 || total == 0) return std::vector<std::uint8_t>(ranks.size(), 1);
  if (least >= total) return std::vector<std::uint8_t>(ranks.size(), 0);
  const std::vector<std::uint32_t> place = places(ranks);
  std::vector<std::pair<Cut, std::vector<std::uint32_t>>> cuts;
  std::size_t flat = kMostAxes;  // the axis that the last cut is a flat plane across
  for (const std::vector<std::size_t>& order : orders_) {
    if (order.front() == flat) continue;  // in any order within the layers, the same cut
    std::vector<std::uint32_t> here = sorted(place, order);
    Cut cut = cheapest(graph, here, static_cast<std::size_t>(std::max(least, 0)),
                       static_cast<std::size_t>(most));
    const std::uint32_t* across = place.data() + order.front() * ranks.size();
    cut.stepped = cut.first > 0 && cut.first < here.size() &&
                  across[here[cut.first - 1]] == across[here[cut.first]];
    if (!cut.stepped) flat = order.front();
    cuts.emplace_back(cut, std::move(here));
  }
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // Orders that agree in their first axis often make one and the same cut.
  std::vector<std::vector<std::uint8_t>> different;
  for (std::size_t at = 0; at < cuts.size() && different.size() <= number; ++at) {
    std::vector<std::uint8_t> found = sides(cuts[at].first, cuts[at].second);
    if (std::find(different.begin(), different.end(), found) == different.end())
      different.push_back(std::move(found));
  }
  std::vector<std::uint8_t> parts = std::move(different.back());
  refine_split(graph, least, most, kPasses, parts);
  return parts;
}

}  // namespace hamtune::mapper
