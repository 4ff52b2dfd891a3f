// Metrics that searches use, held against the hops of the machine.
#include "searchspace/kernels/mapping/mapper/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "searchspace/kernels/mapping/mapper/candidates.hpp"
#include "searchspace/kernels/mapping/mapper/clock.hpp"
#include "searchspace/kernels/mapping/mapper/machine.hpp"
#include "searchspace/kernels/mapping/mapper/nodes.hpp"
#include "searchspace/kernels/mapping/mapper/parts.hpp"
#include "searchspace/kernels/mapping/mapper/temperature_control.hpp"
#include "tests/searchspace/kernels/mapping/mappings.hpp"

namespace hamtune::mapper {
namespace {

TEST_CASE("the metric of a machine has its hops, diameter and sensible neighbours") {
  Random random(1);
  for (const auto& named : tests::machines(random)) {
    CAPTURE(named.first);
    const CoreHops& machine = named.second;
    with_metric(machine, 6, [&](const auto& metric) {
      REQUIRE(metric.slots() == machine.cores());
      int most = 0, fewest = 1 << 20;
      for (Slot a = 0; a < metric.slots(); ++a)
        for (Slot b = 0; b < metric.slots(); ++b) {
          if (a == b) continue;
          const int hops = metric.hops(metric.code(a), metric.code(b));
          REQUIRE(hops == static_cast<int>(machine(a, b)));
          most = std::max(most, hops);
          fewest = std::min(fewest, hops);
        }
      CHECK(metric.diameter() == most);
      CHECK(metric.closest() <= fewest);
      Random drawn(3);
      for (int draw = 0; draw < 200; ++draw)
        REQUIRE(metric.near(drawn.below(static_cast<std::uint32_t>(metric.slots())), drawn) < metric.slots());
    });
  }
}

/// Each of some hosts of a tree with some cores of a tree within, both drawn.
CoreHops drawn_from_trees(const std::vector<std::uint32_t>& hosts, const std::vector<std::uint32_t>& inside,
                          Random& random) {
  const TreeHops between(hosts);
  std::vector<Node> host;
  std::vector<std::uint32_t> core;
  const auto below = [&](const TreeHops& tree) {
    return random.below(static_cast<std::uint32_t>(tree.leaves()));
  };
  for (int each = 0; each < 12; ++each) host.insert(host.end(), 4, below(between));
  std::sort(host.begin(), host.end());
  const TreeHops within(inside);
  for (std::size_t slot = 0; slot < host.size(); ++slot) core.push_back(below(within));
  return CoreHops(between, host, core, inside);
}

TEST_CASE("codes of a tree of hosts and of one of cores fit together, however deep both are") {
  Random random(4);
  const std::vector<std::uint32_t> hosts(9, 3), inside(8, 3);  // 18 and 16 bits
  const CoreHops machine = drawn_from_trees(hosts, inside, random);
  const TreeMetric metric = tree_metric(machine, std::get<TreeHops>(machine.between_hosts()));
  for (Slot a = 0; a < metric.slots(); ++a)
    for (Slot b = 0; b < metric.slots(); ++b)
      REQUIRE(metric.hops(metric.code(a), metric.code(b)) == static_cast<int>(machine(a, b)));
  CHECK(metric.diameter() == 34);
}

TEST_CASE("a tree whose levels all tell slots apart, and need more bits than a code has, is refused") {
  // Core 0 of hosts 1, 2, 4, ..., and cores 0, 1, 2, 4, ... of host 0: each bit is the highest to differ.
  std::vector<Node> host;
  std::vector<std::uint32_t> core;
  const auto add = [&](Node its_host, std::uint32_t its_core) {
    host.push_back(its_host);
    core.push_back(its_core);
  };
  add(0, 0);
  for (std::uint32_t bit = 0; bit < 17; ++bit) add(0, 1U << bit);
  for (std::uint32_t bit = 0; bit < 16; ++bit) add(1U << bit, 0);
  const CoreHops machine(TreeHops(std::vector<std::uint32_t>(16, 2)), host, core,
                         std::vector<std::uint32_t>(17, 2));
  CHECK_THROWS_AS(tree_metric(machine, std::get<TreeHops>(machine.between_hosts())), std::invalid_argument);
}

TEST_CASE("parts add up to the hops of a machine, but for a constant") {
  Random random(2);
  std::size_t known = 0;
  // The last two are trees of so many hosts that each level is a part.
  auto machines = tests::machines(random);
  machines.emplace_back("large tree", tests::machine(TreeHops({4, 10, 9}), 360, 1));
  machines.emplace_back("large tree, cores", tests::machine(TreeHops({400}), 400, 2, {2}));
  for (const auto& named : machines) {
    CAPTURE(named.first);
    const CoreHops& machine = named.second;
    with_metric(machine, 6, [&](const auto& metric) {
      const std::optional<Parts> parts = parts_of(metric);
      if (!parts) return;
      ++known;
      const auto sum_of = [&](Slot a, Slot b) {
        int sum = 0;
        for (std::size_t at = 0; at < parts->parts.size(); ++at) {
          const Parts::Part& part = parts->parts[at];
          REQUIRE(parts->of(a)[at] >= part.offset);
          REQUIRE(parts->of(a)[at] < part.offset + part.classes);
          sum += part.at(parts->of(a)[at] - part.offset, parts->of(b)[at] - part.offset);
        }
        return sum;
      };
      const int constant = static_cast<int>(machine(0, 1)) - sum_of(0, 1);
      for (Slot a = 0; a < metric.slots(); ++a)
        for (Slot b = 0; b < metric.slots(); ++b)
          if (a != b) REQUIRE(sum_of(a, b) + constant == static_cast<int>(machine(a, b)));
    });
  }
  CHECK(known >= 8);
}

TEST_CASE("close slots come closest first, and in trees are the closest there are") {
  Random random(3);
  for (const auto& named : tests::machines(random)) {
    CAPTURE(named.first);
    const CoreHops& cores = named.second;
    with_metric(cores, 6, [&](const auto& metric) {
      constexpr std::size_t kCount = 5;
      const std::vector<Slot> close = close_slots(metric, kCount);
      REQUIRE(close.size() == kCount * metric.slots());
      using Metric = std::decay_t<decltype(metric)>;
      for (Slot slot = 0; slot < metric.slots(); ++slot) {
        std::vector<int> listed, all;
        for (std::size_t at = 0; at < kCount; ++at) {
          const Slot other = close[slot * kCount + at];
          REQUIRE(other != slot);
          listed.push_back(static_cast<int>(cores(slot, other)));
        }
        if constexpr (std::is_same_v<Metric, TreeMetric>) {
          CHECK(std::is_sorted(listed.begin(), listed.end()));
          for (Slot other = 0; other < metric.slots(); ++other)
            if (other != slot) all.push_back(static_cast<int>(cores(slot, other)));
          std::sort(all.begin(), all.end());
          all.resize(kCount);
          CHECK(listed == all);
        }
      }
    });
  }
}

TEST_CASE("levels of a tree whose nodes hold as many; none where they do not") {
  const CoreHops even = tests::machine(TreeHops({2, 3}), 6, 2, {2});
  with_metric(even, 4, [](const auto& metric) {
    if constexpr (std::is_same_v<std::decay_t<decltype(metric)>, TreeMetric>) {
      const auto levels = metric.levels();
      REQUIRE(levels.size() == 3);
      CHECK(levels[0].slots == 2);
      CHECK(levels[0].hops == 2);
      CHECK(levels[1].slots == 6);
      CHECK(levels[1].hops == 4);
      CHECK(levels[2].slots == 12);
      CHECK(levels[2].hops == 6);
    }
  });
  const TreeMetric odd(std::vector<std::uint32_t>{0, 1, 2}, std::vector<std::uint32_t>{2, 4});
  CHECK(odd.levels().empty());
}

TEST_CASE("nodes as wholes exchange what their ranks do with those of others") {
  const tests::Traffic traffic(6, {{{0, 1}, 5}, {{0, 2}, 7}, {{1, 4}, 3}, {{3, 5}, 2}});
  const Flows flows(traffic.first.data(), 6, traffic.partner.data(), traffic.size.data());
  // Two slots a node: ranks 0 and 1 on node 0, 2 and 3 on node 1, 4 and 5 on node 2.
  const Flows between = flows_between(flows, {0, 1, 2, 3, 4, 5}, 3, 2);
  REQUIRE(between.ranks() == 3);
  CHECK(between.total() * between.unit() == 7 + 3 + 2);
  CHECK(between.degree(0) == 2);
}

TEST_CASE("flows are exact where a common unit fits 31 bits, and none is rounded to nothing") {
  const tests::Traffic even(3, {{{0, 1}, 6'000'000'000'000}, {{1, 2}, 3'000'000'000'000}});
  const Flows exact(even.first.data(), 3, even.partner.data(), even.size.data());
  CHECK(exact.unit() == 3'000'000'000'000);
  CHECK(exact.total() == 3);
  const tests::Traffic uneven(3, {{{0, 1}, 6'000'000'000'001}, {{1, 2}, 1}});
  const Flows rounded(uneven.first.data(), 3, uneven.partner.data(), uneven.size.data());
  CHECK(rounded.begin(2)->weight == 1);
  CHECK(rounded.begin(0)->weight <= 0x7FFFFFFF);
  CHECK(static_cast<double>(rounded.begin(0)->weight) * static_cast<double>(rounded.unit()) ==
        doctest::Approx(6e12).epsilon(1e-6));
}

TEST_CASE("a budget of steps is spent in portions, and can be stopped") {
  Budget budget = Budget::steps(1000);
  std::uint64_t done = 0;
  while (!budget.spent()) {
    const std::uint64_t steps = budget.portion();
    REQUIRE(steps > 0);
    budget.used(steps);
    done += steps;
  }
  CHECK(done == 1000);
  CHECK(budget.fraction() == 1);
  Budget none = Budget::steps(0);
  none.used(0);
  CHECK(none.spent());
  Budget stopped = Budget::steps(1000);
  stopped.stop_when([] { return true; });
  stopped.used(1);
  CHECK(stopped.spent());
  CHECK(stopped.fraction() < 1);
}

TEST_CASE("the temperature rises where too few rises are taken, falls where too many are") {
  for (const bool many : {false, true}) {
    TemperatureControl control(100, 10.0, 0.3);
    for (int at = 1; at <= 50; ++at)
      control.saw(2000, many ? 2000 : 0, 0.01 * at);
    if (many)
      CHECK(control.temperature() < 10);
    else
      CHECK(control.temperature() > 10);
    CHECK(control.temperature() >= 10 / 1e3 * (1 - 1e-9));
    CHECK(control.temperature() <= 10 * 1e3 * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace hamtune::mapper
