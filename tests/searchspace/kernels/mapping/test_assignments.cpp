// What a swap is said to change, held against a mapping that is measured anew.
#include "searchspace/kernels/mapping/greedy_mapping.hpp"
#include "searchspace/kernels/mapping/round_assignment.hpp"
#include "searchspace/kernels/mapping/congestion_assignment.hpp"
#include "tests/searchspace/kernels/mapping/mappings.hpp"

namespace hamtune {
namespace {

/// A machine of a random network, ranks on some of its cores.
struct Case {
  explicit Case(std::uint64_t seed)
      : random(seed),
        hosts(3 + random.below(10)),
        each(1 + random.below(3)),
        edges(tests::random_network(hosts, hosts, random)),
        ranks(2 + random.below(hosts * each - 1)),
        traffic(tests::random_traffic(ranks, 3 * ranks, random)),
        places(tests::random_mapping(ranks, std::size_t{hosts} * each, random)) {
    for (std::size_t edge = 0; edge < edges.size(); ++edge) widths.push_back(1 + random.below(3));
  }

  CoreHops cores() const {
    return tests::machine(host_hops(Adjacency(hosts, edges), hosts), hosts, each);
  }
  Routes routes() const { return Routes(hosts, edges); }
  std::pair<std::uint32_t, std::uint32_t> any_swap() {
    return {random.below(ranks), random.below(hosts * each)};
  }

  Random random;
  std::uint32_t hosts, each;
  std::vector<Edge> edges;
  std::vector<std::uint32_t> widths;
  std::uint32_t ranks;
  tests::Traffic traffic;
  std::vector<std::uint32_t> places;
};

std::vector<std::uint32_t> swapped(std::vector<std::uint32_t> places, std::uint32_t rank,
                                   std::uint32_t place) {
  const auto other = std::find(places.begin(), places.end(), place);
  if (other != places.end()) *other = places[rank];
  places[rank] = place;
  return places;
}

void check_equal(const Measures& one, const Measures& other) {
  CHECK(one.hop_bytes == other.hop_bytes);
  CHECK(one.dilation == other.dilation);
  CHECK(one.congestion == other.congestion);
  CHECK(one.crowding == doctest::Approx(other.crowding));
}

TEST_CASE("two ranks on a path: hop-bytes, dilation, congestion by hand") {
  const tests::Traffic traffic(2, {{{0, 1}, 10}});
  const std::vector<Edge> path{{0, 1}, {1, 2}};
  CongestionAssignment assignment(traffic.view(), tests::machine(GridHops({3}, false), 3, 1), Routes(3, path),
                                  {1, 2}, {0, 2});
  Measures now = assignment.measures();
  CHECK(now.hop_bytes == 20);
  CHECK(now.dilation == 2);
  CHECK(now.congestion == 10);
  CHECK(now.crowding == 100 + 2 * 5 * 5);  // the wider cable has 5 on each
  CHECK(assignment.after(0, 1).congestion == 5);
  assignment.swap(0, 1);
  CHECK(assignment.measures().hop_bytes == 10);
  CHECK(assignment.crossing(1).size() == 1);
  CHECK(assignment.crossing(0).empty());
}

TEST_CASE("what a swap leads to is what an assignment of the swapped places measures") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Case one(seed);
    const auto assignment_of = [&](const std::vector<std::uint32_t>& places) {
      return CongestionAssignment(one.traffic.view(), one.cores(), one.routes(), one.widths, places);
    };
    CongestionAssignment assignment = assignment_of(one.places);
    for (int step = 0; step < 12; ++step) {
      const auto [rank, place] = one.any_swap();
      const std::vector<std::uint32_t> next = swapped(assignment.places(), rank, place);
      const Measures before = assignment.measures();
      check_equal(assignment.after(rank, place), assignment_of(next).measures());
      check_equal(assignment.measures(), before);
      assignment.swap(rank, place);
      REQUIRE(assignment.places() == next);
      check_equal(assignment.measures(), assignment_of(next).measures());
      CHECK(assignment.loads() == assignment_of(next).loads());
      CHECK(assignment.measures().hop_bytes == tests::hop_bytes(one.traffic.view(), one.cores(), next));
      for (std::uint32_t edge = 0; edge < one.edges.size(); ++edge) {
        std::int64_t crossing = 0;
        for (const CongestionAssignment::Crossing& pair : assignment.crossing(edge)) crossing += pair.size;
        CHECK((crossing + one.widths[edge] - 1) / one.widths[edge] == assignment.loads()[edge]);
      }
    }
  }
}

TEST_CASE("annealing by steps ends no worse, the same for the same seed, with true measures") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Case one(seed);
    const auto annealed = [&] {
      CongestionAssignment assignment(one.traffic.view(), one.cores(), one.routes(), one.widths, one.places);
      const std::int64_t before = assignment.measures().hop_bytes;
      assignment.anneal({1, 0, 0}, 0, 2000, seed, [](double) { return true; });
      const CongestionAssignment fresh(one.traffic.view(), one.cores(), one.routes(), one.widths,
                                       assignment.places());
      check_equal(assignment.measures(), fresh.measures());
      CHECK(assignment.measures().hop_bytes <= before);
      return assignment.places();
    };
    CHECK(annealed() == annealed());
  }
}

