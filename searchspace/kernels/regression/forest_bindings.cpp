// The forest of regression trees, for Python.
#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/regression/forest.hpp"

namespace nb = nanobind;

namespace {

using Features = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Targets = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

hamtune::FeatureRows to_rows(const Features& features) {
  return {features.data(), features.shape(0), features.shape(1)};
}

void grow(hamtune::RegressionForest* forest, const Features& features, const Targets& targets,
          std::size_t trees, std::uint64_t seed) {
  const std::vector<double> values(targets.data(), targets.data() + targets.size());
  new (forest) hamtune::RegressionForest(to_rows(features), values, trees, seed);
}

nb::ndarray<nb::numpy, double> predict(const hamtune::RegressionForest& forest, const Features& features) {
  return hamtune::to_numpy(forest.predict(to_rows(features)), {forest.trees(), features.shape(0)});
}

}  // namespace

void bind_forest(nb::module_& module) {
  nb::class_<hamtune::RegressionForest>(module, "RegressionForest")
      .def("__init__", &grow, nb::arg("features"), nb::arg("targets"), nb::arg("trees"), nb::arg("seed"))
      .def("predict", &predict, nb::arg("features"));
}
