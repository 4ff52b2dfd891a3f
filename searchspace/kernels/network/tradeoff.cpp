// Annealing for several goals at once, for Python.
#include "searchspace/kernels/network/tradeoff.hpp"

#include "searchspace/kernels/graph/bindings.hpp"

namespace nb = nanobind;

namespace {

using LengthArray =
    nb::ndarray<const double, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;

nb::ndarray<nb::numpy, hamtune::Node> best(const hamtune::Tradeoff& search) {
  std::vector<hamtune::Node> ends;
  for (const hamtune::Edge& edge : search.best()) ends.insert(ends.end(), {edge.u, edge.v});
  const std::size_t edges = ends.size() / 2;
  return hamtune::to_numpy(std::move(ends), {edges, 2});
}

}  // namespace

void bind_tradeoff(nb::module_& module) {
  using hamtune::Tradeoff;
  nb::class_<Tradeoff>(module, "Tradeoff")
      .def(
          "__init__",
          [](Tradeoff* self, std::uint32_t nodes, std::uint32_t degree,
             const hamtune::EdgeArray& edges, const LengthArray& lengths, double hop,
             double length, double cut, double hot, double cold, std::uint64_t moves,
             std::uint64_t seed) {
            std::vector<double> table(lengths.data(), lengths.data() + lengths.size());
            new (self) Tradeoff(nodes, degree, hamtune::to_edges(edges), std::move(table),
                                {hop, length, cut}, hot, cold, moves, seed);
          },
          nb::arg("nodes"), nb::arg("degree"), nb::arg("edges"), nb::arg("lengths"),
          nb::arg("hop"), nb::arg("length"), nb::arg("cut"), nb::arg("hot"), nb::arg("cold"),
          nb::arg("moves"), nb::arg("seed"))
      .def("run", &Tradeoff::run, nb::arg("moves"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("finished", &Tradeoff::finished)
      .def_prop_ro("done", &Tradeoff::done)
      .def_prop_ro("best", &best, nb::rv_policy::move);
}
