#include "searchspace/kernels/mapping/mapper/search.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "searchspace/kernels/mapping/mapper/assignment.hpp"
#include "searchspace/kernels/mapping/mapper/bounds.hpp"
#include "searchspace/kernels/mapping/mapper/clock.hpp"
#include "searchspace/kernels/mapping/mapper/dual_bisection.hpp"
#include "searchspace/kernels/mapping/mapper/machine.hpp"
#include "searchspace/kernels/mapping/mapper/best_exchange.hpp"
#include "searchspace/kernels/mapping/mapper/nodes.hpp"
#include "searchspace/kernels/mapping/mapper/plan.hpp"
#include "searchspace/kernels/mapping/mapper/structured.hpp"

namespace hamtune::mapper {
namespace {

/// How many close slots a metric lists for each.
constexpr std::size_t kNear = 12;
constexpr std::size_t kQuietRounds = 3;

/// Annealings begin from bisections that are tried several times: where the traffic falls into groups, one
/// that is cut in two at the top is not made whole by what follows.
const Tries kThorough{4, 4, nullptr};

const char* const kStructure = "structure";
const char* const kBisection = "bisection";

/// What the fast mode spends on each rank: about two thirds of the time that Scotch takes.
template <typename Metric>
struct Effort {
  static constexpr std::uint64_t kVisits = 1500;  ///< flows that a descent may look at
  static constexpr std::uint64_t kSteps = 20;    ///< of annealing
  static constexpr std::uint64_t kNodeSteps = 8;  ///< of annealing whole nodes instead, for a lattice
  /// What is made from structure does where it costs no more than this above the bound, relative: little
  /// else is tried.
  static constexpr double kClose = 0;
  /// With so many annealing steps a rank, the best of many may be lower than one annealing; with fewer it
  /// seldom is, and a few short ones do not tell when.
  static constexpr double kMany = 750'000;
};

/// In a grid the time goes into bisection with its many pulls.
template <>
struct Effort<GridMetric> {
  static constexpr std::uint64_t kVisits = 1000;
  static constexpr std::uint64_t kSteps = 0;
  static constexpr std::uint64_t kNodeSteps = 0;
  static constexpr double kClose = 0.125;  // no other start was better there, nor up to 0.2
  static constexpr double kMany = 2'400'000;  // one gains more by being longer, and later
};

/// In a tree, exchanges between siblings leave little to the swaps.
template <>
struct Effort<TreeMetric> {
  static constexpr std::uint64_t kVisits = 200;
  static constexpr std::uint64_t kSteps = 0;
  static constexpr std::uint64_t kNodeSteps = 0;
  static constexpr double kClose = 0.0625;  // one way to divide ranks among children finds what three do
  static constexpr double kMany = 750'000;
};

/// Waits for threads; when it goes out of scope before, tells them to stop.
struct Joining {
  std::deque<std::thread>& threads;
  BestExchange& exchange;
  std::atomic<bool>& stop;
  void now() const {
    exchange.end();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
  ~Joining() {
    if (!threads.empty()) stop = true;
    now();
  }
};

template <typename Metric>
class Search {
 public:
  Search(const Flows& flows, const Metric& metric, const Limits& limits, std::uint64_t seed,
         const Proceed& proceed, std::vector<Slot> start)
      : flows_(flows),
        metric_(metric),
        limits_(limits),
        proceed_(proceed),
        begin_(cpu_seconds()),
        random_(seed),
        assignment_(flows, metric, std::move(start)),
        best_{assignment_.slots(), "by-order", 0, 0},
        best_cost_(assignment_.cost()),
        least_(flows.total() * metric.closest()) {}

  Found run() {
    starts();
    if (!fast()) anneal();
    best_.steps = steps_;
    best_.seconds = cpu_seconds() - begin_;
    return std::move(best_);
  }

