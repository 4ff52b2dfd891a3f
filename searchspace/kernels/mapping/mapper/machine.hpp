// From the hops between cores to the metric that searches use. Plain C++17.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "searchspace/kernels/mapping/hops.hpp"
#include "searchspace/kernels/mapping/mapper/metrics.hpp"

namespace hamtune::mapper {

TreeMetric tree_metric(const CoreHops& cores, const TreeHops& hosts);

/// Classes are routers where a host has one core, else hosts; `climb` is added between hosts.
TableMetric table_metric(const CoreHops& cores, const RouterHops& hosts, std::uint32_t climb,
                         std::size_t near);
TableMetric table_metric(const CoreHops& cores, const TableHops<std::uint8_t>& hosts,
                         std::uint32_t climb, std::size_t near);
TableMetric table_metric(const CoreHops& cores, const TableHops<std::uint16_t>& hosts,
                         std::uint32_t climb, std::size_t near);

/// Calls `use` with the metric of the cores. `near`: how many close slots it lists for each.
template <typename Use>
decltype(auto) with_metric(const CoreHops& cores, std::size_t near, Use&& use) {
  const bool tree_inside = cores.within_host().levels() > 0 && cores.within_host().leaves() > 1;
  const auto climb = static_cast<std::uint32_t>(cores.climb());
  const auto hierarchical = [&](const auto& hosts) -> decltype(auto) {
    if (!tree_inside) return use(hosts);
    std::vector<std::uint32_t> places;
    for (const std::uint32_t core : cores.core()) places.push_back(cores.within_host().code(core));
    return use(HierarchicalMetric<std::decay_t<decltype(hosts)>>(hosts, std::move(places),
                                                                 cores.within_host().hops_by_bit()));
  };
  return std::visit(
      [&](const auto& hosts) -> decltype(auto) {
        using Hosts = std::decay_t<decltype(hosts)>;
        if constexpr (std::is_same_v<Hosts, TreeHops>) {
          return use(tree_metric(cores, hosts));
        } else if constexpr (std::is_same_v<Hosts, GridHops>) {
          return hierarchical(GridMetric(cores.host(), hosts.extents(), hosts.wrapped(), climb, near));
        } else {
          return hierarchical(table_metric(cores, hosts, climb, near));
        }
      },
      cores.between_hosts());
}

}  // namespace hamtune::mapper
