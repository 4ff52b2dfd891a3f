// Sparse traffic as Python gets it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/trace/collective_messages.hpp"

namespace hamtune {

/// (first, partner, size); the arrays are handed over, not copied.
inline nanobind::tuple to_tuple(SparseTraffic&& traffic) {
  const std::vector<std::size_t> rows{traffic.first.size()}, entries{traffic.size.size()};
  return nanobind::make_tuple(to_numpy(std::move(traffic.first), rows),
                              to_numpy(std::move(traffic.partner), entries),
                              to_numpy(std::move(traffic.size), entries));
}

}  // namespace hamtune