 private:
  void starts() {
    if (optimal()) return;
    std::optional<LatticeBisection> lattice_bisection;
    std::optional<Lattice> ringed;
    const std::optional<Lattice> lattice = find_lattice(flows_);
    if (lattice) {
      regular_ = true;
      ringed = with_rings_of_four(*lattice);
      const Lattice& shape = ringed ? *ringed : *lattice;
      least_ = std::max(least_, least_cost(shape, flows_, metric_.slots(), shells(metric_)));
      start_from(*lattice);
      if (ringed) start_from(*ringed);
      // What a node of several slots takes is a block, which planes find sooner than bisections of
      // graphs, and by less luck.
      if ((Families<Metric>::kKnown || slots_of_node() > 1) && LatticeBisection::suits(shape))
        lattice_bisection.emplace(shape);
    }
    if (lattice && !close()) cut_across(ringed ? *ringed : *lattice);
    // Where structure did not do, twice the effort: such traffic is sparse and soon split.
    const std::int64_t structured = best_cost_;
    const bool tried = best_.start == kStructure;
    const std::size_t ways = !lattice_bisection ? (tried ? 2 : 1) : close() ? 1 : lattice_bisection->ways();
    const Tries tries{fast() ? 1 : kThorough.split,
                      lattice_bisection || fast() ? std::min<std::size_t>(ways, 3) : kThorough.family,
                      lattice_bisection ? &*lattice_bisection : nullptr};
    if (fast() && close() && !Families<Metric>::kKnown) return;
    if (!optimal()) refine(dual_recursive_bisection(flows_, metric_, tries, random_), kBisection);
    if (!optimal() && tried && best_cost_ < structured && !lattice_bisection && !Families<Metric>::kKnown)
      refine(dual_recursive_bisection(flows_, metric_, tries, random_), kBisection);
    if (optimal()) return;
    if (lattice_bisection && Effort<Metric>::kNodeSteps > 0) {
      // Swaps of single ranks would only break the blocks.
      assignment_.place(best_.slots);
      exchange_nodes(Effort<Metric>::kNodeSteps * flows_.ranks());
      assignment_.descend(random_, kQuietRounds, Effort<Metric>::kVisits * flows_.ranks());
      keep(assignment_, best_.start);
      return;
    }
    if (Effort<Metric>::kSteps == 0 || !fast()) return;
    assignment_.place(best_.slots);
    Budget budget = Budget::steps(Effort<Metric>::kSteps * flows_.ranks());
    cool(budget, {kWarm, 0}, assignment_, random_);
    steps_ += budget.done();
    keep(assignment_, best_.start);
  }

  bool fast() const { return limits_.seconds <= 0 && limits_.steps == 0; }

  /// Whether others would have little to gain.
  bool close() const {
    return static_cast<double>(best_cost_) <=
           (1 + Effort<Metric>::kClose) * static_cast<double>(least_);
  }

  void cut_across(const Lattice& lattice) {
    std::vector<Slot> best;
    std::int64_t least = best_cost_;
    for (std::vector<Slot>& slots : cut_lattice(lattice, metric_)) {
      assignment_.place(std::move(slots));
      if (assignment_.cost() >= least) continue;
      least = assignment_.cost();
      best = assignment_.slots();
    }
    if (!best.empty()) refine(std::move(best), kStructure);
  }

  void start_from(const Lattice& lattice) {
    if (optimal()) return;
    if (std::optional<std::vector<Slot>> placed = place_lattice(lattice, metric_))
      refine(std::move(*placed), kStructure);
  }

  void refine(std::vector<Slot> slots, const char* name) {
    assignment_.place(std::move(slots));
    if (fast() || regular_) exchange_nodes(0);
    assignment_.descend(random_, kQuietRounds, Effort<Metric>::kVisits * flows_.ranks());
    keep(assignment_, name);
  }

  /// The slots of a node, where all have as many; else 0.
  std::size_t slots_of_node() const {
    if constexpr (Nodes<Metric>::kKnown) return Nodes<Metric>::each(metric_);
    return 0;
  }

