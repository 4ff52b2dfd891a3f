#include "searchspace/kernels/mapping/hops.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "searchspace/kernels/graph/distances.hpp"

namespace hamtune {

namespace {

unsigned bits_of(std::uint32_t values) {
  unsigned bits = 0;
  while ((1ULL << bits) < values) ++bits;
  return bits;
}

/// From all nodes of a network to all others; false where a distance is too large for the table.
template <typename Count>
bool search_from_nodes(const Adjacency& network, TableHops<Count>& table) {
  bool fits = true;
  with_batches(network, [&](auto& search) {
    for (std::size_t first = 0; fits && first < network.nodes(); first += search.kSources)
      search.run(first, [&](unsigned level, Node node, const auto& fresh, unsigned) {
        fits = fits && level < TableHops<Count>::kUnreachable;
        if (node < first) return;  // whose row has those before it
        Count* const row = table.row(node);
        for (std::size_t w = 0; w < fresh.size(); ++w)
          for (std::uint64_t rest = fresh[w]; rest != 0; rest &= rest - 1) {
            const std::size_t source =
                first + 64 * w + static_cast<std::size_t>(__builtin_ctzll(rest));
            if (source <= node) row[source] = static_cast<Count>(level);
          }
      });
  });
  return fits;
}

/// The same where hosts do not forward.
template <typename Count>
bool search_from_hosts(const Adjacency& network, std::size_t hosts, TableHops<Count>& table) {
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> reached(network.nodes());
  std::vector<Node> queue;
  for (Node root = 0; root < hosts; ++root) {
    std::fill(reached.begin(), reached.end(), kNone);
    reached[root] = 0;
    queue.assign(1, root);
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const Node node = queue[at];
      if (node < hosts && node != root) continue;
      for (const Neighbor* n = network.begin(node); n != network.end(node); ++n)
        if (reached[n->node] == kNone) {
          reached[n->node] = reached[node] + 1;
          queue.push_back(n->node);
        }
    }
    Count* const row = table.row(root);
    for (Node host = 0; host < root; ++host) {
      if (reached[host] == kNone) continue;
      if (reached[host] >= TableHops<Count>::kUnreachable) return false;
      row[host] = static_cast<Count>(reached[host]);
    }
  }
  return true;
}

/// None where a distance is too large for the table, or there is none.
template <typename Count>
std::optional<TableHops<Count>> tabulated(const Adjacency& network, std::size_t hosts) {
  TableHops<Count> table(hosts);
  const bool fits = hosts == network.nodes() ? search_from_nodes(network, table)
                                             : search_from_hosts(network, hosts, table);
  if (!fits || !table.is_whole()) return std::nullopt;
  return table;
}

/// All cores of a host without a tree inside are at no distance.
std::vector<std::uint32_t> flat(const std::vector<std::uint32_t>& inside) {
  return inside.empty() ? std::vector<std::uint32_t>{1} : inside;
}

}  // namespace

TreeHops::TreeHops(const std::vector<std::uint32_t>& arity) : levels_(arity.size()), code_{0} {
  unsigned used = 0;
  for (const std::uint32_t children : arity) {
    const unsigned bits = bits_of(children);
    used += bits;
    if (children == 0 || used > 32 || code_.size() * children > 0x1000000)
      throw std::invalid_argument("the tree is too large");
    std::vector<std::uint32_t> below;
    below.reserve(code_.size() * children);
    for (const std::uint32_t parent : code_)
      for (std::uint32_t child = 0; child < children; ++child)
        below.push_back((bits == 32 ? 0 : parent << bits) | child);
    code_ = std::move(below);
  }
  for (std::size_t level = 1; level <= levels_; ++level)
    hops_.insert(hops_.end(), bits_of(arity[levels_ - level]),
                 static_cast<std::uint32_t>(2 * level));
}

GridHops::GridHops(std::vector<std::int32_t> extents, bool wrapped)
    : extents_(std::move(extents)), wrapped_(wrapped) {
  std::size_t nodes = 1;
  for (const std::int32_t extent : extents_) {
    turn_.push_back(wrapped ? extent : 3 * extent);
    nodes *= static_cast<std::size_t>(extent);
  }
  place_.resize(nodes * extents_.size());
  for (std::size_t node = 0; node < nodes; ++node) {
    std::size_t rest = node;
    for (std::size_t axis = extents_.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(extents_[axis]);
      place_[node * extents_.size() + axis] = static_cast<std::int32_t>(rest % extent);
      rest /= extent;
    }
  }
}

CoreHops::CoreHops(HostHops hosts, std::vector<Node> host, std::vector<std::uint32_t> core,
                   const std::vector<std::uint32_t>& inside)
    : hosts_(std::move(hosts)),
      host_(std::move(host)),
      core_(std::move(core)),
      within_(flat(inside)),
      climb_(static_cast<std::uint32_t>(2 * inside.size())),
      plain_(inside.empty()) {
  if (host_.size() != core_.size()) throw std::invalid_argument("hosts and cores differ in number");
  if (inside.empty()) std::fill(core_.begin(), core_.end(), 0U);
  for (const std::uint32_t number : core_)
    if (number >= within_.leaves()) throw std::invalid_argument("a core lies outside its host");
  for (std::size_t i = 0; i < host_.size(); ++i) plain_ = plain_ && host_[i] == i;
}

std::vector<std::uint16_t> dragonfly_hops(std::size_t groups, std::size_t routers) {
  const std::size_t nodes = groups * routers;
  std::vector<std::vector<Node>> outside(nodes);
  for (std::size_t high = 1; high < groups; ++high)
    for (std::size_t low = 0; low < high; ++low) {
      const std::size_t u = low * routers + (high - 1) % routers;
      const std::size_t v = high * routers + low % routers;
      outside[u].push_back(static_cast<Node>(v));
      outside[v].push_back(static_cast<Node>(u));
    }
  // The direct way takes at most three hops, so only shorter ones are looked for.
  std::vector<std::uint16_t> hops(nodes * nodes, 3);
  for (std::size_t from = 0; from < nodes; ++from) {
    std::uint16_t* const row = hops.data() + from * nodes;
    const auto reach = [&](std::size_t node, std::uint16_t at) { row[node] = std::min(row[node], at); };
    const std::size_t mine = from / routers * routers;
    for (std::size_t near = mine; near < mine + routers; ++near) {
      reach(near, 1);
      for (const Node far : outside[near]) reach(far, near == from ? 1 : 2);
    }
    for (const Node gate : outside[from]) {
      const std::size_t group = gate / routers * routers;
      for (std::size_t near = group; near < group + routers; ++near) reach(near, 2);
      for (const Node further : outside[gate]) reach(further, 2);
    }
    row[from] = 0;
  }
  return hops;
}

HostHops host_hops(const Adjacency& network, std::size_t hosts) {
  if (auto narrow = tabulated<std::uint8_t>(network, hosts)) return *std::move(narrow);
  if (auto wide = tabulated<std::uint16_t>(network, hosts)) return *std::move(wide);
  throw std::invalid_argument("the network is not connected");
}

}  // namespace hamtune
