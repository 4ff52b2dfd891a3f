// The mappers' kernels for Python.
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "searchspace/kernels/hierarchical.hpp"
#include "searchspace/kernels/mapping_bindings.hpp"
#include "searchspace/kernels/topology_tree.hpp"
#include "searchspace/kernels/tree_match.hpp"

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
  const hamtune::TopologyTree tree = hamtune::halved_tree(*grid, used_hosts(holds), holds);
  return hamtune::map_hierarchically(traffic, cores, tree, inside, within, seed);
}

}  // namespace

void bind_mappers(nb::module_& module) {
  module.def("recursive_tree", &recursive_tree, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("hops"), nb::arg("arity"), nb::arg("inside"),
             nb::arg("within"), nb::arg("seed"));
  module.def("recursive_bipartition", &recursive_bipartition, nb::arg("first"), nb::arg("partner"),
             nb::arg("size"), nb::arg("hops"), nb::arg("inside"), nb::arg("within"),
             nb::arg("seed"));
  module.def("tree_match", &tree_match, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("arity"), nb::arg("choice"), nb::arg("split"), nb::arg("most_groups"));
}
