// The board of swaps, for Python.
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
#include "searchspace/kernels/mapping/swap_board.hpp"

namespace nb = nanobind;

namespace {

using hamtune::SwapBoard;

using Told = std::tuple<std::int64_t, std::uint32_t, std::int64_t, double>;

Told told(const hamtune::Measures& measures) {
  return {measures.hop_bytes, measures.dilation, measures.congestion, measures.crowding};
}

void make(SwapBoard* board, const hamtune::ListOf<std::int64_t>& first,
          const hamtune::ListOf<std::uint32_t>& partner, const hamtune::ListOf<std::int64_t>& size,
          const hamtune::CoreHops& hops, std::size_t nodes, const hamtune::EdgeArray& edges,
          std::size_t hosts, const std::string& tie_rule, std::vector<std::uint32_t> widths,
          const hamtune::ListOf<std::uint32_t>& places) {
  hamtune::Routes routes(nodes, hamtune::to_edges(edges), hosts, hamtune::tie_rule(tie_rule));
  new (board) SwapBoard(hamtune::to_traffic(first, partner, size), hops, std::move(routes),
                        std::move(widths), hamtune::to_vector(places));
}

std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> crossing(const SwapBoard& board,
                                                                             std::uint32_t edge) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> pairs;
  for (const SwapBoard::Crossing& pair : board.crossing(edge))
    pairs.emplace_back(pair.low, pair.high, pair.size);
  return pairs;
}

void anneal(SwapBoard& board, double hop_bytes, double dilation, double congestion, double seconds,
            std::uint64_t steps, std::uint64_t seed, const std::function<bool(double)>& proceed) {
  hamtune::SwapProceed asked;
  if (proceed)
    asked = [&](double taken) {
      const nb::gil_scoped_acquire acquired;
      return proceed(taken);
    };
  const nb::gil_scoped_release released;
  board.anneal({hop_bytes, dilation, congestion}, seconds, steps, seed, asked);
}

}  // namespace

void bind_swap_board(nb::module_& module) {
  nb::class_<SwapBoard>(module, "SwapBoard")
      .def("__init__", &make, nb::arg("first"), nb::arg("partner"), nb::arg("size"), nb::arg("hops"),
           nb::arg("nodes"), nb::arg("edges"), nb::arg("hosts"), nb::arg("tie_rule"),
           nb::arg("widths"), nb::arg("places"))
      .def("places",
           [](const SwapBoard& board) {
             std::vector<std::uint32_t> places = board.places();
             const std::size_t ranks = places.size();
             return hamtune::to_numpy(std::move(places), {ranks});
           })
      .def("measures", [](const SwapBoard& board) { return told(board.measures()); })
      .def("after",
           [](SwapBoard& board, std::uint32_t rank, std::uint32_t place) {
             return told(board.after(rank, place));
           },
           nb::arg("rank"), nb::arg("place"))
      .def("swap", &SwapBoard::swap, nb::arg("rank"), nb::arg("place"))
      .def("loads", &SwapBoard::loads)
      .def("crossing", &crossing, nb::arg("edge"))
      .def("anneal", &anneal, nb::arg("hop_bytes"), nb::arg("dilation"), nb::arg("congestion"),
           nb::arg("seconds"), nb::arg("steps"), nb::arg("seed"), nb::arg("proceed").none());
}
