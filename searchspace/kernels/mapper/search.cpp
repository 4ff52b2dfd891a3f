#include "searchspace/kernels/mapper/search.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "searchspace/kernels/mapper/board.hpp"
#include "searchspace/kernels/mapper/clock.hpp"
#include "searchspace/kernels/mapper/halving.hpp"
#include "searchspace/kernels/mapper/machine.hpp"
#include "searchspace/kernels/mapper/structured.hpp"

namespace hamtune::mapper {
namespace {

/// How many close slots a metric lists for each.
constexpr std::size_t kNear = 12;
constexpr std::size_t kQuietRounds = 3;

const char* const kStructure = "structure";
const char* const kBisection = "bisection";

/// What the fast mode spends on each rank: about two thirds of the time that Scotch takes.
template <typename Metric>
struct Effort {
  static constexpr std::uint64_t kVisits = 1500;  ///< flows that a descent may look at
  static constexpr std::uint64_t kSteps = 100;    ///< of annealing
};

/// In a grid the time goes into bisection with its many pulls.
template <>
struct Effort<GridMetric> {
  static constexpr std::uint64_t kVisits = 1000;
  static constexpr std::uint64_t kSteps = 0;
};

/// In a tree, bisection leaves little to the swaps.
template <>
struct Effort<TreeMetric> {
  static constexpr std::uint64_t kVisits = 800;
  static constexpr std::uint64_t kSteps = 0;
};

/// One annealing of a plan; its first temperature is in mean changes of a proposal.
struct Phase {
  double share;  ///< of the time
  bool anew;     ///< from a new bisection, else from the best mapping so far
  double hot;
};

/// As many annealings as have time enough each, by turns from the best mapping and from a new
/// bisection; two short ones from the best end it.
std::vector<Phase> plan(double steps_per_rank) {
  constexpr double kEnough = 150'000, kMost = 12, kLast = 0.15;
  const auto rounds = static_cast<int>(std::clamp(steps_per_rank / kEnough, 1.0, kMost));
  std::vector<Phase> phases;
  for (int round = 0; round < rounds; ++round)
    phases.push_back({(1 - kLast) / rounds, round % 2 == 1, round % 4 < 2 ? 0.15 : 0.25});
  phases.push_back({kLast * 2 / 3, false, 0.06});
  phases.push_back({kLast / 3, false, 0.03});
  return phases;
}

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
        board_(flows, metric, std::move(start)),
        best_{board_.slots(), "by-order", 0, 0},
        best_cost_(board_.cost()) {}

  Found run() {
    starts();
    if (limits_.seconds > 0 || limits_.steps > 0) anneal();
    best_.steps = steps_;
    best_.seconds = cpu_seconds() - begin_;
    return std::move(best_);
  }

 private:
  void starts() {
    if (optimal()) return;
    if (const std::optional<Lattice> lattice = find_lattice(flows_)) {
      start_from(*lattice);
      if (const std::optional<Lattice> ringed = with_rings_of_four(*lattice)) start_from(*ringed);
    }
    // Where structure did not do, one bisection more: such traffic is sparse and soon split.
    const std::int64_t structured = best_cost_;
    const bool tried = best_.start == kStructure;
    if (!optimal()) refine(halve_together(flows_, metric_, random_), kBisection);
    if (!optimal() && tried && best_cost_ < structured)
      refine(halve_together(flows_, metric_, random_), kBisection);
    if (optimal() || Effort<Metric>::kSteps == 0 || limits_.seconds > 0 || limits_.steps > 0) return;
    board_.place(best_.slots);
    Budget budget = Budget::steps(Effort<Metric>::kSteps * flows_.ranks());
    cool(budget, 0.15);
    keep(best_.start);
  }

  void start_from(const Lattice& lattice) {
    if (optimal()) return;
    if (std::optional<std::vector<Slot>> placed = place_lattice(lattice, metric_))
      refine(std::move(*placed), kStructure);
  }

  void refine(std::vector<Slot> slots, const char* name) {
    board_.place(std::move(slots));
    board_.descend(random_, kQuietRounds, Effort<Metric>::kVisits * flows_.ranks());
    keep(name);
  }

  void anneal() {
    constexpr double kStepsPerSecond = 1.2e7;  // roughly, for the plan
    constexpr int kAgree = 4;                  // annealings that end at the same cost: enough
    const bool timed = limits_.steps == 0;
    const double work =
        timed ? limits_.seconds * kStepsPerSecond : static_cast<double>(limits_.steps);
    double done = 0;
    int agreed = 0;
    for (const Phase& phase : plan(work / static_cast<double>(flows_.ranks()))) {
      if (optimal() || stopped_ || agreed == kAgree) return;
      done += phase.share;
      if (phase.anew)
        board_.place(halve_together(flows_, metric_, random_));
      else
        board_.place(best_.slots);
      Budget budget = timed ? Budget::until(begin_ + done * limits_.seconds)
                            : Budget::steps(static_cast<std::uint64_t>(phase.share * work));
      budget.stop_when([this] { return !tell(); });
      cool(budget, phase.hot);
      agreed = board_.cost() == best_cost_ ? agreed + 1 : board_.cost() < best_cost_ ? 0 : agreed;
      keep(phase.anew ? kBisection : best_.start);
    }
  }

  /// Anneals from some mean changes of a proposal, and descends.
  void cool(Budget& budget, double hot) {
    constexpr double kCold = 0.005;
    const double change = std::max(board_.mean_change(random_, kSamples), 1e-9);
    board_.anneal(change * hot, change * std::min(kCold, hot / 2), budget, random_);
    steps_ += budget.done();
    board_.descend(random_, kQuietRounds, Effort<Metric>::kVisits * flows_.ranks());
  }

  void keep(const std::string& name) {
    if (board_.cost() >= best_cost_) return;
    best_cost_ = board_.cost();
    best_.slots = board_.slots();
    best_.start = name;
  }

  /// No flow between different slots takes fewer hops than the closest two.
  bool optimal() const { return best_cost_ <= flows_.total() * metric_.closest(); }

  /// Now and then; whether to go on.
  bool tell() {
    constexpr double kSecondsBetween = 0.1;
    const double now = cpu_seconds() - begin_;
    if (!proceed_ || now < told_ + kSecondsBetween) return true;
    told_ = now;
    const std::int64_t least = std::min(best_cost_, board_.cost());
    stopped_ = !proceed_({now, least * flows_.unit()});
    return !stopped_;
  }

  static constexpr std::size_t kSamples = 1000;

  const Flows& flows_;
  const Metric& metric_;
  const Limits& limits_;
  const Proceed& proceed_;
  double begin_, told_ = 0;
  bool stopped_ = false;
  Random random_;
  Board<Metric> board_;
  Found best_;
  std::int64_t best_cost_;
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
