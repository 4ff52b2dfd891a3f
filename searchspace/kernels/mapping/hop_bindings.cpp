// Hops between cores, and judgements of placements, for Python.
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/mapping_metrics.hpp"
#include "searchspace/kernels/mapping/mapping_bindings.hpp"

namespace nb = nanobind;

namespace {

using Cores = hamtune::ListOf<std::uint32_t>;
using Bytes = hamtune::ListOf<std::int64_t>;

hamtune::CoreHops core_hops(hamtune::HostHops hosts, const Cores& host, const Cores& core,
                            const std::vector<std::uint32_t>& inside) {
  return {std::move(hosts), hamtune::to_vector(host), hamtune::to_vector(core), inside};
}

hamtune::CoreHops tree(const std::vector<std::uint32_t>& arity, const Cores& host,
                       const Cores& core, const std::vector<std::uint32_t>& inside) {
  return core_hops(hamtune::TreeHops(arity), host, core, inside);
}

hamtune::CoreHops grid(const std::vector<std::int32_t>& extents, bool wrapped, const Cores& host,
                       const Cores& core, const std::vector<std::uint32_t>& inside) {
  return core_hops(hamtune::GridHops(extents, wrapped), host, core, inside);
}

hamtune::CoreHops dragonfly(std::size_t groups, std::size_t routers, std::size_t hosts_per_router,
                            const Cores& host, const Cores& core,
                            const std::vector<std::uint32_t>& inside) {
  return core_hops(hamtune::RouterHops(hosts_per_router, groups * routers,
                                       hamtune::dragonfly_hops(groups, routers)),
                   host, core, inside);
}

hamtune::CoreHops network(std::size_t nodes, const hamtune::EdgeArray& edges, std::size_t hosts,
                          const Cores& host, const Cores& core,
                          const std::vector<std::uint32_t>& inside) {
  const hamtune::Adjacency adjacency(nodes, hamtune::to_edges(edges));
  hamtune::HostHops between = [&] {
    const nb::gil_scoped_release released;
    return hamtune::host_hops(adjacency, hosts);
  }();
  return core_hops(std::move(between), host, core, inside);
}

nb::ndarray<nb::numpy, std::uint16_t> table(const hamtune::CoreHops& hops, const Cores& rows,
                                            const Cores& columns) {
  for (const Cores* list : {&rows, &columns})
    for (std::size_t i = 0; i < list->size(); ++i)
      if (list->data()[i] >= hops.cores()) throw std::invalid_argument("there is no such core");
  std::vector<std::uint16_t> found(rows.size() * columns.size());
  hops.visit([&](const auto& distance) {
    auto* next = found.data();
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t column = 0; column < columns.size(); ++column)
        *next++ = static_cast<std::uint16_t>(distance(rows.data()[row], columns.data()[column]));
  });
  return hamtune::to_numpy(std::move(found), {rows.size(), columns.size()});
}

std::vector<std::int64_t> bytes_by_hops(const Bytes& first, const Cores& partner, const Bytes& size,
                                        const hamtune::CoreHops& hops, const Cores& placed) {
  return hamtune::bytes_by_hops(hamtune::to_traffic(first, partner, size), hops,
                                hamtune::to_vector(placed));
}

std::vector<std::int64_t> edge_loads(const Bytes& first, const Cores& partner, const Bytes& size,
                                     const Cores& host, std::size_t nodes,
                                     const hamtune::EdgeArray& edges, std::size_t hosts) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const hamtune::Adjacency adjacency(nodes, hamtune::to_edges(edges));
  const std::vector<hamtune::Node> places = hamtune::to_vector(host);
  const nb::gil_scoped_release released;
  return hamtune::edge_loads(traffic, places, adjacency, hosts, edges.shape(0));
}

}  // namespace

void bind_hops(nb::module_& module) {
  nb::class_<hamtune::CoreHops>(module, "CoreHops")
      .def_static("tree", &tree, nb::arg("arity"), nb::arg("host"), nb::arg("core"),
                  nb::arg("inside"))
      .def_static("grid", &grid, nb::arg("extents"), nb::arg("wrapped"), nb::arg("host"),
                  nb::arg("core"), nb::arg("inside"))
      .def_static("dragonfly", &dragonfly, nb::arg("groups"), nb::arg("routers"),
                  nb::arg("hosts_per_router"), nb::arg("host"), nb::arg("core"), nb::arg("inside"))
      .def_static("network", &network, nb::arg("nodes"), nb::arg("edges"), nb::arg("hosts"),
                  nb::arg("host"), nb::arg("core"), nb::arg("inside"))
      .def("table", &table, nb::arg("rows"), nb::arg("columns"));
  module.def("bytes_by_hops", &bytes_by_hops, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("hops"), nb::arg("placed"));
  module.def("edge_loads", &edge_loads, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("host"), nb::arg("nodes"), nb::arg("edges"), nb::arg("hosts"));
}
