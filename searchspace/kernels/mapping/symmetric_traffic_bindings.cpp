// Traffic for Python: what ranks exchange both ways.
#include <algorithm>
#include <stdexcept>

#include "searchspace/kernels/mapping/mapping_bindings.hpp"
#include "searchspace/kernels/mapping/symmetric_traffic.hpp"
#include "searchspace/kernels/trace/sparse_traffic_bindings.hpp"

namespace nb = nanobind;

namespace {

using Numbers = hamtune::ListOf<std::int64_t>;

nb::tuple traffic_of_pairs(std::size_t ranks, const Numbers& one, const Numbers& other, const Numbers& size) {
  if (one.size() != size.size() || other.size() != size.size())
    throw std::invalid_argument("the lists of the pairs differ in length");
  hamtune::SparseTraffic traffic;
  {
    const nb::gil_scoped_release released;
    traffic = hamtune::symmetric_traffic(ranks, {size.size(), one.data(), other.data(), size.data()});
  }
  return hamtune::to_tuple(std::move(traffic));
}

nb::tuple traffic_of_sent(const Numbers& first, const hamtune::ListOf<std::uint32_t>& receiver,
                          const Numbers& size) {
  const std::int64_t* const end = first.data() + first.size();
  if (first.size() == 0 || first.data()[0] != 0 || !std::is_sorted(first.data(), end) ||
      end[-1] != static_cast<std::int64_t>(size.size()) || receiver.size() != size.size())
    throw std::invalid_argument("the arrays of what is sent do not go together");
  hamtune::SparseTraffic traffic;
  {
    const nb::gil_scoped_release released;
    traffic = hamtune::symmetric_traffic({first.size() - 1, first.data(), receiver.data(), size.data()});
  }
  return hamtune::to_tuple(std::move(traffic));
}

}  // namespace

void bind_symmetric_traffic(nb::module_& module) {
  module.def("traffic_of_pairs", &traffic_of_pairs, nb::arg("ranks"), nb::arg("one"), nb::arg("other"),
             nb::arg("size"));
  module.def("traffic_of_sent", &traffic_of_sent, nb::arg("first"), nb::arg("receiver"), nb::arg("size"));
}
