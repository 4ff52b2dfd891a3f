#include "searchspace/kernels/mapping/mapping_metrics.hpp"

#include <limits>

namespace hamtune {

std::vector<std::int64_t> bytes_by_hops(const TrafficView& traffic, const CoreHops& hops,
                                        const std::vector<std::uint32_t>& placed) {
  std::vector<std::int64_t> bytes;
  hops.visit([&](const auto& distance) {
    for (std::size_t rank = 0; rank < traffic.ranks; ++rank)
      for (std::size_t i = traffic.begin(rank); i < traffic.end(rank); ++i) {
        if (traffic.partner[i] <= rank) continue;
        const std::uint32_t far = distance(placed[rank], placed[traffic.partner[i]]);
        if (far >= bytes.size()) bytes.resize(far + 1, 0);
        bytes[far] += traffic.size[i];
      }
  });
  return bytes;
}

std::vector<std::int64_t> edge_loads(const TrafficView& traffic, const std::vector<Node>& host,
                                     const Adjacency& network, std::size_t hosts,
                                     std::size_t edges) {
  struct Way {
    Node parent;
    std::uint32_t edge;
  };
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  const bool forwarding = hosts == network.nodes();

  std::vector<std::vector<std::uint32_t>> ranks_of(hosts);
  for (std::uint32_t rank = 0; rank < host.size(); ++rank) ranks_of[host[rank]].push_back(rank);

  std::vector<std::int64_t> load(edges, 0);
  std::vector<std::int64_t> due(network.nodes(), 0);  // from the root to each host above it
  std::vector<Way> way(network.nodes());
  std::vector<Node> queue;
  for (Node root = 0; root < hosts; ++root) {
    std::size_t missing = 0;
    for (const std::uint32_t rank : ranks_of[root])
      for (std::size_t i = traffic.begin(rank); i < traffic.end(rank); ++i) {
        const Node target = host[traffic.partner[i]];
        if (target <= root) continue;
        if (due[target] == 0) ++missing;
        due[target] += traffic.size[i];
      }
    if (missing == 0) continue;

    for (Way& each : way) each.edge = kNone;
    queue.assign(1, root);
    for (std::size_t at = 0; at < queue.size() && missing > 0; ++at) {
      const Node node = queue[at];
      if (node != root && due[node] != 0) --missing;
      if (!forwarding && node < hosts && node != root) continue;
      for (const Neighbor* n = network.begin(node); n != network.end(node); ++n)
        if (n->node != root && way[n->node].edge == kNone) {
          way[n->node] = {node, n->edge};
          queue.push_back(n->node);
        }
    }
    for (std::size_t at = queue.size(); at-- > 1;) {  // what is further out passes here
      const Node node = queue[at];
      if (due[node] == 0) continue;
      load[way[node].edge] += due[node];
      if (way[node].parent != root) due[way[node].parent] += due[node];
      due[node] = 0;
    }
  }
  return load;
}

}  // namespace hamtune
