// The mappers' kernels for Python.
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/mapping/graph_bisection_mapping.hpp"
#include "searchspace/kernels/mapping/greedy_mapping.hpp"
#include "searchspace/kernels/mapping/hierarchical.hpp"
#include "searchspace/kernels/mapping/mapping_bindings.hpp"
#include "searchspace/kernels/mapping/scotch_mapping.hpp"
#include "searchspace/kernels/mapping/topology_tree.hpp"
#include "searchspace/kernels/mapping/tree_match.hpp"

namespace nb = nanobind;

namespace {

using Cores = hamtune::ListOf<std::uint32_t>;
using Bytes = hamtune::ListOf<std::int64_t>;

std::vector<std::uint32_t> tree_match(const Bytes& first, const Cores& partner, const Bytes& size,
                                      const std::vector<std::uint32_t>& arity, unsigned choice,
                                      bool split, std::uint64_t most_groups) {
  if (choice > 2) throw std::invalid_argument("there is no such choice of groups");
  const nb::gil_scoped_release released;
  return hamtune::tree_match(hamtune::to_traffic(first, partner, size), arity,
                             static_cast<hamtune::GroupChoice>(choice), split, most_groups);
}

std::vector<hamtune::Node> used_hosts(const std::vector<std::size_t>& holds) {
  std::vector<hamtune::Node> hosts;
  for (hamtune::Node host = 0; host < holds.size(); ++host)
    if (holds[host] > 0) hosts.push_back(host);
  return hosts;
}

/// Along a tree of the hosts: the one that `arity` gives, or where it is empty that of joining
/// neighbours.
std::vector<std::uint32_t> recursive_tree(const Bytes& first, const Cores& partner,
                                          const Bytes& size, const hamtune::CoreHops& cores,
                                          const std::vector<std::uint32_t>& arity,
                                          const std::vector<std::uint32_t>& inside, bool within,
                                          std::int32_t seed) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const nb::gil_scoped_release released;
  std::vector<std::size_t> holds = hamtune::places_of_hosts(cores);
  std::size_t leaves = 1;
  for (const std::uint32_t width : arity) leaves *= width;
  hamtune::TopologyTree tree;
  if (arity.empty()) {
    tree = hamtune::joined_tree(cores.between_hosts(), used_hosts(holds), holds);
  } else {
    holds.resize(leaves, 0);
    tree = hamtune::regular_tree(arity, holds);
  }
  return hamtune::map_hierarchically(traffic, cores, tree, inside, within, seed);
}

std::vector<std::uint32_t> recursive_bipartition(const Bytes& first, const Cores& partner,
                                                 const Bytes& size, const hamtune::CoreHops& cores,
                                                 const std::vector<std::uint32_t>& inside,
                                                 bool within, std::int32_t seed) {
  const auto* grid = std::get_if<hamtune::GridHops>(&cores.between_hosts());
  if (grid == nullptr) throw std::invalid_argument("the hosts have no coordinates");
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const nb::gil_scoped_release released;
  const std::vector<std::size_t> holds = hamtune::places_of_hosts(cores);
  const hamtune::TopologyTree tree = hamtune::bisection_tree(*grid, used_hosts(holds), holds);
  return hamtune::map_hierarchically(traffic, cores, tree, inside, within, seed);
}

std::vector<std::uint32_t> greedy_mapping(const Bytes& first, const Cores& partner,
                                          const Bytes& size, const hamtune::CoreHops& cores) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const nb::gil_scoped_release released;
  return hamtune::greedy_mapping(traffic, cores);
}

std::vector<std::uint32_t> descend_by_swaps(const Bytes& first, const Cores& partner,
                                            const Bytes& size, const hamtune::CoreHops& cores,
                                            const Cores& start) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  std::vector<std::uint32_t> places = hamtune::to_vector(start);
  const nb::gil_scoped_release released;
  hamtune::descend_by_swaps(traffic, cores, places);
  return places;
}

std::vector<std::uint32_t> bisect_both(const Bytes& first, const Cores& partner, const Bytes& size,
                                       std::size_t nodes, const hamtune::EdgeArray& edges,
                                       const std::vector<std::int64_t>& widths,
                                       const std::vector<std::size_t>& holds, std::int32_t seed) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const hamtune::Adjacency network(nodes, hamtune::to_edges(edges));
  const nb::gil_scoped_release released;
  return hamtune::bisect_both(traffic, network, widths, holds, seed);
}

