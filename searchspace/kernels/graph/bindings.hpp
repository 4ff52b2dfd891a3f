// What the files of the Python module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

/// Edges as Python passes them: a C-contiguous array of shape (edges, 2).
using EdgeArray = nanobind::ndarray<const Node, nanobind::shape<-1, 2>, nanobind::c_contig,
                                    nanobind::device::cpu>;

inline std::vector<Edge> to_edges(const EdgeArray& array) {
  const auto view = array.view();
  std::vector<Edge> edges;
  edges.reserve(view.shape(0));
  for (std::size_t row = 0; row < view.shape(0); ++row)
    edges.push_back({view(row, 0), view(row, 1)});
  return edges;
}

/// Hands a vector over to NumPy without copying it.
template <typename T>
nanobind::ndarray<nanobind::numpy, T> to_numpy(std::vector<T>&& values,
                                               const std::vector<std::size_t>& shape) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  nanobind::capsule owner(
      owned.get(), [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
  static_cast<void>(owned.release());  // the capsule deletes it
  return nanobind::ndarray<nanobind::numpy, T>(data, shape.size(), shape.data(), owner);
}

}  // namespace hamtune
