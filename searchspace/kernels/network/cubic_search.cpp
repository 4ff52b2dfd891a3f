// Listing of cubic networks, for Python.
#include "searchspace/kernels/network/cubic_search.hpp"

#include <nanobind/stl/vector.h>

#include <string>

#include "searchspace/kernels/graph/bindings.hpp"

namespace nb = nanobind;

namespace {

using hamtune::CanonicalForm;
using hamtune::CubicSearch;

nb::ndarray<nb::numpy, hamtune::Node> edges_of(const hamtune::SmallGraph& graph) {
  std::vector<hamtune::Node> ends;
  for (unsigned u = 0; u < graph.nodes; ++u)
    for (hamtune::NodeMask rest = graph.neighbors[u]; rest != 0; rest &= rest - 1)
      if (hamtune::lowest(rest) > u) ends.insert(ends.end(), {u, hamtune::lowest(rest)});
  const std::size_t edges = ends.size() / 2;
  return hamtune::to_numpy(std::move(ends), {edges, 2});
}

/// New networks as (edges, sum of distances over ordered pairs, diameter).
nb::list run(CubicSearch& search, std::uint64_t edges) {
  std::vector<CubicSearch::Found> found;
  {
    const nb::gil_scoped_release released;
    found = search.run(edges);
  }
  nb::list list;
  for (const CubicSearch::Found& network : found)
    list.append(nb::make_tuple(edges_of(network.graph), network.distances, network.diameter));
  return list;
}

/// The canonical forms of all networks found, one after the other; they have one length.
nb::bytes known(const CubicSearch& search) {
  std::string joined;
  for (const CanonicalForm::Code& code : search.known()) joined.append(code.begin(), code.end());
  return nb::bytes(joined.data(), joined.size());
}

void resume(CubicSearch& search, const std::vector<std::size_t>& place, std::uint64_t tried,
            const nb::bytes& known) {
  const std::size_t length = search.code_length();
  if (known.size() % length != 0) throw std::invalid_argument("canonical forms of another size");
  std::set<CanonicalForm::Code> codes;
  const auto* const first = static_cast<const std::uint8_t*>(known.data());
  for (std::size_t at = 0; at < known.size(); at += length)
    codes.insert(codes.end(), CanonicalForm::Code(first + at, first + at + length));
  search.resume(place, tried, std::move(codes));
}

}  // namespace

void bind_cubic_search(nb::module_& module) {
  nb::class_<CubicSearch>(module, "CubicSearch")
      .def(nb::init<unsigned, unsigned>(), nb::arg("nodes"), nb::arg("girth"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("run", &run, nb::arg("edges"))
      .def("resume", &resume, nb::arg("place"), nb::arg("tried"), nb::arg("known"))
      .def_prop_ro("finished", &CubicSearch::finished)
      .def_prop_ro("roots", &CubicSearch::roots)
      .def_prop_ro("done", &CubicSearch::done)
      .def_prop_ro("place", &CubicSearch::place)
      .def_prop_ro("tried", &CubicSearch::tried)
      .def_prop_ro("found", [](const CubicSearch& search) { return search.known().size(); })
      .def_prop_ro("known", &known);
}
