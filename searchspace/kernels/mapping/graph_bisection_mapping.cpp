#include "searchspace/kernels/mapping/graph_bisection_mapping.hpp"

#include <array>
#include <cstddef>
#include <numeric>

#include "searchspace/kernels/mapping/partition.hpp"

namespace hamtune {

namespace {

class DualRecursiveBisection {
 public:
  DualRecursiveBisection(const WeightedGraph& network, const std::vector<std::size_t>& holds,
                         std::size_t ranks, std::int32_t seed)
      : network_(network), holds_(holds), seed_(seed), host_of_(ranks) {}

  void map(const WeightedGraph& graph, const std::vector<std::uint32_t>& ranks,
           const std::vector<std::uint32_t>& nodes) {
    std::size_t hosts = 0;
    std::uint32_t last = 0;
    for (const std::uint32_t node : nodes)
      if (held(node) > 0) {
        ++hosts;
        last = node;
      }
    if (hosts <= 1) {
      for (const std::uint32_t rank : ranks) host_of_[rank] = last;
      return;
    }
    const std::array<std::vector<std::uint32_t>, 2> sides = halves(nodes);
    std::vector<std::size_t> sizes(2, 0);
    for (std::size_t side = 0; side < 2; ++side)
      for (const std::uint32_t node : sides[side]) sizes[side] += held(node);
    const std::vector<std::uint32_t> part = partition(graph, sizes, seed_);
    for (std::uint32_t side = 0; side < 2; ++side) {
      std::vector<std::uint32_t> members;
      std::vector<std::uint32_t> names;
      for (std::uint32_t i = 0; i < part.size(); ++i)
        if (part[i] == side) {
          members.push_back(i);
          names.push_back(ranks[i]);
        }
      map(induced(graph, members, number_), names, sides[side]);
    }
  }

  std::vector<std::uint32_t> hosts() { return std::move(host_of_); }

 private:
  std::size_t held(std::uint32_t node) const { return node < holds_.size() ? holds_[node] : 0; }

  /// Both sides have places; where METIS leaves one without, hosts are bisected in order.
  std::array<std::vector<std::uint32_t>, 2> halves(const std::vector<std::uint32_t>& nodes) {
    std::vector<std::int32_t> weights;
    std::size_t all = 0;
    for (const std::uint32_t node : nodes) {
      weights.push_back(static_cast<std::int32_t>(held(node)));
      all += held(node);
    }
    const std::vector<std::uint32_t> side =
        bisect_weighted(induced(network_, nodes, number_), weights, seed_);
    std::array<std::vector<std::uint32_t>, 2> found;
    std::size_t first = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      found[side[i]].push_back(nodes[i]);
      if (side[i] == 0) first += held(nodes[i]);
    }
    if (first > 0 && first < all) return found;
    found = {};
    std::size_t passed = 0;
    for (const std::uint32_t node : nodes) {
      const bool is_last = passed + held(node) == all && held(node) > 0;
      found[2 * passed < all && !is_last ? 0 : 1].push_back(node);
      passed += held(node);
    }
    return found;
  }

  const WeightedGraph& network_;
  const std::vector<std::size_t>& holds_;
  std::int32_t seed_;
  std::vector<std::uint32_t> host_of_;
  std::vector<std::uint32_t> number_;
};

}  // namespace

std::vector<std::uint32_t> bisect_both(const TrafficView& traffic, const Adjacency& network,
                                       const std::vector<std::int64_t>& widths,
                                       const std::vector<std::size_t>& holds, std::int32_t seed) {
  WeightedGraph cables;
  for (Node node = 0; node < network.nodes(); ++node) {
    for (const Neighbor* n = network.begin(node); n != network.end(node); ++n) {
      cables.target.push_back(n->node);
      cables.weight.push_back(widths.empty() ? 1 : widths[n->edge]);
    }
    cables.first.push_back(cables.target.size());
  }
  const std::size_t places = std::accumulate(holds.begin(), holds.end(), std::size_t{0});
  const WeightedGraph graph = padded_graph(traffic, places);
  std::vector<std::uint32_t> ranks(places);
  std::iota(ranks.begin(), ranks.end(), 0U);
  std::vector<std::uint32_t> nodes(network.nodes());
  std::iota(nodes.begin(), nodes.end(), 0U);
  DualRecursiveBisection bisection(cables, holds, places, seed);
  bisection.map(graph, ranks, nodes);
  std::vector<std::uint32_t> host_of = bisection.hosts();
  host_of.resize(traffic.ranks);
  return host_of;
}

}  // namespace hamtune
