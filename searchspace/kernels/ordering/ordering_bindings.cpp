// Orderings for Python.
#include <stdexcept>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/ordering/block_order.hpp"
#include "searchspace/kernels/graph/distances.hpp"
#include "searchspace/kernels/ordering/gorder.hpp"
#include "searchspace/kernels/graph/hamiltonian.hpp"

#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace {

std::vector<hamtune::Node> hamiltonian_walk(std::size_t nodes, const hamtune::EdgeArray& edges,
                                            std::uint64_t seed, unsigned restarts) {
  const hamtune::Adjacency adjacency(nodes, hamtune::to_edges(edges));
  const nb::gil_scoped_release released;
  return hamtune::hamiltonian_walk(adjacency, seed, restarts);
}

std::vector<hamtune::Node> gorder(std::size_t nodes, const hamtune::EdgeArray& edges,
                                  std::size_t window) {
  const hamtune::Adjacency adjacency(nodes, hamtune::to_edges(edges));
  const nb::gil_scoped_release released;
  return hamtune::gorder(adjacency, window);
}

std::vector<hamtune::Node> block_order(std::size_t nodes, const hamtune::EdgeArray& edges,
                                       std::vector<hamtune::Node> start,
                                       std::vector<std::size_t> sizes, double adjacent_share,
                                       std::uint64_t moves, std::uint64_t seed) {
  const hamtune::Adjacency adjacency(nodes, hamtune::to_edges(edges));
  const nb::gil_scoped_release released;
  const std::vector<std::uint16_t> distances = hamtune::hop_distances(adjacency);
  return hamtune::block_order(adjacency, distances, std::move(start),
                              {std::move(sizes), adjacent_share, moves, seed});
}

}  // namespace

void bind_orderings(nb::module_& module) {
  module.def("hamiltonian_walk", &hamiltonian_walk, nb::arg("nodes"), nb::arg("edges"),
             nb::arg("seed"), nb::arg("restarts"));
  module.def("gorder", &gorder, nb::arg("nodes"), nb::arg("edges"), nb::arg("window"));
  module.def("block_order", &block_order, nb::arg("nodes"), nb::arg("edges"), nb::arg("start"),
             nb::arg("sizes"), nb::arg("adjacent_share"), nb::arg("moves"), nb::arg("seed"));
}
