#include "searchspace/kernels/mapping/hierarchical.hpp"

#include <algorithm>
#include <cstddef>

namespace hamtune {

std::vector<std::size_t> places_of_hosts(const CoreHops& cores) {
  std::vector<std::size_t> holds;
  for (const Node host : cores.host()) {
    if (host >= holds.size()) holds.resize(host + 1, 0);
    ++holds[host];
  }
  return holds;
}

std::vector<std::uint32_t> settle_within(const TrafficView& traffic, const CoreHops& cores,
                                         const std::vector<std::uint32_t>& host_of,
                                         const std::vector<std::uint32_t>& inside, bool within,
                                         std::int32_t seed) {
  const std::vector<std::size_t> holds = places_of_hosts(cores);
  std::vector<std::size_t> first_place(holds.size() + 1, 0);
  for (std::size_t host = 0; host < holds.size(); ++host)
    first_place[host + 1] = first_place[host] + holds[host];
  std::vector<std::vector<std::uint32_t>> ranks_of(holds.size());
  for (std::uint32_t rank = 0; rank < traffic.ranks; ++rank)
    ranks_of[host_of[rank]].push_back(rank);

  const WeightedGraph graph = padded_graph(traffic, traffic.ranks);
  std::vector<std::uint32_t> place(traffic.ranks);
  std::vector<std::uint32_t> number;
  for (std::size_t host = 0; host < holds.size(); ++host) {
    const std::vector<std::uint32_t>& ranks = ranks_of[host];
    const auto begin = static_cast<std::uint32_t>(first_place[host]);
    for (std::uint32_t i = 0; i < ranks.size(); ++i) place[ranks[i]] = begin + i;
    if (!within || inside.empty() || ranks.size() < 2) continue;

    std::vector<std::size_t> core_holds(cores.within_host().leaves(), 0);
    std::vector<std::uint32_t> place_of_core(core_holds.size(), 0);
    for (std::size_t at = first_place[host]; at < first_place[host + 1]; ++at) {
      core_holds[cores.core()[at]] = 1;
      place_of_core[cores.core()[at]] = static_cast<std::uint32_t>(at);
    }
    WeightedGraph own = induced(graph, ranks, number);
    own.first.resize(holds[host] + 1, own.first.back());
    const std::vector<std::uint32_t> core =
        map_onto_tree(own, regular_tree(inside, core_holds), seed);
    for (std::size_t i = 0; i < ranks.size(); ++i) place[ranks[i]] = place_of_core[core[i]];
  }
  return place;
}

std::vector<std::uint32_t> map_hierarchically(const TrafficView& traffic, const CoreHops& cores,
                                              const TopologyTree& hosts,
                                              const std::vector<std::uint32_t>& inside, bool within,
                                              std::int32_t seed) {
  const WeightedGraph graph = padded_graph(traffic, cores.cores());
  const std::vector<std::size_t> holds = places_of_hosts(cores);
  std::size_t used = 0;
  std::size_t most = 0;
  for (const std::size_t each : holds) {
    used += each > 0;
    most = std::max(most, each);
  }
  std::vector<std::uint32_t> host_of;
  if (most > 1 && used * most == cores.cores()) {
    const std::vector<std::uint32_t> group =
        partition(graph, std::vector<std::size_t>(used, most), seed);
    TopologyTree groups = hosts;
    for (TopologyTree::Branch& branch : groups.branches) branch.size /= most;
    const std::vector<std::uint32_t> leaf =
        map_onto_tree(contracted(graph, group, used), groups, seed);
    for (std::size_t rank = 0; rank < traffic.ranks; ++rank) host_of.push_back(leaf[group[rank]]);
  } else {
    host_of = map_onto_tree(graph, hosts, seed);
    host_of.resize(traffic.ranks);
  }
  return settle_within(traffic, cores, host_of, inside, within, seed);
}

}  // namespace hamtune
