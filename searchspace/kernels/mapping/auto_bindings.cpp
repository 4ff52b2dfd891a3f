// The mapper `auto`, for Python.
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/mapper/assignment.hpp"
#include "searchspace/kernels/mapping/mapper/machine.hpp"
#include "searchspace/kernels/mapping/mapper/search.hpp"
#include "searchspace/kernels/mapping/mapping_bindings.hpp"

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
                   std::uint64_t steps, std::size_t threads, std::uint64_t seed,
                   const std::function<bool(double, std::int64_t)>& proceed) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  std::vector<std::uint32_t> slots = hamtune::to_vector(start);
  check_start(slots, traffic.ranks, cores.cores());
  hamtune::mapper::Found found;
  {
    const nb::gil_scoped_release released;
    const hamtune::mapper::Flows flows(traffic.first, traffic.ranks, traffic.partner, traffic.size);
    hamtune::mapper::Proceed report;
    if (proceed)
      report = [&](const hamtune::mapper::Progress& progress) {
        const nb::gil_scoped_acquire acquired;
        return proceed(progress.seconds, progress.cost);
      };
    found =
        hamtune::mapper::map_auto(flows, cores, {seconds, steps, threads}, seed, report, std::move(slots));
  }
  const std::size_t ranks = found.slots.size();
  return nb::make_tuple(hamtune::to_numpy(std::move(found.slots), {ranks}), found.start,
                        found.steps, found.seconds);
}

/// Makes proposals one after the other; what each changes, by the flows of both ranks and by the gains
/// kept (None where there are none).
nb::list swap_changes(const hamtune::ListOf<std::int64_t>& first,
                      const hamtune::ListOf<std::uint32_t>& partner,
                      const hamtune::ListOf<std::int64_t>& size, const hamtune::CoreHops& cores,
                      const hamtune::ListOf<std::uint32_t>& start,
                      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& proposals) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const std::vector<std::uint32_t> slots = hamtune::to_vector(start);
  check_start(slots, traffic.ranks, cores.cores());
  const hamtune::mapper::Flows flows(traffic.first, traffic.ranks, traffic.partner, traffic.size);
  nb::list found;
  hamtune::mapper::with_metric(cores, 1, [&](const auto& metric) {
    hamtune::mapper::Assignment assignment(flows, metric, slots);
    std::optional<hamtune::mapper::GainTable> gains = assignment.gains();
    if (gains) gains->reset(slots);
    for (const auto& [rank, to] : proposals) {
      if (rank >= traffic.ranks || to >= cores.cores())
        throw std::invalid_argument("there is no such rank or place");
      const hamtune::mapper::Slot from = assignment.slot(rank);
      const std::int64_t change = from == to ? 0 : assignment.change(rank, to);
      nb::object kept = nb::none();
      if (gains) {
        std::int64_t sum = 0;
        if (from != to) {
          sum = gains->change(rank, to);
          gains->swap(rank, to);
        }
        kept = nb::cast(sum * flows.unit());
      }
      found.append(nb::make_tuple(change * flows.unit(), kept));
      if (from != to) assignment.move(rank, to, change);
    }
  });
  return found;
}

/// Makes so many proposals with all slots as candidates, at temperature 0; the places then (None where that
/// is not done).
nb::object propose_all(const hamtune::ListOf<std::int64_t>& first,
                       const hamtune::ListOf<std::uint32_t>& partner,
                       const hamtune::ListOf<std::int64_t>& size, const hamtune::CoreHops& cores,
                       const hamtune::ListOf<std::uint32_t>& start, std::uint64_t times, std::uint64_t seed) {
  const hamtune::TrafficView traffic = hamtune::to_traffic(first, partner, size);
  const std::vector<std::uint32_t> slots = hamtune::to_vector(start);
  check_start(slots, traffic.ranks, cores.cores());
  const hamtune::mapper::Flows flows(traffic.first, traffic.ranks, traffic.partner, traffic.size);
  nb::object found = nb::none();
  hamtune::mapper::with_metric(cores, 1, [&](const auto& metric) {
    const hamtune::mapper::Assignment assignment(flows, metric, slots);
    std::optional<hamtune::mapper::GainTable> gains = assignment.gains();
    if (!gains || !gains->scans()) return;
    gains->reset(slots);
    hamtune::Random random(seed);
    gains->propose_all(times, random);
    std::vector<std::uint32_t> places = gains->slots();
    found = nb::cast(hamtune::to_numpy(std::move(places), {slots.size()}));
  });
  return found;
}

}  // namespace

void bind_auto(nb::module_& module) {
  module.def("map_auto", &map_auto, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("cores"), nb::arg("start"), nb::arg("seconds"), nb::arg("steps"),
             nb::arg("threads"), nb::arg("seed"), nb::arg("proceed").none());
  module.def("swap_changes", &swap_changes, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("cores"), nb::arg("start"), nb::arg("proposals"));
  module.def("propose_all", &propose_all, nb::arg("first"), nb::arg("partner"), nb::arg("size"),
             nb::arg("cores"), nb::arg("start"), nb::arg("times"), nb::arg("seed"));
}
