// Placements of ranks on hosts, for Python.
#include <nanobind/stl/vector.h>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/graph/distances.hpp"
#include "searchspace/kernels/mapping/swap_annealing.hpp"

namespace nb = nanobind;

namespace {

/// Prices a pair of hosts by the hops above `free_hops`; returns the hosts of the ranks and the cost.
nb::tuple anneal_swaps(std::size_t ranks, const hamtune::EdgeArray& pairs,
                       const std::vector<std::int64_t>& weights, std::size_t hosts,
                       const hamtune::EdgeArray& edges, std::vector<hamtune::Node> start,
                       std::uint16_t free_hops, std::uint64_t moves, std::uint64_t seed) {
  const hamtune::Adjacency network(hosts, hamtune::to_edges(edges));
  std::vector<hamtune::Flow> flows;
  const std::vector<hamtune::Edge> both = hamtune::to_edges(pairs);
  for (std::size_t i = 0; i < both.size(); ++i) flows.push_back({both[i].u, both[i].v, weights[i]});
  hamtune::Placement found;
  {
    const nb::gil_scoped_release released;
    std::vector<std::uint16_t> price = hamtune::hop_distances(network);
    for (std::uint16_t& hops : price)
      hops = static_cast<std::uint16_t>(hops > free_hops ? hops - free_hops : 0);
    const hamtune::PlacementProblem problem{ranks, std::move(flows), network, std::move(price)};
    found = hamtune::anneal_swaps(problem, std::move(start), moves, seed);
  }
  return nb::make_tuple(found.hosts, found.cost);
}

}  // namespace

void bind_placement(nb::module_& module) {
  module.def("anneal_swaps", &anneal_swaps, nb::arg("ranks"), nb::arg("pairs"), nb::arg("weights"),
             nb::arg("hosts"), nb::arg("edges"), nb::arg("start"), nb::arg("free_hops"),
             nb::arg("moves"), nb::arg("seed"));
}