  /// Nodes of several slots change places, each with all its ranks: what no swap of two ranks leads
  /// to. So many steps of annealing, and descent.
  void exchange_nodes(std::uint64_t steps) {
    if constexpr (Nodes<Metric>::kKnown) {
      const std::size_t each = slots_of_node();
      if (each < 2) return;
      if (!nodes_) nodes_.emplace(metric_);
      const auto& metric = nodes_->metric;
      const Flows flows = flows_between(flows_, assignment_.slots(), metric.slots(), each);
      std::vector<Slot> order(metric.slots());
      std::iota(order.begin(), order.end(), 0U);
      Assignment<std::decay_t<decltype(metric)>> assignment(flows, metric, std::move(order));
      const std::int64_t before = assignment.cost();
      if (before <= flows.total() * metric.closest() || metric.closest() == metric.diameter()) return;
      if (steps > 0) {
        Budget budget = Budget::steps(steps);
        const double change = std::max(assignment.mean_change(random_, kSamples), 1e-9);
        assignment.anneal({change * kWarm, change * kCold}, budget, random_);
        steps_ += budget.done();
      }
      assignment.descend(random_, kQuietRounds, Effort<Metric>::kVisits * flows.ranks());
      if (assignment.cost() >= before) return;
      std::vector<Slot> slots = assignment_.slots();
      for (Slot& slot : slots) {
        const auto node = static_cast<Rank>(slot / each);
        slot = static_cast<Slot>(assignment.slot(node) * each + slot % each);
      }
      assignment_.place(std::move(slots));
    }
  }

  /// Follows the plan.
  void anneal() {
    constexpr double kStepsPerSecond = 2e7;  // roughly, for the plan
    constexpr int kAgree = 8;              // annealings that end at the same cost: enough
    const bool timed = limits_.steps == 0;
    // The first bisections may have taken as long as annealings that are to be compared.
    const double begin = cpu_seconds(), length = begin_ + limits_.seconds - begin;
    if (timed && length <= 0) return;
    const double work = timed ? length * kStepsPerSecond : static_cast<double>(limits_.steps);
    for (std::size_t number = 1; number < limits_.threads; ++number)
      helpers_.emplace_back(flows_, metric_, best_.slots, random_.next());
    const double each = work / static_cast<double>(flows_.ranks());
    Plan plan(each, Effort<Metric>::kMany, limits_.threads, regular_);
    const std::vector<Slot> first = best_.slots;
    double done = 0;
    int agreed = 0;
    while (const std::optional<Phase> phase = plan.next()) {
      if (optimal() || stopped_ || agreed == kAgree) return;
      done += phase->share;
      const double seconds = begin + done * length - cpu_seconds();
      const auto steps = static_cast<std::uint64_t>(phase->share * work);
      const auto budget = [=] {
        return timed ? Budget::until(cpu_seconds() + seconds) : Budget::steps(steps);
      };
      BestExchange exchange(1 + helpers_.size());
      const auto participant = [&](std::size_t thread) {
        return phase->together() && !helpers_.empty() ? std::optional(Participant{exchange, thread})
                                                      : std::nullopt;
      };
      std::deque<std::thread> threads;
      const Joining joining{threads, exchange, stopped_};
      for (Helper& helper : helpers_)
        threads.emplace_back([&, budget, mine = participant(1 + threads.size())] {
          Budget its = budget();
          its.stop_when([this] { return stopped_.load(); });
          helper.steps = run(*phase, first, its, helper.assignment, helper.random, mine);
          exchange.end();
        });
      Budget mine = budget();
      mine.stop_when([this] { return !tell(); });
      steps_ += run(*phase, first, mine, assignment_, random_, participant(0));
      joining.now();
      std::vector<std::int64_t> costs{assignment_.cost()};
      for (const Helper& helper : helpers_) costs.push_back(helper.assignment.cost());
      plan.ended(costs);
      agreed = assignment_.cost() == best_cost_ ? agreed + 1 : assignment_.cost() < best_cost_ ? 0 : agreed;
      const std::string start = phase->origin == Phase::Origin::kAnew ? kBisection : best_.start;
      keep(assignment_, start);
      for (Helper& helper : helpers_) {
        steps_ += helper.steps;
        keep(helper.assignment, start);
      }
    }
  }