std::vector<std::uint32_t> settle_within(const Bytes& first, const Cores& partner,
                                         const Bytes& size, const hamtune::CoreHops& cores,
                                         const std::vector<std::uint32_t>& hosts,
                                         const std::vector<std::uint32_t>& inside, bool within,
                                         std::int32_t seed) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const nb::gil_scoped_release released;
  return hamtune::settle_within(traffic, cores, hosts, inside, within, seed);
}

/// Onto a tree (`shape` 0), torus (1) or mesh (2) of these extents, each node of which takes as many
/// ranks.
std::vector<std::uint32_t> scotch_regular(const Bytes& first, const Cores& partner,
                                          const Bytes& size, unsigned shape,
                                          const std::vector<std::int32_t>& extents,
                                          std::size_t each, std::int32_t strategy,
                                          std::int32_t seed) {
  using Kind = hamtune::ScotchTarget::Kind;
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const nb::gil_scoped_release released;
  std::size_t nodes = 1;
  for (const std::int32_t extent : extents) nodes *= static_cast<std::size_t>(extent);
  const Kind kind = shape == 0 ? Kind::kTree : shape == 1 ? Kind::kTorus : Kind::kMesh;
  const hamtune::ScotchTarget target{kind, extents, nullptr, std::vector<std::size_t>(nodes, each)};
  std::vector<std::uint32_t> found = hamtune::scotch_mapping(traffic, target, strategy, seed);
  const auto hops = kind == Kind::kTree
                        ? hamtune::HostHops(hamtune::TreeHops({extents.begin(), extents.end()}))
                        // Here the last axis runs fastest, for Scotch the first.
                        : hamtune::HostHops(hamtune::GridHops({extents.rbegin(), extents.rend()},
                                                              kind == Kind::kTorus));
  hamtune::relieve_hosts(traffic, hops, target.holds, found);
  return found;
}

/// Onto the hosts of any network.
std::vector<std::uint32_t> scotch_network(const Bytes& first, const Cores& partner,
                                          const Bytes& size, const hamtune::CoreHops& cores,
                                          std::size_t nodes, const hamtune::EdgeArray& edges,
                                          const std::vector<std::size_t>& holds,
                                          std::int32_t strategy, std::int32_t seed) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const hamtune::Adjacency network(nodes, hamtune::to_edges(edges));
  const nb::gil_scoped_release released;
  const hamtune::ScotchTarget target{hamtune::ScotchTarget::Kind::kNetwork, {}, &network, holds};
  std::vector<std::uint32_t> found = hamtune::scotch_mapping(traffic, target, strategy, seed);
  hamtune::relieve_hosts(traffic, cores.between_hosts(), holds, found);
  return found;
}

}  // namespace

void bind_mappers(nb::module_& module) {
  module.def("greedy_mapping", &greedy_mapping, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("hops"));
  module.def("descend_by_swaps", &descend_by_swaps, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("hops"), nb::arg("start"));
  module.def("bisect_both", &bisect_both, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("nodes"), nb::arg("edges"), nb::arg("widths"), nb::arg("holds"),
             nb::arg("seed"));
  module.def("settle_within", &settle_within, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("hops"), nb::arg("hosts"), nb::arg("inside"),
             nb::arg("within"), nb::arg("seed"));
  module.def("scotch_regular", &scotch_regular, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("shape"), nb::arg("extents"), nb::arg("each"),
             nb::arg("strategy"), nb::arg("seed"));
  module.def("scotch_network", &scotch_network, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("hops"), nb::arg("nodes"), nb::arg("edges"),
             nb::arg("holds"), nb::arg("strategy"), nb::arg("seed"));
  module.def("recursive_tree", &recursive_tree, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("hops"), nb::arg("arity"), nb::arg("inside"),
             nb::arg("within"), nb::arg("seed"));
  module.def("recursive_bipartition", &recursive_bipartition, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("hops"), nb::arg("inside"), nb::arg("within"),
             nb::arg("seed"));
  module.def("tree_match", &tree_match, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("arity"), nb::arg("choice"), nb::arg("split"), nb::arg("most_groups"));
}