MessageRounds random_rounds(std::uint32_t ranks, Random& random) {
  MessageRounds rounds;
  const std::uint32_t count = 1 + random.below(4);
  for (std::uint32_t round = 0; round < count; ++round) {
    rounds.count.push_back(1 + random.below(5));
    for (std::uint32_t sender = 0; sender < ranks; ++sender)
      if (const std::uint32_t receiver = random.below(ranks); receiver != sender)
        rounds.messages.push_back({round, sender, receiver, 1 + random.below(1000)});
  }
  return rounds;
}

TEST_CASE("terms of rounds after a swap are those of the swapped places, to the last digit") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Case one(seed);
    const MessageRounds rounds = random_rounds(one.ranks, one.random);
    HostLimits limits;
    if (seed % 2 == 1) limits.interface_each_way = 0.5;
    if (seed % 3 == 1) limits.memory = 4;
    const auto assignment_of = [&](const std::vector<std::uint32_t>& places) {
      return RoundAssignment(one.ranks, rounds, one.cores().host(), one.routes(), one.widths, limits, places);
    };
    const auto numbers = [](const RoundTerms& terms) {
      return std::vector<double>{terms.volume, terms.busiest, terms.rounds, terms.hops};
    };
    RoundAssignment assignment = assignment_of(one.places);
    for (int step = 0; step < 12; ++step) {
      const auto [rank, place] = one.any_swap();
      const std::vector<std::uint32_t> next = swapped(assignment.places(), rank, place);
      const std::vector<double> before = numbers(assignment.terms());
      CHECK(numbers(assignment.after(rank, place)) == numbers(assignment_of(next).terms()));
      CHECK(numbers(assignment.terms()) == before);
      assignment.swap(rank, place);
      CHECK(numbers(assignment.terms()) == numbers(assignment_of(next).terms()));
    }
    const RoundTerms weights{0.1, 0, 1, 0};
    const double before = 0.1 * assignment.terms().volume + assignment.terms().rounds;
    assignment.anneal(weights, 0.5, 500, seed);
    CHECK(tests::is_mapping(assignment.places(), std::size_t{one.hosts} * one.each));
    CHECK(numbers(assignment.terms()) == numbers(assignment_of(assignment.places()).terms()));
    CHECK(0.1 * assignment.terms().volume + assignment.terms().rounds <= before * (1 + 1e-12));
  }
}

TEST_CASE("assignments refuse what is no mapping") {
  const tests::Traffic traffic(2, {{{0, 1}, 1}});
  const auto assignment = [&](std::vector<std::uint32_t> widths, std::vector<std::uint32_t> places) {
    return CongestionAssignment(traffic.view(), tests::machine(GridHops({2}, false), 2, 1),
                                Routes(2, {{0, 1}}), std::move(widths), std::move(places));
  };
  CHECK_THROWS_AS(assignment({1}, {0, 0}), std::invalid_argument);
  CHECK_THROWS_AS(assignment({1}, {0, 2}), std::invalid_argument);
  CHECK_THROWS_AS(assignment({1}, {0}), std::invalid_argument);
  CHECK_THROWS_AS(assignment({}, {0, 1}), std::invalid_argument);
  CHECK_THROWS_AS(assignment({1}, {0, 1}).swap(0, 2), std::out_of_range);
  const auto rounds = [](std::vector<RoundMessage> messages) {
    return RoundAssignment(2, {std::move(messages), {1}}, {0, 1}, Routes(2, {{0, 1}}), {1}, {}, {0, 1});
  };
  CHECK_THROWS_AS(rounds({{0, 0, 2, 1}}), std::invalid_argument);
  CHECK_THROWS_AS(rounds({{1, 0, 1, 1}}), std::invalid_argument);
  CHECK(rounds({{0, 0, 1, 7}}).terms().volume == 7);
}

TEST_CASE("descending ends where no swap lowers hop-bytes; the greedy mapping is one") {
  Random random(3);
  for (const auto& named : tests::machines(random)) {
    CAPTURE(named.first);
    const CoreHops& cores = named.second;
    const auto ranks = static_cast<std::uint32_t>(cores.cores() - random.below(4));
    const tests::Traffic traffic = tests::random_traffic(ranks, 2 * ranks, random);
    std::vector<std::uint32_t> places = greedy_mapping(traffic.view(), cores);
    REQUIRE(places.size() == ranks);
    CHECK(tests::is_mapping(places, cores.cores()));
    const std::int64_t before = tests::hop_bytes(traffic.view(), cores, places);
    descend_by_swaps(traffic.view(), cores, places);
    CHECK(tests::is_mapping(places, cores.cores()));
    const std::int64_t now = tests::hop_bytes(traffic.view(), cores, places);
    CHECK(now <= before);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (std::uint32_t place = 0; place < cores.cores(); ++place)
        REQUIRE(tests::hop_bytes(traffic.view(), cores, swapped(places, rank, place)) >= now);
  }
}

}  // namespace
}  // namespace hamtune
