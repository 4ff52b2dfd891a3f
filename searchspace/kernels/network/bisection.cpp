// Bisections for Python: our Fiduccia-Mattheyses and annealing, METIS, and the polish of splits found elsewhere.
#include "searchspace/kernels/network/bisection.hpp"

#include <metis.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/graph/metis_lock.hpp"
#include "searchspace/kernels/network/cut_annealing.hpp"

namespace nb = nanobind;

namespace {

using SideArray =
    nb::ndarray<const std::uint8_t, nb::shape<-1>, nb::c_contig, nb::device::cpu>;

/// How many nodes have to be halved; 0 stands for all.
std::size_t counted_of(std::size_t counted, std::size_t nodes) {
  if (counted > nodes) throw std::invalid_argument("a network has no more hosts than nodes");
  return counted == 0 ? nodes : counted;
}

/// (edges cut, half of each node)
nb::tuple to_python(hamtune::Bisection&& found) {
  const std::size_t nodes = found.sides.size();
  return nb::make_tuple(found.width, hamtune::to_numpy(std::move(found.sides), {nodes}));
}

nb::tuple bisect(std::size_t nodes, const hamtune::EdgeArray& edges, std::size_t starts,
                 std::uint64_t seed, std::size_t counted) {
  if (starts == 0) throw std::invalid_argument("a bisection needs at least one start");
  const hamtune::FlatGraph graph(hamtune::Adjacency(nodes, hamtune::to_edges(edges)));
  hamtune::Bisection best;
  {
    const nb::gil_scoped_release released;
    hamtune::Bisector bisector(graph, counted_of(counted, nodes));
    hamtune::Random random(seed);
    best = hamtune::bisect(bisector, nodes, starts, random);
  }
  return to_python(std::move(best));
}

/// The narrowest of 512 splits annealed at once, improved.
nb::tuple anneal_splits(std::size_t nodes, const hamtune::EdgeArray& edges, unsigned sweeps,
                        std::uint64_t seed, std::size_t counted) {
  const hamtune::FlatGraph graph(hamtune::Adjacency(nodes, hamtune::to_edges(edges)));
  hamtune::Bisection best;
  {
    const nb::gil_scoped_release released;
    hamtune::CutAnnealing annealing(graph, counted_of(counted, nodes));
    hamtune::Random random(seed);
    annealing.run(sweeps, random);
    best.sides = annealing.sides(annealing.narrowest());
    hamtune::Bisector bisector(graph, counted_of(counted, nodes));
    best.width = bisector.improve(best.sides);
  }
  return to_python(std::move(best));
}

nb::tuple polish_bisection(std::size_t nodes, const hamtune::EdgeArray& edges,
                           const SideArray& sides, std::size_t counted) {
  const hamtune::FlatGraph graph(hamtune::Adjacency(nodes, hamtune::to_edges(edges)));
  if (sides.shape(0) != nodes) throw std::invalid_argument("a split names the half of every node");
  hamtune::Bisection best;
  for (std::size_t node = 0; node < nodes; ++node) best.sides.push_back(sides(node) != 0);
  {
    const nb::gil_scoped_release released;
    hamtune::balance(graph, best.sides, counted_of(counted, nodes));
    hamtune::Bisector bisector(graph, counted_of(counted, nodes));
    best.width = bisector.improve(best.sides);
  }
  return to_python(std::move(best));
}

/// Karypis and Kumar's multilevel bisection; its halves may differ by more than one node.
nb::ndarray<nb::numpy, std::uint8_t> metis_split(std::size_t nodes,
                                                  const hamtune::EdgeArray& edges,
                                                  std::int32_t tries, std::int32_t seed,
                                                  std::size_t counted) {
  const hamtune::FlatGraph graph(hamtune::Adjacency(nodes, hamtune::to_edges(edges)));
  hamtune::Sides sides(nodes);
  {
    const nb::gil_scoped_release released;
    std::vector<idx_t> first(graph.first.begin(), graph.first.end());
    std::vector<idx_t> target(graph.target.begin(), graph.target.end());
    std::vector<idx_t> part(nodes, 0);
    std::vector<idx_t> weight(nodes, 0);
    std::fill_n(weight.begin(), counted_of(counted, nodes), 1);
    auto count = static_cast<idx_t>(nodes);
    idx_t constraints = 1;
    idx_t parts = 2;
    idx_t width = 0;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = seed;
    options[METIS_OPTION_NCUTS] = tries;
    options[METIS_OPTION_UFACTOR] = 1;  // halves as equal as it can keep them
    const std::lock_guard held(hamtune::metis_lock());
    if (nodes > 1 &&
        METIS_PartGraphRecursive(&count, &constraints, first.data(), target.data(), weight.data(),
                                 nullptr, nullptr, &parts, nullptr, nullptr, options, &width,
                                 part.data()) != METIS_OK)
      throw std::runtime_error("METIS cannot split this network");
    for (std::size_t node = 0; node < nodes; ++node) sides[node] = part[node] != 0;
  }
  return hamtune::to_numpy(std::move(sides), {nodes});
}

}  // namespace

void bind_bisection(nb::module_& module) {
  module.def("bisect", &bisect, nb::arg("nodes"), nb::arg("edges"), nb::arg("starts"),
             nb::arg("seed"), nb::arg("counted") = 0);
  module.def("anneal_splits", &anneal_splits, nb::arg("nodes"), nb::arg("edges"),
             nb::arg("sweeps"), nb::arg("seed"), nb::arg("counted") = 0);
  module.def("polish_bisection", &polish_bisection, nb::arg("nodes"), nb::arg("edges"),
             nb::arg("sides"), nb::arg("counted") = 0);
  module.def("metis_split", &metis_split, nb::arg("nodes"), nb::arg("edges"), nb::arg("tries"),
             nb::arg("seed"), nb::arg("counted") = 0);
}
