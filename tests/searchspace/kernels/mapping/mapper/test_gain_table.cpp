// The table of what every rank would gain everywhere, held against counting all hops anew.
#include "searchspace/kernels/mapping/mapper/gain_table.hpp"

#include <cstdlib>
#include <optional>

#include "searchspace/kernels/mapping/mapper/candidates.hpp"
#include "searchspace/kernels/mapping/mapper/machine.hpp"
#include "tests/searchspace/kernels/mapping/mappings.hpp"

namespace hamtune::mapper {
namespace {

Flows flows_of(const tests::Traffic& traffic) {
  return Flows(traffic.first.data(), traffic.first.size() - 1, traffic.partner.data(), traffic.size.data());
}

std::vector<Slot> swapped(std::vector<Slot> slots, Rank rank, Slot to) {
  const auto other = std::find(slots.begin(), slots.end(), to);
  if (other != slots.end()) *other = slots[rank];
  slots[rank] = to;
  return slots;
}

/// A set of instructions for what is made meanwhile.
class Using {
 public:
  explicit Using(const char* instructions) {
    if (const char* now = std::getenv("HAMTUNE_INSTRUCTIONS")) before_ = now;
    setenv("HAMTUNE_INSTRUCTIONS", instructions, 1);
  }
  ~Using() {
    if (before_)
      setenv("HAMTUNE_INSTRUCTIONS", before_->c_str(), 1);
    else
      unsetenv("HAMTUNE_INSTRUCTIONS");
  }

