#include "searchspace/kernels/mapper/machine.hpp"

#include <algorithm>
#include <limits>

namespace hamtune::mapper {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Whether a host has more than one of the cores.
bool shared(const CoreHops& cores) {
  return std::adjacent_find(cores.host().begin(), cores.host().end()) != cores.host().end();
}

/// One class a host that has cores.
template <typename Hosts>
TableMetric by_host(const CoreHops& cores, const Hosts& hosts, std::uint32_t climb,
                    std::size_t near) {
  std::vector<Node> used;
  std::vector<std::uint32_t> classes;
  for (const Node host : cores.host()) {
    if (used.empty() || used.back() != host) used.push_back(host);
    classes.push_back(static_cast<std::uint32_t>(used.size() - 1));
  }
  std::vector<std::uint16_t> table;
  table.reserve(used.size() * used.size());
  for (const Node one : used)
    for (const Node other : used)
      table.push_back(
          static_cast<std::uint16_t>(one == other ? 0 : climb + hosts(one, other)));
  return TableMetric(std::move(classes), used.size(), std::move(table), near);
}

}  // namespace

TreeMetric tree_metric(const CoreHops& cores, const TreeHops& hosts) {
  const TreeHops& inside = cores.within_host();
  const auto bits = static_cast<unsigned>(inside.hops_by_bit().size());
  std::vector<std::uint32_t> codes, hops = inside.hops_by_bit();
  for (std::size_t slot = 0; slot < cores.cores(); ++slot)
    codes.push_back(hosts.code(cores.host()[slot]) << bits | inside.code(cores.core()[slot]));
  for (const std::uint32_t above : hosts.hops_by_bit())
    hops.push_back(above + static_cast<std::uint32_t>(cores.climb()));
  return TreeMetric(std::move(codes), hops);
}

TableMetric table_metric(const CoreHops& cores, const RouterHops& hosts, std::uint32_t climb,
                         std::size_t near) {
  if (climb > 0 || shared(cores)) return by_host(cores, hosts, climb, near);
  std::vector<std::uint32_t> number(hosts.routers(), kNone), classes;
  std::vector<Node> one;  // host of each router that has any
  for (const Node host : cores.host()) {
    std::uint32_t& router = number[hosts.router(host)];
    if (router == kNone) {
      router = static_cast<std::uint32_t>(one.size());
      one.push_back(host);
    }
    classes.push_back(router);
  }
  std::vector<std::uint16_t> table;
  table.reserve(one.size() * one.size());
  for (const Node from : one)
    for (const Node to : one)
      table.push_back(static_cast<std::uint16_t>(from == to ? 2U : hosts(from, to)));
  return TableMetric(std::move(classes), one.size(), std::move(table), near);
}

TableMetric table_metric(const CoreHops& cores, const TableHops& hosts, std::uint32_t climb,
                         std::size_t near) {
  return by_host(cores, hosts, climb, near);
}

}  // namespace hamtune::mapper
