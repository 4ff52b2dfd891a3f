// Mappings along trees: groups, partitions, and the trees themselves.
#include "searchspace/kernels/mapping/tree_match.hpp"

#include <set>

#include "searchspace/kernels/mapping/greedy_mapping.hpp"
#include "searchspace/kernels/mapping/hierarchical.hpp"
#include "searchspace/kernels/mapping/partition.hpp"
#include "searchspace/kernels/mapping/topology_tree.hpp"
#include "tests/searchspace/kernels/mapping/mappings.hpp"

namespace hamtune {
namespace {

constexpr GroupChoice kChoices[] = {GroupChoice::kSmallestFirst, GroupChoice::kLargestLast,
                                    GroupChoice::kDegreeFirst};

TEST_CASE("ranks that exchange most share the lowest node of a tree") {
  // Pairs (0, 3), (1, 4), (2, 5) are heavy; of them (0, 3) and (2, 5) exchange a little.
  const tests::Traffic traffic(6, {{{0, 3}, 100}, {{1, 4}, 100}, {{2, 5}, 100}, {{0, 2}, 1}, {{3, 5}, 1}});
  for (const GroupChoice choice : kChoices) {
    const std::vector<std::uint32_t> leaf = tree_match(traffic.view(), {3, 2}, choice, false, 1000);
    REQUIRE(tests::is_mapping(leaf, 6));
    for (std::uint32_t rank = 0; rank < 3; ++rank) CHECK(leaf[rank] / 2 == leaf[rank + 3] / 2);
  }
}

TEST_CASE("every choice of groups gives each rank a leaf of its own") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const std::vector<std::vector<std::uint32_t>> trees{{2, 2, 2}, {3, 4}, {6}, {2, 6}, {1, 5}};
    for (const std::vector<std::uint32_t>& arity : trees) {
      std::uint32_t leaves = 1;
      for (const std::uint32_t children : arity) leaves *= children;
      const std::uint32_t ranks = 1 + random.below(leaves);
      const tests::Traffic traffic = tests::random_traffic(ranks, 2 * ranks, random);
      for (const GroupChoice choice : kChoices)
        for (const bool split : {false, true})
          for (const std::uint64_t most : {std::uint64_t{3}, std::uint64_t{100'000}}) {
            const std::vector<std::uint32_t> leaf = tree_match(traffic.view(), arity, choice, split, most);
            REQUIRE(leaf.size() == ranks);
            REQUIRE(tests::is_mapping(leaf, leaves));
          }
    }
  }
}

TEST_CASE("partitions have exactly the sizes asked for, and cut what is light") {
  // Two cliques of four joined by one light edge.
  tests::Traffic::Pairs pairs;
  for (std::uint32_t one = 0; one < 8; ++one)
    for (std::uint32_t other = one + 1; other < 8; ++other)
      if (one / 4 == other / 4) pairs[{one, other}] = 10;
  pairs[{3, 4}] = 1;
  const WeightedGraph cliques = padded_graph(tests::Traffic(8, pairs).view(), 8);
  const std::vector<std::uint32_t> halves = partition(cliques, {4, 4}, 1);
  for (std::uint32_t node = 0; node < 8; ++node) CHECK(halves[node] == halves[node / 4 * 4]);
  const WeightedGraph between = contracted(cliques, halves, 2);
  REQUIRE(between.nodes() == 2);
  REQUIRE(between.target.size() == 2);
  CHECK(between.weight[0] == 1);

  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const std::uint32_t ranks = 2 + random.below(30), nodes = ranks + random.below(5);
    const tests::Traffic traffic = tests::random_traffic(ranks, 3 * ranks, random);
    const WeightedGraph graph = padded_graph(traffic.view(), nodes);
    CHECK(graph.nodes() == nodes);
    std::vector<std::size_t> sizes;
    for (std::size_t left = nodes; left > 0; left -= sizes.back())
      sizes.push_back(1 + random.below(static_cast<std::uint32_t>(left)));
    const std::vector<std::uint32_t> part = partition(graph, sizes, 3);
    std::vector<std::size_t> found(sizes.size(), 0);
    for (const std::uint32_t one : part) ++found.at(one);
    CHECK(found == sizes);
    // What the parts exchange and what stays within them is what there is.
    std::int64_t all = 0, apart = 0, inside = 0;
    for (const std::int64_t weight : graph.weight) all += weight;
    for (const std::int64_t weight : contracted(graph, part, sizes.size()).weight) apart += weight;
    std::vector<std::uint32_t> number(nodes);
    for (std::uint32_t one = 0; one < sizes.size(); ++one) {
      std::vector<std::uint32_t> members;
      for (std::uint32_t node = 0; node < nodes; ++node)
        if (part[node] == one) members.push_back(node);
      for (const std::int64_t weight : induced(graph, members, number).weight) inside += weight;
    }
    CHECK(apart + inside == all);
  }
}

/// The leaves below a branch.
std::set<std::uint32_t> leaves_of(const TopologyTree& tree, std::uint32_t branch) {
  const TopologyTree::Branch& here = tree.branches[branch];
  if (here.children.empty()) return {here.leaf};
  std::set<std::uint32_t> found;
  for (const std::uint32_t child : here.children)
    for (const std::uint32_t leaf : leaves_of(tree, child)) found.insert(leaf);
  return found;
}

void check_tree(const TopologyTree& tree, const std::set<std::uint32_t>& leaves, std::size_t holds) {
  CHECK(leaves_of(tree, 0) == leaves);
  CHECK(tree.branches[0].size == holds);
  for (const TopologyTree::Branch& branch : tree.branches) {
    if (branch.children.empty()) continue;
    CHECK(branch.children.size() > 1);
    std::size_t sum = 0;
    for (const std::uint32_t child : branch.children) sum += tree.branches[child].size;
    CHECK(sum == branch.size);
  }
}

TEST_CASE("joining neighbours finds the levels of a fat tree again") {
  const std::vector<std::uint32_t> hosts{0, 1, 2, 3, 4, 5};
  const TopologyTree tree = joined_tree(TreeHops({2, 3}), hosts, std::vector<std::size_t>(6, 2));
  check_tree(tree, {0, 1, 2, 3, 4, 5}, 12);
  REQUIRE(tree.branches[0].children.size() == 2);
  std::set<std::set<std::uint32_t>> below;
  for (const std::uint32_t child : tree.branches[0].children) below.insert(leaves_of(tree, child));
  CHECK(below == std::set<std::set<std::uint32_t>>{{0, 1, 2}, {3, 4, 5}});
}

TEST_CASE("coordinate bisection goes along the longest extent") {
  std::vector<std::uint32_t> hosts(8);
  for (std::uint32_t host = 0; host < 8; ++host) hosts[host] = host;
  const TopologyTree tree = bisection_tree(GridHops({2, 4}, false), hosts, std::vector<std::size_t>(8, 1));
  check_tree(tree, {0, 1, 2, 3, 4, 5, 6, 7}, 8);
  std::set<std::set<std::uint32_t>> below;
  for (const std::uint32_t child : tree.branches[0].children) below.insert(leaves_of(tree, child));
  CHECK(below == std::set<std::set<std::uint32_t>>{{0, 1, 4, 5}, {2, 3, 6, 7}});
}

TEST_CASE("leaves that hold nothing are left out") {
  const TopologyTree tree = regular_tree({2, 2}, {1, 0, 3, 2});
  CHECK(leaves_of(tree, 0) == std::set<std::uint32_t>{0, 2, 3});
  CHECK(tree.branches[0].size == 6);
  CHECK_THROWS_AS(regular_tree({4}, {1}), std::invalid_argument);  // else it would never be done
}

TEST_CASE("mapping along a tree of hosts gives every rank a core of its own") {
  Random random(4);
  for (const auto& named : tests::machines(random)) {
    CAPTURE(named.first);
    const CoreHops& cores = named.second;
    const std::vector<std::size_t> holds = places_of_hosts(cores);
    std::vector<std::uint32_t> hosts;
    for (std::uint32_t host = 0; host < holds.size(); ++host) hosts.push_back(host);
    const TopologyTree tree = joined_tree(cores.between_hosts(), hosts, holds);
    const auto ranks = static_cast<std::uint32_t>(cores.cores());
    const tests::Traffic traffic = tests::random_traffic(ranks, 2 * ranks, random);
    for (const bool within : {false, true}) {
      std::vector<std::uint32_t> inside;  // one level, whatever there is inside a host
      if (cores.within_host().leaves() > 1)
        inside.push_back(static_cast<std::uint32_t>(cores.within_host().leaves()));
      const std::vector<std::uint32_t> places =
          map_hierarchically(traffic.view(), cores, tree, inside, within, 1);
      CHECK(places.size() == ranks);
      CHECK(tests::is_mapping(places, cores.cores()));
    }
  }
}

TEST_CASE("hosts with too many ranks are relieved") {
  const tests::Traffic traffic(4, {{{0, 1}, 10}, {{1, 2}, 10}, {{2, 3}, 1}});
  std::vector<std::uint32_t> host_of{0, 0, 0, 0};
  relieve_hosts(traffic.view(), GridHops({3}, false), {2, 1, 1}, host_of);
  std::vector<std::size_t> found(3, 0);
  for (const std::uint32_t host : host_of) ++found[host];
  CHECK(found == std::vector<std::size_t>{2, 1, 1});
}

}  // namespace
}  // namespace hamtune
