// Searches for networks of wide bisection, for Python.
#include "searchspace/kernels/widening.hpp"

#include "searchspace/kernels/bindings.hpp"
#include "searchspace/kernels/covers.hpp"
#include "searchspace/kernels/orbit_arrays.hpp"

namespace nb = nanobind;

namespace {

/// (width, base nodes, group, symmetry, orbits) of the best network, or None.
nb::object survey(const hamtune::CoverSurvey& networks, std::uint64_t searches, std::size_t aim,
                  std::uint32_t bases, std::uint64_t group, std::uint64_t seed) {
  hamtune::Cover found;
  {
    const nb::gil_scoped_release released;
    found = networks.run(searches, aim, {bases, group}, seed);
  }
  if (found.orbits.empty()) return nb::none();
  return nb::make_tuple(found.width, found.source.bases, found.source.group, found.symmetry,
                        hamtune::from_orbits(found.orbits));
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
      .def("run", &survey, nb::arg("searches"), nb::arg("aim"), nb::arg("bases"),
           nb::arg("group"), nb::arg("seed"));
}
