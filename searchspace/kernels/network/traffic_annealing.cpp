// Networks made for an application's traffic, for Python.
#include "searchspace/kernels/network/traffic_annealing.hpp"

#include <nanobind/stl/vector.h>

#include "searchspace/kernels/graph/bindings.hpp"

namespace nb = nanobind;

namespace {

using Numbers = nb::ndarray<const hamtune::Node, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using Volumes = nb::ndarray<const double, nb::shape<-1>, nb::c_contig, nb::device::cpu>;

std::vector<hamtune::Demand> to_demands(const Numbers& one, const Numbers& other, const Volumes& volume) {
  if (one.size() != other.size() || one.size() != volume.size())
    throw std::invalid_argument("demands need as many volumes as pairs");
  std::vector<hamtune::Demand> demands;
  demands.reserve(one.size());
  for (std::size_t index = 0; index < one.size(); ++index)
    demands.push_back({one(index), other(index), volume(index)});
  return demands;
}

nb::ndarray<nb::numpy, hamtune::Node> to_array(const std::vector<hamtune::Edge>& edges) {
  std::vector<hamtune::Node> ends;
  ends.reserve(2 * edges.size());
  for (const hamtune::Edge& edge : edges) ends.insert(ends.end(), {edge.u, edge.v});
  return hamtune::to_numpy(std::move(ends), {edges.size(), 2});
}

}  // namespace

void bind_traffic_annealing(nb::module_& module) {
  using hamtune::TrafficAnnealing;
  nb::class_<TrafficAnnealing>(module, "TrafficAnnealing")
      .def(
          "__init__",
          [](TrafficAnnealing* self, std::size_t nodes, std::size_t symmetry, const hamtune::EdgeArray& cables,
             const Numbers& one, const Numbers& other, const Volumes& volume, double background,
             std::uint64_t iterations, std::uint64_t seed) {
            const std::vector<hamtune::Edge> edges = hamtune::to_edges(cables);
            const std::vector<hamtune::Demand> demands = to_demands(one, other, volume);
            const nb::gil_scoped_release released;
            new (self) TrafficAnnealing(nodes, symmetry, edges, demands, background, iterations, seed);
          },
          nb::arg("nodes"), nb::arg("symmetry"), nb::arg("cables"), nb::arg("one"), nb::arg("other"),
          nb::arg("volume"), nb::arg("background"), nb::arg("iterations"), nb::arg("seed"))
      .def(
          "resume",
          [](TrafficAnnealing& self, std::uint64_t epoch, const hamtune::EdgeArray& cables,
             const hamtune::EdgeArray& best) {
            const std::vector<hamtune::Edge> now = hamtune::to_edges(cables);
            const std::vector<hamtune::Edge> found = hamtune::to_edges(best);
            const nb::gil_scoped_release released;
            self.resume(epoch, now, found);
          },
          nb::arg("epoch"), nb::arg("cables"), nb::arg("best"))
      .def("run", &TrafficAnnealing::run, nb::arg("epochs"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("finished", &TrafficAnnealing::finished)
      .def_prop_ro("epoch", &TrafficAnnealing::epoch)
      .def_prop_ro("evaluations", &TrafficAnnealing::evaluations)
      .def_prop_ro("terms",
                   [](const TrafficAnnealing& self) {
                     return nb::make_tuple(self.best_terms().distance, self.best_terms().loaded);
                   })
      .def_prop_ro("cables", [](const TrafficAnnealing& self) { return to_array(self.cables()); }, nb::rv_policy::move)
      .def_prop_ro("best", [](const TrafficAnnealing& self) { return to_array(self.best()); }, nb::rv_policy::move)
      .def_ro_static("EPOCH", &TrafficAnnealing::kEpoch);
}
