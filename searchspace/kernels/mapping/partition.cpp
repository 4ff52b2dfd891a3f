#include "searchspace/kernels/mapping/partition.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <utility>

#include "searchspace/kernels/graph/metis_lock.hpp"

namespace hamtune {

namespace {

/// The arrays that METIS wants: 32 bits wide, so weights are scaled down where they must be.
struct MetisGraph {
  std::vector<idx_t> first;
  std::vector<idx_t> target;
  std::vector<idx_t> weight;

  explicit MetisGraph(const WeightedGraph& graph)
      : first(graph.first.begin(), graph.first.end()),
        target(graph.target.begin(), graph.target.end()) {
    const auto total = static_cast<double>(
        std::accumulate(graph.weight.begin(), graph.weight.end(), std::int64_t{0}));
    const double scale = std::min(1.0, 1e9 / std::max(1.0, total));
    weight.reserve(graph.weight.size());
    for (const std::int64_t each : graph.weight)
      weight.push_back(std::max<idx_t>(1, static_cast<idx_t>(static_cast<double>(each) * scale)));
  }
};

std::vector<idx_t> metis(const WeightedGraph& graph, std::vector<real_t> shares,
                         std::vector<idx_t>* node_weight, std::int32_t seed) {
  MetisGraph arrays(graph);
  auto count = static_cast<idx_t>(graph.nodes());
  auto parts = static_cast<idx_t>(shares.size());
  idx_t constraints = 1;
  idx_t cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = seed;
  std::vector<idx_t> part(graph.nodes(), 0);
  // METIS advises recursive bisection for few parts; for very many, it takes a third of the time.
  const auto run = parts > 8 && parts <= 64 ? METIS_PartGraphKway : METIS_PartGraphRecursive;
  const std::lock_guard held(metis_lock());
  if (run(&count, &constraints, arrays.first.data(), arrays.target.data(),
          node_weight == nullptr ? nullptr : node_weight->data(), nullptr, arrays.weight.data(),
          &parts, shares.data(), nullptr, options, &cut, part.data()) != METIS_OK)
    throw std::runtime_error("METIS cannot partition this traffic");
  return part;
}

/// Moves nodes from parts that are too large to parts that are too small, the cheapest first.
class Correction {
 public:
  Correction(const WeightedGraph& graph, const std::vector<std::size_t>& sizes,
             std::vector<std::uint32_t>& part)
      : graph_(graph), part_(part), spare_(sizes.size()), weight_to_(sizes.size(), 0) {
    for (std::size_t p = 0; p < sizes.size(); ++p) spare_[p] = static_cast<std::int64_t>(sizes[p]);
    for (const std::uint32_t p : part_) --spare_[p];
  }

  void run() {
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) push(node);
    while (!queue_.empty()) {
      const auto [gain, reversed] = queue_.top();
      queue_.pop();
      const std::uint32_t node = ~reversed;
      if (spare_[part_[node]] >= 0) continue;
      const auto [now, target] = best_move(node);
      if (now != gain) {
        queue_.emplace(now, reversed);
        continue;
      }
      ++spare_[part_[node]];
      --spare_[target];
      part_[node] = target;
      for (std::size_t i = graph_.first[node]; i < graph_.first[node + 1]; ++i) push(graph_.target[i]);
    }
  }

 private:
  void push(std::uint32_t node) {
    if (spare_[part_[node]] < 0) queue_.emplace(best_move(node).first, ~node);
  }

  /// The gain of the best part with room, and that part. Parts that a node has no edge to are all
  /// alike, so the first of them stands for all.
  std::pair<std::int64_t, std::uint32_t> best_move(std::uint32_t node) {
    const std::size_t from = graph_.first[node];
    const std::size_t to = graph_.first[node + 1];
    for (std::size_t i = from; i < to; ++i) weight_to_[part_[graph_.target[i]]] += graph_.weight[i];
    while (spare_[any_] <= 0) any_ = (any_ + 1) % spare_.size();
    auto best = static_cast<std::uint32_t>(any_);
    for (std::size_t i = from; i < to; ++i) {
      const std::uint32_t p = part_[graph_.target[i]];
      if (spare_[p] > 0 && (weight_to_[p] > weight_to_[best] ||
                            (weight_to_[p] == weight_to_[best] && p < best)))
        best = p;
    }
    const std::int64_t gain = weight_to_[best] - weight_to_[part_[node]];
    for (std::size_t i = from; i < to; ++i) weight_to_[part_[graph_.target[i]]] = 0;
    return {gain, best};
  }

