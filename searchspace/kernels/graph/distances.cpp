// Hop distances for Python.
#include "searchspace/kernels/graph/distances.hpp"

#include "searchspace/kernels/graph/bindings.hpp"

namespace nb = nanobind;

namespace {

nb::ndarray<nb::numpy, std::uint16_t> hop_distances(std::size_t nodes,
                                                     const hamtune::EdgeArray& edges) {
  // 65,535 stands for "no path", so the longest path possible must stay below it.
  if (nodes > hamtune::kUnreachable)
    throw std::invalid_argument("hop distances are computed for at most 65535 nodes");
  const hamtune::Adjacency adjacency(nodes, hamtune::to_edges(edges));
  std::vector<std::uint16_t> distances;
  {
    const nb::gil_scoped_release released;
    distances = hamtune::hop_distances(adjacency);
  }
  return hamtune::to_numpy(std::move(distances), {nodes, nodes});
}

/// Returns (sum of distances over ordered pairs, ordered pairs that have a path, longest distance).
nb::tuple distance_summary(std::size_t nodes, const hamtune::EdgeArray& edges) {
  const hamtune::Adjacency adjacency(nodes, hamtune::to_edges(edges));
  hamtune::DistanceSummary summary;
  {
    const nb::gil_scoped_release released;
    summary = hamtune::summarize_distances(adjacency);
  }
  return nb::make_tuple(summary.sum, summary.pairs, summary.diameter);
}

}  // namespace

void bind_distances(nb::module_& module) {
  module.def("hop_distances", &hop_distances, nb::arg("nodes"), nb::arg("edges"));
  module.def("distance_summary", &distance_summary, nb::arg("nodes"), nb::arg("edges"));
}