 private:
  std::optional<std::string> before_;
};

/// Machines whose hops are a sum of parts: axes of a grid, levels of a tree, one table.
std::vector<std::pair<const char*, CoreHops>> machines_of_parts(Random& random) {
  auto found = tests::machines(random);
  found.emplace_back("levels", tests::machine(TreeHops({4, 10, 9}), 360, 1));
  found.emplace_back("four axes", tests::machine(GridHops({2, 3, 2, 3}, true), 36, 1));
  found.emplace_back("two axes", tests::machine(GridHops({9, 5}, false), 45, 1));
  return found;
}

TEST_CASE("what a swap changes is read off, whatever was swapped or proposed before") {
  Random random(11);
  for (const auto& named : machines_of_parts(random)) {
    CAPTURE(named.first);
    const CoreHops& cores = named.second;
    with_metric(cores, kLanes, [&](const auto& metric) {
      const std::optional<Parts> parts = parts_of(metric);
      if (!parts) return;
      const auto slots = static_cast<std::uint32_t>(cores.cores());
      const std::uint32_t ranks = slots - slots / 5;  // some slots are free
      const tests::Traffic traffic = tests::random_traffic(ranks, 3 * ranks, random);
      const Flows flows = flows_of(traffic);
      const auto cost_of = [&](const std::vector<Slot>& places) {
        return tests::hop_bytes(traffic.view(), cores, places) / flows.unit();
      };
      const std::vector<Slot> near = close_slots(metric, kLanes);
      const std::vector<Slot> start = tests::random_mapping(ranks, slots, random);
      std::vector<std::vector<Slot>> ends;
      for (const char* instructions : {"portable", "avx2", "avx512"}) {
        CAPTURE(instructions);
        const Using these(instructions);
        GainTable gains(flows, *parts, near);
        gains.reset(start);
        Random drawn(5);
        std::int64_t cost = cost_of(start);
        const auto check = [&](int times) {
          for (int each = 0; each < times; ++each) {
            const Rank rank = drawn.below(ranks);
            const Slot to = drawn.below(slots);
            const std::vector<Slot> next = swapped(gains.slots(), rank, to);
            REQUIRE(gains.change(rank, to) == cost_of(next) - cost);
          }
        };
        check(30);
        for (int step = 0; step < 20; ++step) {
          const Rank rank = drawn.below(ranks);
          const Slot to = drawn.below(slots);
          if (gains.slots()[rank] == to) continue;
          const std::vector<Slot> next = swapped(gains.slots(), rank, to);
          gains.swap(rank, to);
          REQUIRE(gains.slots() == next);
          cost = cost_of(next);
          check(5);
        }
        for (const double temperature : {200.0, 30.0, 0.0}) {
          const GainTable::Accepted accepted = gains.propose(300, temperature, drawn);
          REQUIRE(cost + accepted.change == cost_of(gains.slots()));
          cost += accepted.change;
          if (temperature == 0.0) CHECK(accepted.change <= 0);
          if (temperature == 0.0) CHECK(accepted.rises == 0);
          check(10);
          if (!gains.scans()) continue;
          const GainTable::Accepted scanned = gains.propose_all(20, drawn);
          REQUIRE(cost + scanned.change == cost_of(gains.slots()));
          cost += scanned.change;
          check(10);
        }
        CHECK(tests::is_mapping(gains.slots(), slots));
        ends.push_back(gains.slots());
      }
      // Which instructions a processor has must not show in a result.
      CHECK(ends[1] == ends[0]);
      CHECK(ends[2] == ends[0]);
    });
  }
}

TEST_CASE("where a tree's rows would take too much memory, the same swaps are taken without them") {
  const CoreHops cores = tests::machine(TreeHops({4, 10, 9}), 360, 2);
  with_metric(cores, kLanes, [&](const auto& metric) {
    const std::optional<Parts> parts = parts_of(metric);
    REQUIRE(parts);
    REQUIRE(parts->parts.size() > 1);
    Random random(12);
    const std::uint32_t ranks = 700;  // of 720 slots
    const tests::Traffic traffic = tests::random_traffic(ranks, 3 * ranks, random);
    const Flows flows = flows_of(traffic);
    const std::vector<Slot> near = close_slots(metric, kLanes);
    const std::vector<Slot> start = tests::random_mapping(ranks, 720, random);
    const std::size_t entries = 720 * ((parts->width + kLanes - 1) / kLanes * kLanes);
    GainTable kept(flows, *parts, near, entries), counted(flows, *parts, near, entries - 1);
    CHECK(kept.keeps_rows());
    CHECK_FALSE(counted.keeps_rows());
    kept.reset(start);
    counted.reset(start);
    Random one(5), other(5), drawn(6);
    for (const double temperature : {300.0, 60.0, 10.0, 0.0}) {
      const GainTable::Accepted swaps = kept.propose(2000, temperature, one);
      const GainTable::Accepted same = counted.propose(2000, temperature, other);
      CHECK(same.change == swaps.change);
      CHECK(same.rises == swaps.rises);
      REQUIRE(counted.slots() == kept.slots());
      for (int each = 0; each < 100; ++each) {
        const Rank rank = drawn.below(ranks);
        const Slot to = drawn.below(720);
        REQUIRE(counted.change(rank, to) == kept.change(rank, to));
      }
    }
    CHECK(kept.slots() != start);
  });
}

TEST_CASE("gains near the limits of 32 bits are not kept in such a table") {
  const auto hold = [](std::int64_t bytes, int diameter) {
    const tests::Traffic traffic(3, {{{0, 1}, bytes}, {{1, 2}, 1}});
    return GainTable::hold(flows_of(traffic), diameter);
  };
  CHECK(hold(1000, 10));
  CHECK_FALSE(hold(1'000'000'000, 10));
  CHECK(hold(10'000'000, 26));
  CHECK_FALSE(hold(10'000'000, 27));
}

TEST_CASE("slots of the same classes are alike") {
  // Two hosts of two cores without a tree between them.
  const CoreHops cores = tests::machine(TreeHops({2}), 2, 2, {2});
  with_metric(cores, kLanes, [&](const auto& metric) {
    const std::optional<Parts> parts = parts_of(metric);
    REQUIRE(parts);
    const tests::Traffic traffic(2, {{{0, 1}, 1}});
    const Flows flows = flows_of(traffic);
    const GainTable gains(flows, *parts, close_slots(metric, kLanes));
    CHECK(gains.alike(0, 1));
    CHECK_FALSE(gains.alike(1, 2));
  });
}

}  // namespace
}  // namespace hamtune::mapper
