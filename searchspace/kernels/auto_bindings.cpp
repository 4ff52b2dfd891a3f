// The mapper `auto`, for Python.
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/bindings.hpp"
#include "searchspace/kernels/hops.hpp"
#include "searchspace/kernels/mapper/search.hpp"
#include "searchspace/kernels/mapping_bindings.hpp"

namespace nb = nanobind;

namespace {

void check_start(const std::vector<std::uint32_t>& slots, std::size_t ranks, std::size_t cores) {
  std::vector<bool> taken(cores, false);
  if (slots.size() != ranks) throw std::invalid_argument("the start is not for these ranks");
  for (const std::uint32_t slot : slots) {
    if (slot >= cores || taken[slot]) throw std::invalid_argument("the start is no mapping");
    taken[slot] = true;
  }
}

nb::tuple map_auto(const hamtune::ListOf<std::int64_t>& first,
                   const hamtune::ListOf<std::uint32_t>& partner,
                   const hamtune::ListOf<std::int64_t>& size, const hamtune::CoreHops& cores,
                   const hamtune::ListOf<std::uint32_t>& start, double seconds,
                   std::uint64_t steps, std::uint64_t seed,
                   const std::function<bool(double, std::int64_t)>& proceed) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  std::vector<std::uint32_t> slots = hamtune::to_vector(start);
  check_start(slots, traffic.ranks, cores.cores());
  hamtune::mapper::Found found;
  {
    const nb::gil_scoped_release released;
    const hamtune::mapper::Flows flows(traffic.first, traffic.ranks, traffic.partner, traffic.size);
    hamtune::mapper::Proceed told;
    if (proceed)
      told = [&](const hamtune::mapper::Progress& progress) {
        const nb::gil_scoped_acquire acquired;
        return proceed(progress.seconds, progress.cost);
      };
    found = hamtune::mapper::map_auto(flows, cores, {seconds, steps}, seed, told,
                                      std::move(slots));
  }
  const std::size_t ranks = found.slots.size();
  return nb::make_tuple(hamtune::to_numpy(std::move(found.slots), {ranks}), found.start,
                        found.steps, found.seconds);
}

}  // namespace

void bind_auto(nb::module_& module) {
  module.def("map_auto", &map_auto, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("cores"), nb::arg("start"), nb::arg("seconds"), nb::arg("steps"), nb::arg("seed"),
             nb::arg("proceed").none());
}
