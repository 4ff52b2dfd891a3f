// The assignment with the loads of rounds, for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/mapping/mapping_bindings.hpp"
#include "searchspace/kernels/mapping/round_assignment.hpp"

namespace nb = nanobind;

namespace {

using hamtune::ListOf;
using hamtune::RoundAssignment;

using Tuple = std::tuple<double, double, double, double>;

Tuple as_tuple(const hamtune::RoundTerms& terms) {
  return {terms.volume, terms.busiest, terms.rounds, terms.hops};
}

void make(RoundAssignment* assignment, std::size_t ranks, const ListOf<std::uint32_t>& round,
          const ListOf<std::uint32_t>& sender, const ListOf<std::uint32_t>& receiver,
          const ListOf<std::int64_t>& size, const ListOf<double>& count, const ListOf<std::uint32_t>& host,
          std::size_t nodes, const hamtune::EdgeArray& edges, std::size_t hosts, const std::string& tie_rule,
          const std::vector<std::uint32_t>& widths, double interface_each_way, double memory,
          const ListOf<std::uint32_t>& places) {
  if (round.size() != size.size() || sender.size() != size.size() || receiver.size() != size.size())
    throw std::invalid_argument("the lists of messages do not go together");
  hamtune::MessageRounds rounds;
  for (std::size_t at = 0; at < size.size(); ++at)
    rounds.messages.push_back(
        {round.data()[at], sender.data()[at], receiver.data()[at], size.data()[at]});
  rounds.count = hamtune::to_vector(count);
  hamtune::Routes routes(nodes, hamtune::to_edges(edges), hosts, hamtune::tie_rule(tie_rule));
  new (assignment) RoundAssignment(ranks, rounds, hamtune::to_vector(host), std::move(routes), widths,
                                   {interface_each_way, memory}, hamtune::to_vector(places));
}

}  // namespace

void bind_round_assignment(nb::module_& module) {
  nb::class_<RoundAssignment>(module, "RoundAssignment")
      .def("__init__", &make, nb::arg("ranks"), nb::arg("round"), nb::arg("sender"), nb::arg("receiver"),
           nb::arg("size"), nb::arg("count"), nb::arg("host"), nb::arg("nodes"), nb::arg("edges"),
           nb::arg("hosts"), nb::arg("tie_rule"), nb::arg("widths"), nb::arg("interface"), nb::arg("memory"),
           nb::arg("places"))
      .def("places",
           [](const RoundAssignment& assignment) {
             std::vector<std::uint32_t> places = assignment.places();
             const std::size_t ranks = places.size();
             return hamtune::to_numpy(std::move(places), {ranks});
           })
      .def("terms", [](const RoundAssignment& assignment) { return as_tuple(assignment.terms()); })
      .def(
          "after",
          [](RoundAssignment& assignment, std::uint32_t rank, std::uint32_t place) {
            return as_tuple(assignment.after(rank, place));
          },
          nb::arg("rank"), nb::arg("place"))
      .def("swap", &RoundAssignment::swap, nb::arg("rank"), nb::arg("place"))
      .def("work", &RoundAssignment::work)
      .def(
          "anneal",
          [](RoundAssignment& assignment, const Tuple& weights, double hot, std::uint64_t steps,
             std::uint64_t seed) {
            const nb::gil_scoped_release released;
            const auto [volume, busiest, rounds, hops] = weights;
            assignment.anneal({volume, busiest, rounds, hops}, hot, steps, seed);
          },
          nb::arg("weights"), nb::arg("hot"), nb::arg("steps"), nb::arg("seed"));
}