  const WeightedGraph& graph_;
  std::vector<std::uint32_t>& part_;
  std::vector<std::int64_t> spare_;  ///< room of each part; negative when it is too large
  std::vector<std::int64_t> weight_to_;
  std::size_t any_ = 0;
  std::priority_queue<std::pair<std::int64_t, std::uint32_t>> queue_;
};

}  // namespace

WeightedGraph padded_graph(const TrafficView& traffic, std::size_t nodes) {
  WeightedGraph graph;
  graph.first.assign(traffic.first, traffic.first + traffic.ranks + 1);
  graph.first.resize(nodes + 1, graph.first.back());
  graph.target.assign(traffic.partner, traffic.partner + graph.first.back());
  graph.weight.assign(traffic.size, traffic.size + graph.first.back());
  return graph;
}

WeightedGraph induced(const WeightedGraph& graph, const std::vector<std::uint32_t>& nodes,
                      std::vector<std::uint32_t>& number) {
  constexpr std::uint32_t kOutside = std::numeric_limits<std::uint32_t>::max();
  number.assign(graph.nodes(), kOutside);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = i;
  WeightedGraph inner;
  for (const std::uint32_t node : nodes) {
    for (std::size_t i = graph.first[node]; i < graph.first[node + 1]; ++i)
      if (number[graph.target[i]] != kOutside) {
        inner.target.push_back(number[graph.target[i]]);
        inner.weight.push_back(graph.weight[i]);
      }
    inner.first.push_back(inner.target.size());
  }
  return inner;
}

WeightedGraph contracted(const WeightedGraph& graph, const std::vector<std::uint32_t>& part,
                         std::size_t parts) {
  std::vector<std::vector<std::uint32_t>> members(parts);
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) members[part[node]].push_back(node);
  WeightedGraph outer;
  std::vector<std::int64_t> bytes(parts, 0);
  std::vector<std::uint32_t> touched;
  for (std::uint32_t p = 0; p < parts; ++p) {
    touched.clear();
    for (const std::uint32_t node : members[p])
      for (std::size_t i = graph.first[node]; i < graph.first[node + 1]; ++i) {
        const std::uint32_t other = part[graph.target[i]];
        if (other == p) continue;
        if (bytes[other] == 0) touched.push_back(other);
        bytes[other] += graph.weight[i];
      }
    std::sort(touched.begin(), touched.end());
    for (const std::uint32_t other : touched) {
      outer.target.push_back(other);
      outer.weight.push_back(std::exchange(bytes[other], 0));
    }
    outer.first.push_back(outer.target.size());
  }
  return outer;
}

std::vector<std::uint32_t> partition(const WeightedGraph& graph,
                                     const std::vector<std::size_t>& sizes, std::int32_t seed) {
  std::vector<std::uint32_t> part;
  const bool trivial = sizes.size() == 1 || graph.target.empty() || graph.nodes() == sizes.size();
  if (trivial) {
    for (std::uint32_t p = 0; p < sizes.size(); ++p) part.insert(part.end(), sizes[p], p);
    return part;
  }
  std::vector<real_t> shares;
  shares.reserve(sizes.size());
  for (const std::size_t size : sizes)
    shares.push_back(static_cast<real_t>(static_cast<double>(size) /
                                         static_cast<double>(graph.nodes())));
  const std::vector<idx_t> found = metis(graph, std::move(shares), nullptr, seed);
  part.assign(found.begin(), found.end());
  Correction(graph, sizes, part).run();
  return part;
}

std::vector<std::uint32_t> bisect_weighted(const WeightedGraph& graph,
                                           const std::vector<std::int32_t>& node_weight,
                                           std::int32_t seed) {
  std::vector<idx_t> weights(node_weight.begin(), node_weight.end());
  const std::vector<idx_t> found = metis(graph, {0.5F, 0.5F}, &weights, seed);
  return {found.begin(), found.end()};
}

}  // namespace hamtune
