// The assignment with the loads of cables, for Python.
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/mapping/mapping_bindings.hpp"
#include "searchspace/kernels/mapping/congestion_assignment.hpp"

namespace nb = nanobind;

namespace {

using hamtune::CongestionAssignment;

using Tuple = std::tuple<std::int64_t, std::uint32_t, std::int64_t, double>;

Tuple as_tuple(const hamtune::Measures& measures) {
  return {measures.hop_bytes, measures.dilation, measures.congestion, measures.crowding};
}

void make(CongestionAssignment* assignment, const hamtune::ListOf<std::int64_t>& first,
          const hamtune::ListOf<std::uint32_t>& partner, const hamtune::ListOf<std::int64_t>& size,
          const hamtune::CoreHops& hops, std::size_t nodes, const hamtune::EdgeArray& edges,
          std::size_t hosts, const std::string& tie_rule, std::vector<std::uint32_t> widths,
          const hamtune::ListOf<std::uint32_t>& places) {
  hamtune::Routes routes(nodes, hamtune::to_edges(edges), hosts, hamtune::tie_rule(tie_rule));
  new (assignment) CongestionAssignment(hamtune::to_traffic(first, partner, size), hops, std::move(routes),
                                        std::move(widths), hamtune::to_vector(places));
}

std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> crossing(
    const CongestionAssignment& assignment, std::uint32_t edge) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> pairs;
  for (const CongestionAssignment::Crossing& pair : assignment.crossing(edge))
    pairs.emplace_back(pair.low, pair.high, pair.size);
  return pairs;
}

void anneal(CongestionAssignment& assignment, double hop_bytes, double dilation, double congestion,
            double seconds, std::uint64_t steps, std::uint64_t seed,
            const std::function<bool(double)>& proceed) {
  hamtune::SwapProceed asked;
  if (proceed)
    asked = [&](double taken) {
      const nb::gil_scoped_acquire acquired;
      return proceed(taken);
    };
  const nb::gil_scoped_release released;
  assignment.anneal({hop_bytes, dilation, congestion}, seconds, steps, seed, asked);
}

}  // namespace

void bind_congestion_assignment(nb::module_& module) {
  nb::class_<CongestionAssignment>(module, "CongestionAssignment")
      .def("__init__", &make, nb::arg("first"), nb::arg("partner"), nb::arg("size"), nb::arg("hops"),
           nb::arg("nodes"), nb::arg("edges"), nb::arg("hosts"), nb::arg("tie_rule"), nb::arg("widths"),
           nb::arg("places"))
      .def("places",
           [](const CongestionAssignment& assignment) {
             std::vector<std::uint32_t> places = assignment.places();
             const std::size_t ranks = places.size();
             return hamtune::to_numpy(std::move(places), {ranks});
           })
      .def("measures", [](const CongestionAssignment& assignment) { return as_tuple(assignment.measures()); })
      .def(
          "after",
          [](CongestionAssignment& assignment, std::uint32_t rank, std::uint32_t place) {
            return as_tuple(assignment.after(rank, place));
          },
          nb::arg("rank"), nb::arg("place"))
      .def("swap", &CongestionAssignment::swap, nb::arg("rank"), nb::arg("place"))
      .def("loads", &CongestionAssignment::loads)
      .def("crossing", &crossing, nb::arg("edge"))
      .def("anneal", &anneal, nb::arg("hop_bytes"), nb::arg("dilation"), nb::arg("congestion"),
           nb::arg("seconds"), nb::arg("steps"), nb::arg("seed"), nb::arg("proceed").none());
}
