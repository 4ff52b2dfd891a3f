// Routes for Python: all hops of all ordered pairs in three flat arrays.
#include "searchspace/kernels/graph/routes.hpp"

#include <nanobind/stl/string.h>

#include "searchspace/kernels/graph/bindings.hpp"

namespace nb = nanobind;

namespace {

/// Returns (first, edges, forward): the route s -> t is the slice first[s * h + t] up to
/// first[s * h + t + 1] of the other two, with h hosts.
nb::tuple routes(std::size_t nodes, const hamtune::EdgeArray& edge_array, std::size_t hosts,
                 const std::string& tie_rule) {
  std::vector<std::int64_t> first{0};
  std::vector<std::uint32_t> edges;
  std::vector<std::uint8_t> forward;
  {
    std::vector<hamtune::Edge> network = hamtune::to_edges(edge_array);
    const nb::gil_scoped_release released;
    hamtune::Routes all(nodes, std::move(network), hosts, hamtune::tie_rule(tie_rule));
    for (hamtune::Node source = 0; source < hosts; ++source) {
      for (hamtune::Node target = 0; target < hosts; ++target) {
        for (const hamtune::Hop& hop : all.path(source, target)) {
          edges.push_back(hop.edge);
          forward.push_back(hop.forward);
        }
        first.push_back(static_cast<std::int64_t>(edges.size()));
      }
    }
  }
  const std::size_t offsets = first.size();
  const std::size_t hops = edges.size();
  return nb::make_tuple(hamtune::to_numpy(std::move(first), {offsets}),
                        hamtune::to_numpy(std::move(edges), {hops}),
                        hamtune::to_numpy(std::move(forward), {hops}));
}

}  // namespace

void bind_routes(nb::module_& module) {
  module.def("routes", &routes, nb::arg("nodes"), nb::arg("edges"), nb::arg("hosts"),
             nb::arg("tie_rule"));
}