  /// One annealing and the descent after it; returns the steps made. `first`: what annealings began from.
  std::uint64_t run(const Phase& phase, const std::vector<Slot>& first, Budget& budget,
                    Assignment<Metric>& assignment, Random& random,
                    std::optional<Participant> participant) const {
    switch (phase.origin) {
      case Phase::Origin::kAnew:
        assignment.place(dual_recursive_bisection(flows_, metric_, kThorough, random));
        break;
      case Phase::Origin::kFirst:
        assignment.place(first);
        break;
      case Phase::Origin::kBest:
        assignment.place(best_.slots);
        break;
    }
    cool(budget, phase.temperatures(), assignment, random, participant);
    return budget.done();
  }

  /// Anneals and descends.
  void cool(Budget& budget, const Temperatures& temperatures, Assignment<Metric>& assignment, Random& random,
            std::optional<Participant> participant = std::nullopt) const {
    const double change = std::max(assignment.mean_change(random, kSamples), 1e-9);
    assignment.anneal({change * temperatures.changes, change * kCold, temperatures.often}, budget, random,
                      participant);
    assignment.descend(random, kQuietRounds, Effort<Metric>::kVisits * flows_.ranks());
  }

  void keep(const Assignment<Metric>& assignment, const std::string& name) {
    if (assignment.cost() >= best_cost_) return;
    best_cost_ = assignment.cost();
    best_.slots = assignment.slots();
    best_.start = name;
  }

  bool optimal() const { return best_cost_ <= least_; }

  /// Now and then; whether to go on.
  bool tell() {
    constexpr double kSecondsBetween = 0.1;
    const double now = cpu_seconds() - begin_;
    if (!proceed_ || now < told_ + kSecondsBetween) return true;
    told_ = now;
    const std::int64_t least = std::min(best_cost_, assignment_.cost());
    stopped_ = !proceed_({now, least * flows_.unit()});
    return !stopped_;
  }

  /// What another thread works with.
  struct Helper {
    Helper(const Flows& flows, const Metric& metric, std::vector<Slot> slots, std::uint64_t seed)
        : assignment(flows, metric, std::move(slots)), random(seed) {}
    Assignment<Metric> assignment;
    Random random;
    std::uint64_t steps = 0;
  };

  static constexpr std::size_t kSamples = 1000;
  /// Temperatures in mean changes of a proposal: where an annealing of the fast mode begins, and where
  /// those end whose share of rises is not given.
  static constexpr double kWarm = 0.15, kCold = 0.006;

  const Flows& flows_;
  const Metric& metric_;
  const Limits& limits_;
  const Proceed& proceed_;
  double begin_, told_ = 0;
  std::atomic<bool> stopped_ = false;
  Random random_;
  Assignment<Metric> assignment_;
  std::optional<Nodes<Metric>> nodes_;
  std::deque<Helper> helpers_;
  Found best_;
  std::int64_t best_cost_;
  std::int64_t least_;  ///< no mapping costs less: no flow takes fewer hops than the closest slots
  bool regular_ = false;  ///< whether the traffic is a lattice
  std::uint64_t steps_ = 0;
};

}  // namespace

Found map_auto(const Flows& flows, const CoreHops& cores, const Limits& limits, std::uint64_t seed,
               const Proceed& proceed, std::vector<Slot> start) {
  return with_metric(cores, kNear, [&](const auto& metric) {
    using Metric = std::decay_t<decltype(metric)>;
    return Search<Metric>(flows, metric, limits, seed, proceed, std::move(start)).run();
  });
}

}  // namespace hamtune::mapper
