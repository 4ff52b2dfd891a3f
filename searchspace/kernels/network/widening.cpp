// Searches for networks of wide bisection, for Python.
#include "searchspace/kernels/network/widening.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/network/covers.hpp"
#include "searchspace/kernels/network/orbit_arrays.hpp"

namespace nb = nanobind;

namespace {

/// (width, symmetry, orbits) of the best network, or None.
nb::object survey(hamtune::CoverSurvey& networks, std::uint64_t searches, std::size_t aim,
                  std::uint64_t seed, unsigned closeness) {
  hamtune::Cover found;
  {
    const nb::gil_scoped_release released;
    found = networks.run(searches, aim, seed, closeness);
  }
  if (found.orbits.empty()) return nb::none();
  return nb::make_tuple(found.width, found.symmetry, hamtune::from_orbits(found.orbits));
}

/// (base nodes, group, hops, load, lifts as rows (i, j, element)) of each walker.
nb::list walkers(const hamtune::CoverSurvey& networks) {
  nb::list all;
  for (const hamtune::Walker& walker : networks.walkers()) {
    std::vector<hamtune::Orbit> rows;
    for (const hamtune::Lift& lift : walker.lifts) rows.push_back({lift.i, lift.j, lift.element});
    all.append(nb::make_tuple(walker.bases, walker.group, walker.hops, walker.load,
                              hamtune::from_orbits(rows)));
  }
  return all;
}

void restore(hamtune::CoverSurvey& networks, const nb::list& all) {
  std::vector<hamtune::Walker> walkers;
  for (const nb::handle& one : all) {
    hamtune::Walker walker;
    walker.bases = nb::cast<std::uint32_t>(one[0]);
    walker.group = nb::cast<std::uint64_t>(one[1]);
    walker.hops = nb::cast<std::size_t>(one[2]);
    walker.load = nb::cast<double>(one[3]);
    for (const hamtune::Orbit& row : hamtune::to_orbits(nb::cast<hamtune::OrbitArray>(one[4]))) {
      if (row.turn >= hamtune::SolvableGroup::kLargestOrder)
        throw std::invalid_argument("a walker names an element that no group has");
      walker.lifts.push_back(
          {row.i, row.j, static_cast<hamtune::SolvableGroup::Element>(row.turn)});
    }
    walkers.push_back(std::move(walker));
  }
  networks.restore(walkers);
}

}  // namespace

void bind_widening(nb::module_& module) {
  using hamtune::CoverSurvey;
  using hamtune::OrbitArray;
  using hamtune::Widening;
  nb::class_<Widening>(module, "Widening")
      .def(
          "__init__",
          [](Widening* self, std::uint32_t nodes, std::uint32_t degree, std::uint32_t symmetry,
             const OrbitArray& kept, const OrbitArray& orbits, std::uint64_t seed) {
            new (self) Widening(nodes, degree, symmetry, hamtune::to_orbits(kept),
                                hamtune::to_orbits(orbits), seed);
          },
          nb::arg("nodes"), nb::arg("degree"), nb::arg("symmetry"), nb::arg("kept"),
          nb::arg("orbits"), nb::arg("seed"))
      .def("run", &Widening::run, nb::arg("searches"), nb::arg("aim"),
           nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("width", &Widening::width)
      .def_prop_ro("proposals", &Widening::proposals)
      .def_prop_ro(
          "best", [](const Widening& self) { return hamtune::from_orbits(self.best()); },
          nb::rv_policy::move);
  nb::class_<CoverSurvey>(module, "CoverSurvey")
      .def(nb::init<std::uint32_t, std::uint32_t, std::uint32_t>(), nb::arg("nodes"),
           nb::arg("degree"), nb::arg("unit"))
      .def("run", &survey, nb::arg("searches"), nb::arg("aim"), nb::arg("seed"),
           nb::arg("closeness") = 1)
      .def("walkers", &walkers)
      .def("restore", &restore, nb::arg("walkers"));
}
