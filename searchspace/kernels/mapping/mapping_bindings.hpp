// What the bindings of the mapping kernels share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "searchspace/kernels/mapping/traffic.hpp"

namespace hamtune {

template <typename T>
using ListOf = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <typename T>
std::vector<T> to_vector(const ListOf<T>& list) {
  return {list.data(), list.data() + list.size()};
}

/// The arrays of a `searchspace.traffic.Traffic`, which outlive the view.
inline TrafficView to_traffic(const ListOf<std::int64_t>& first, const ListOf<std::uint32_t>& partner,
                              const ListOf<std::int64_t>& size) {
  if (first.size() == 0 || partner.size() != size.size())
    throw std::invalid_argument("the arrays of the traffic do not go together");
  return {first.size() - 1, first.data(), partner.data(), size.data()};
}

}  // namespace hamtune
