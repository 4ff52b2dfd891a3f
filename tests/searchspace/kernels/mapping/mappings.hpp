// Random traffic, machines and mappings for the tests of the mappers.
#pragma once

#include <map>
#include <utility>

#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/traffic.hpp"
#include "tests/native.hpp"

namespace hamtune::tests {

/// Symmetric traffic that keeps its arrays.
struct Traffic {
  using Pairs = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;  // lower rank first

  Traffic(std::size_t ranks, const Pairs& pairs) : first{0} {
    std::vector<std::map<std::uint32_t, std::int64_t>> rows(ranks);
    for (const auto& [pair, bytes] : pairs) {
      rows[pair.first][pair.second] = bytes;
      rows[pair.second][pair.first] = bytes;
    }
    for (const auto& row : rows) {
      for (const auto& [other, bytes] : row) {
        partner.push_back(other);
        size.push_back(bytes);
      }
      first.push_back(static_cast<std::int64_t>(partner.size()));
    }
  }

  TrafficView view() const { return {first.size() - 1, first.data(), partner.data(), size.data()}; }

  std::vector<std::int64_t> first;
  std::vector<std::uint32_t> partner;
  std::vector<std::int64_t> size;
};

inline Traffic random_traffic(std::uint32_t ranks, std::uint32_t pairs, Random& random) {
  Traffic::Pairs drawn;
  for (std::uint32_t each = 0; each < pairs; ++each) {
    const std::uint32_t one = random.below(ranks), other = random.below(ranks);
    if (one != other) drawn[{std::min(one, other), std::max(one, other)}] = 1 + random.below(50);
  }
  return Traffic(ranks, drawn);
}

/// Machines of every shape: each host with `cores` cores, in a tree inside it where `inside` is given.
inline CoreHops machine(HostHops hosts, std::uint32_t count, std::uint32_t cores,
                        const std::vector<std::uint32_t>& inside = {}) {
  std::vector<Node> host;
  std::vector<std::uint32_t> core;
  for (std::uint32_t each = 0; each < count; ++each)
    for (std::uint32_t one = 0; one < cores; ++one) {
      host.push_back(each);
      core.push_back(one);
    }
  return CoreHops(std::move(hosts), std::move(host), std::move(core), inside);
}

inline std::vector<std::pair<const char*, CoreHops>> machines(Random& random) {
  std::vector<std::pair<const char*, CoreHops>> found;
  found.emplace_back("tree", machine(TreeHops({2, 3, 2}), 12, 1));
  found.emplace_back("tree, cores", machine(TreeHops({3, 2}), 6, 4, {2, 2}));
  found.emplace_back("torus", machine(GridHops({3, 4}, true), 12, 1));
  found.emplace_back("mesh of three axes", machine(GridHops({2, 3, 3}, false), 18, 1));
  found.emplace_back("torus, cores", machine(GridHops({4, 2}, true), 8, 2));
  found.emplace_back("torus, tree inside", machine(GridHops({3, 2}, true), 6, 4, {2, 2}));
  found.emplace_back("dragonfly", machine(RouterHops(2, 6, dragonfly_hops(3, 2)), 12, 1));
  found.emplace_back("dragonfly, cores", machine(RouterHops(2, 6, dragonfly_hops(3, 2)), 12, 2));
  const Adjacency network(14, random_network(14, 12, random));
  found.emplace_back("any", machine(host_hops(network, 14), 14, 1));
  found.emplace_back("any, tree inside", machine(host_hops(network, 14), 14, 3, {3}));
  return found;
}

inline std::int64_t hop_bytes(const TrafficView& traffic, const CoreHops& cores,
                              const std::vector<std::uint32_t>& places) {
  std::int64_t sum = 0;
  for (std::uint32_t rank = 0; rank < traffic.ranks; ++rank)
    for (std::size_t at = traffic.begin(rank); at < traffic.end(rank); ++at)
      if (rank < traffic.partner[at])
        sum += traffic.size[at] * cores(places[rank], places[traffic.partner[at]]);
  return sum;
}

inline bool is_mapping(std::vector<std::uint32_t> places, std::size_t cores) {
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end() &&
         (places.empty() || places.back() < cores);
}

/// A random mapping on some of the places.
inline std::vector<std::uint32_t> random_mapping(std::size_t ranks, std::size_t places, Random& random) {
  std::vector<std::uint32_t> drawn = random_order(static_cast<std::uint32_t>(places), random);
  drawn.resize(ranks);
  return drawn;
}

}  // namespace hamtune::tests
