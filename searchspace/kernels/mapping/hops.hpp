// Hops between the cores of a machine, as functions where its shape has one. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

/// Hops between the leaves of a tree: twice the levels up to the node above both.
///
/// Each leaf has a code of one field of bits a level, the root's on top, so the highest bit in which
/// two codes differ tells the level.
class TreeHops {
 public:
  /// `arity` from the root to the leaves, each at least 1; leaves are numbered in order.
  explicit TreeHops(const std::vector<std::uint32_t>& arity);

  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t different = code_[a] ^ code_[b];
    return different == 0 ? 0 : hops_[31U - static_cast<unsigned>(__builtin_clz(different))];
  }
  std::size_t leaves() const { return code_.size(); }
  std::size_t levels() const { return levels_; }
  std::uint32_t code(std::uint32_t leaf) const { return code_[leaf]; }
  const std::vector<std::uint32_t>& hops_by_bit() const { return hops_; }

 private:
  std::size_t levels_;
  std::vector<std::uint32_t> code_;
  std::vector<std::uint32_t> hops_;  ///< by the highest bit that differs
};

/// Hops in a torus or mesh, its nodes numbered row by row (the last axis runs fastest).
class GridHops {
 public:
  GridHops(std::vector<std::int32_t> extents, bool wrapped);

  std::uint32_t operator()(Node a, Node b) const {
    const std::size_t axes = extents_.size();
    const std::int32_t* one = place_.data() + a * axes;
    const std::int32_t* other = place_.data() + b * axes;
    std::int32_t hops = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::int32_t straight = std::abs(one[axis] - other[axis]);
      const std::int32_t around = turn_[axis] - straight;
      hops += straight < around ? straight : around;
    }
    return static_cast<std::uint32_t>(hops);
  }
  const std::vector<std::int32_t>& extents() const { return extents_; }
  bool wrapped() const { return wrapped_; }
  const std::int32_t* place(Node node) const { return place_.data() + node * extents_.size(); }

 private:
  std::vector<std::int32_t> extents_;
  bool wrapped_;
  std::vector<std::int32_t> turn_;   ///< the extent where the axis wraps, else more than twice that
  std::vector<std::int32_t> place_;  ///< coordinates, nodes x axes
};

/// Hops where hosts are plugged into routers in equal blocks: two, and those between the routers.
class RouterHops {
 public:
  RouterHops(std::size_t hosts_per_router, std::size_t routers, std::vector<std::uint16_t> between)
      : hosts_per_router_(static_cast<Node>(hosts_per_router)),
        routers_(routers),
        between_(std::move(between)) {}

  std::uint32_t operator()(Node a, Node b) const {
    return a == b ? 0U
                  : 2U + between_[(a / hosts_per_router_) * routers_ + b / hosts_per_router_];
  }
  std::size_t routers() const { return routers_; }
  std::uint32_t router(Node host) const { return host / hosts_per_router_; }

 private:
  Node hosts_per_router_;
  std::size_t routers_;
  std::vector<std::uint16_t> between_;
};

/// Hops from a table that has each pair once: with 16,384 hosts and a byte for each it takes 134 MB.
template <typename Count>
class TableHops {
 public:
  static constexpr Count kUnreachable = std::numeric_limits<Count>::max();

  explicit TableHops(std::size_t hosts) : table_(start(hosts), kUnreachable) {
    for (std::size_t host = 0; host < hosts; ++host) row(host)[host] = 0;
  }

  std::uint32_t operator()(Node a, Node b) const {
    return a < b ? table_[start(b) + a] : table_[start(a) + b];
  }

  /// Of a host: to those before it, and to itself.
  Count* row(std::size_t host) { return table_.data() + start(host); }
  bool is_whole() const {
    return std::find(table_.begin(), table_.end(), kUnreachable) == table_.end();
  }

 private:
  static std::size_t start(std::size_t host) { return host * (host + 1) / 2; }

  std::vector<Count> table_;
};

using HostHops =
    std::variant<TreeHops, GridHops, RouterHops, TableHops<std::uint8_t>, TableHops<std::uint16_t>>;

/// Hops between cores, of which a host may have several below a tree of its own. `Hops` is one of
/// the alternatives of HostHops.
template <typename Hops>
struct CoreDistance {
  const Hops& between_hosts;
  const TreeHops& within_host;
  const Node* host;
  const std::uint32_t* core;
  std::uint32_t climb;

  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return host[a] == host[b] ? within_host(core[a], core[b])
                              : climb + between_hosts(host[a], host[b]);
  }
};

/// Hops between hosts where each has one core and all are used: cores are hosts.
template <typename Hops>
struct HostDistance {
  const Hops& between_hosts;
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return between_hosts(a, b); }
};

/// The cores of a machine that ranks may use, numbered host by host, and the hops between them.
///
/// Within a host, hops are those in the tree inside it (none where there is no tree); between hosts,
/// those of the network and, where there is a tree, the way out of one and into the other.
class CoreHops {
 public:
  /// `host` and `core` of each usable core; `inside` is the arity of the tree in a host, empty when
  /// there is none. Throws std::invalid_argument when the lists do not go together.
  CoreHops(HostHops hosts, std::vector<Node> host, std::vector<std::uint32_t> core,
           const std::vector<std::uint32_t>& inside);

  std::size_t cores() const { return host_.size(); }
  const std::vector<Node>& host() const { return host_; }
  const std::vector<std::uint32_t>& core() const { return core_; }
  const HostHops& between_hosts() const { return hosts_; }
  const TreeHops& within_host() const { return within_; }
  std::uint32_t climb() const { return climb_; }

  /// Calls `use` with a function of two cores that returns their hops; what is done with it is
  /// compiled for each shape of machine.
  template <typename Use>
  decltype(auto) visit(Use&& use) const {
    return std::visit(
        [&](const auto& hops) -> decltype(auto) {
          using Hops = std::decay_t<decltype(hops)>;
          if (plain_) return use(HostDistance<Hops>{hops});
          return use(CoreDistance<Hops>{hops, within_, host_.data(), core_.data(), climb_});
        },
        hosts_);
  }

  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return visit([=](const auto& distance) { return distance(a, b); });
  }

 private:
  HostHops hosts_;
  std::vector<Node> host_;
  std::vector<std::uint32_t> core_;
  TreeHops within_;
  std::uint32_t climb_;
  bool plain_;
};

/// Hops between the routers of a dragonfly: those of a group are joined all to all, groups x < y by
/// one cable between router (y - 1) mod r of x and router x mod r of y.
std::vector<std::uint16_t> dragonfly_hops(std::size_t groups, std::size_t routers);

/// Hops between the first `hosts` nodes of a network, in a table; where there are other nodes, hosts do
/// not forward. Throws std::invalid_argument when two of them have no path.
HostHops host_hops(const Adjacency& network, std::size_t hosts);

}  // namespace hamtune
