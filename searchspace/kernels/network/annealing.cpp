// Annealing of networks and distances under a rotation, for Python.
#include "searchspace/kernels/network/annealing.hpp"

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/network/orbit_arrays.hpp"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace {

using hamtune::from_orbits;
using hamtune::OrbitArray;
using hamtune::to_orbits;

/// Full evaluations of one network, as often as wanted.
class Distances {
 public:
  Distances(std::uint32_t nodes, std::uint32_t degree, std::uint32_t symmetry,
            const OrbitArray& orbits)
      : graph_(nodes, degree, symmetry) {
    for (const hamtune::Orbit& orbit : to_orbits(orbits)) hamtune::link_checked(graph_, orbit);
  }

  /// (sum of the distances from the base nodes, diameter); (-1, 0) when the network is in parts.
  nb::tuple evaluate() {
    const hamtune::DistanceSum found =
        graph_.evaluate(hamtune::RotationGraph::kTooFar - 1, 0, 0);
    return nb::make_tuple(found.cost == hamtune::RotationGraph::kTooFar ? -1 : found.cost,
                          found.diameter);
  }

 private:
  hamtune::RotationGraph graph_;
};

}  // namespace

void bind_annealing(nb::module_& module) {
  using hamtune::Annealing;
  module.def("level_instructions", &hamtune::level_instructions);
  nb::class_<Distances>(module, "Distances")
      .def(nb::init<std::uint32_t, std::uint32_t, std::uint32_t, const OrbitArray&>(),
           nb::arg("nodes"), nb::arg("degree"), nb::arg("symmetry"), nb::arg("orbits"))
      .def("evaluate", &Distances::evaluate);
  nb::class_<Annealing>(module, "Annealing")
      .def(
          "__init__",
          [](Annealing* self, std::uint32_t nodes, std::uint32_t degree, std::uint32_t symmetry,
             const OrbitArray& kept, const OrbitArray& orbits, double hot, double cold,
             std::uint64_t iterations, unsigned diameter_goal, std::int64_t penalty,
             std::uint64_t scramble, std::uint64_t seed) {
            new (self) Annealing(nodes, degree, symmetry, to_orbits(kept), to_orbits(orbits),
                                 {hot, cold, iterations, diameter_goal, penalty}, scramble, seed);
          },
          nb::arg("nodes"), nb::arg("degree"), nb::arg("symmetry"), nb::arg("kept"),
          nb::arg("orbits"), nb::arg("hot"), nb::arg("cold"), nb::arg("iterations"),
          nb::arg("diameter_goal"), nb::arg("penalty"), nb::arg("scramble"), nb::arg("seed"))
      .def(
          "resume",
          [](Annealing& self, std::uint64_t epoch, const OrbitArray& best) {
            self.resume(epoch, to_orbits(best));
          },
          nb::arg("epoch"), nb::arg("best"))
      .def("run", &Annealing::run, nb::arg("epochs"), nb::arg("goal"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("finished", &Annealing::finished, nb::arg("goal"))
      .def_prop_ro("epoch", &Annealing::epoch)
      .def_prop_ro("evaluations", &Annealing::evaluations)
      .def_prop_ro("accepted", &Annealing::accepted)
      .def_prop_ro("best_cost", &Annealing::best_cost)
      .def_prop_ro("best_diameter", &Annealing::best_diameter)
      .def_prop_ro("orbits", [](const Annealing& self) { return from_orbits(self.orbits()); },
                   nb::rv_policy::move)
      .def_prop_ro("best", [](const Annealing& self) { return from_orbits(self.best()); },
                   nb::rv_policy::move)
      .def_ro_static("EPOCH", &Annealing::kEpoch);
}
