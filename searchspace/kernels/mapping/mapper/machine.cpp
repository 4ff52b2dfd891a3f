#include "searchspace/kernels/mapping/mapper/machine.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace hamtune::mapper {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Whether a host has more than one of the cores.
bool shared(const CoreHops& cores) {
  return std::adjacent_find(cores.host().begin(), cores.host().end()) != cores.host().end();
}

/// The class of each of `count` hosts: two are of one where all others are as far from the one as
/// from the other (as on the same switch), and all of one are equally far apart.
std::vector<std::uint32_t> alike(const std::vector<std::uint16_t>& table, std::size_t count) {
  const auto hops = [&](std::size_t one, std::size_t other) { return table[one * count + other]; };
  std::vector<std::uint32_t> of;
  std::vector<std::size_t> first, second;  // members of each class
  for (std::size_t host = 0; host < count; ++host) {
    std::uint32_t found = 0;
    for (; found < first.size(); ++found) {
      const std::size_t member = first[found];
      if (second[found] != member && hops(member, host) != hops(member, second[found])) continue;
      bool same = true;
      for (std::size_t other = 0; other < count && same; ++other)
        same = other == host || other == member || hops(host, other) == hops(member, other);
      if (same) break;
    }
    if (found == first.size()) {
      first.push_back(host);
      second.push_back(host);
    } else if (second[found] == first[found]) {
      second[found] = host;
    }
    of.push_back(found);
  }
  return of;
}

/// One class a host that has cores, or a set of hosts that are alike where none has several, nor a tree inside.
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
      table.push_back(static_cast<std::uint16_t>(one == other ? 0 : climb + hosts(one, other)));
  const std::size_t count = used.size();
  // With a tree inside, places of one class are taken for those of one host.
  if (count < cores.cores() || count < 2 || cores.within_host().leaves() > 1)
    return TableMetric(std::move(classes), count, std::move(table), near);

  classes = alike(table, count);
  const std::size_t kinds = 1 + *std::max_element(classes.begin(), classes.end());
  if (kinds == count) return TableMetric(std::move(classes), count, std::move(table), near);
  std::vector<std::uint16_t> between(kinds * kinds, 0);
  for (std::size_t one = 0; one < count; ++one)
    for (std::size_t other = 0; other < count; ++other)
      if (one != other) between[classes[one] * kinds + classes[other]] = table[one * count + other];
  return TableMetric(std::move(classes), kinds, std::move(between), near);
}

constexpr std::size_t kBitsOfCode = std::numeric_limits<std::uint32_t>::digits;

/// Leaves those bits out of the codes of a tree that are the highest to differ in no two of them: the highest
/// of the others tells the same.
void leave_out_bits(std::vector<std::uint64_t>& codes, std::vector<std::uint32_t>& hops_by_bit) {
  std::vector<std::uint64_t> sorted = codes;
  std::sort(sorted.begin(), sorted.end());
  std::vector<bool> tells(hops_by_bit.size(), false);
  for (std::size_t at = 1; at < sorted.size(); ++at)  // of two far apart it is that of two in between
    if (sorted[at] != sorted[at - 1])
      tells[63U - static_cast<unsigned>(__builtin_clzll(sorted[at] ^ sorted[at - 1]))] = true;
  std::vector<std::uint64_t> shorter(codes.size(), 0);
  std::vector<std::uint32_t> hops;
  for (std::size_t bit = 0; bit < tells.size(); ++bit) {
    if (!tells[bit]) continue;
    for (std::size_t slot = 0; slot < codes.size(); ++slot)
      shorter[slot] |= (codes[slot] >> bit & 1U) << hops.size();
    hops.push_back(hops_by_bit[bit]);
  }
  if (hops.size() > kBitsOfCode)
    throw std::invalid_argument("the tree of hosts and their cores has too many levels");
  codes = std::move(shorter);
  hops_by_bit = std::move(hops);
}

}  // namespace

TreeMetric tree_metric(const CoreHops& cores, const TreeHops& hosts) {
  const TreeHops& inside = cores.within_host();
  const auto bits = static_cast<unsigned>(inside.hops_by_bit().size());
  std::vector<std::uint64_t> codes;  // a tree has 32 bits at most
  std::vector<std::uint32_t> hops = inside.hops_by_bit();
  for (std::size_t slot = 0; slot < cores.cores(); ++slot)
    codes.push_back(std::uint64_t{hosts.code(cores.host()[slot])} << bits | inside.code(cores.core()[slot]));
  for (const std::uint32_t above : hosts.hops_by_bit())
    hops.push_back(above + static_cast<std::uint32_t>(cores.climb()));
  if (hops.size() > kBitsOfCode) leave_out_bits(codes, hops);
  return TreeMetric({codes.begin(), codes.end()}, hops);
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

TableMetric table_metric(const CoreHops& cores, const TableHops<std::uint8_t>& hosts,
                         std::uint32_t climb, std::size_t near) {
  return by_host(cores, hosts, climb, near);
}

TableMetric table_metric(const CoreHops& cores, const TableHops<std::uint16_t>& hosts,
                         std::uint32_t climb, std::size_t near) {
  return by_host(cores, hosts, climb, near);
}

}  // namespace hamtune::mapper
