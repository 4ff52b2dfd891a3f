#include "searchspace/kernels/mapper/search.hpp"

#include <algorithm>
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
/// Flows that the descent of the fast mode may look at, for each rank.
constexpr std::uint64_t kVisitsPerRank = 1500;
constexpr std::size_t kQuietRounds = 3;

/// One annealing of a plan; temperatures are in mean changes of a proposal.
struct Phase {
  double share;  ///< of the time
  bool anew;     ///< from a new bisection, else from the best mapping so far
  double hot, cold;
};

/// Several restarts where there is time for them, for each rank; else one long annealing.
const std::vector<Phase>& plan(double steps_per_rank) {
  static const std::vector<Phase> patient = {
      {0.06, false, 0.15, 0.005}, {0.06, true, 0.15, 0.005}, {0.06, true, 0.15, 0.005},
      {0.06, false, 0.05, 0.005}, {0.30, false, 0.15, 0.005}, {0.26, true, 0.25, 0.005},
      {0.12, false, 0.08, 0.005}, {0.08, false, 0.03, 0.005}};
  static const std::vector<Phase> hurried = {
      {0.75, false, 0.15, 0.005}, {0.18, false, 0.05, 0.005}, {0.07, false, 0.02, 0.005}};
  constexpr double kPatient = 50'000;
  return steps_per_rank >= kPatient ? patient : hurried;
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
    // Where hops have no coordinates, bisections differ more and take less time.
    constexpr int kBisections = std::is_same_v<Metric, GridMetric> ? 1 : 2;
    for (int left = kBisections; left > 0 && !optimal(); --left)
      refine(halve_together(flows_, metric_, random_), "bisection");
  }

  void start_from(const Lattice& lattice) {
    if (optimal()) return;
    if (std::optional<std::vector<Slot>> placed = place_lattice(lattice, metric_))
      refine(std::move(*placed), "structure");
  }

  void refine(std::vector<Slot> slots, const char* name) {
    board_.place(std::move(slots));
    board_.descend(random_, kQuietRounds, kVisitsPerRank * flows_.ranks());
    keep(name);
  }

  void anneal() {
    constexpr double kStepsPerSecond = 5e6;
    const bool timed = limits_.steps == 0;
    const double work = timed ? limits_.seconds * kStepsPerSecond : static_cast<double>(limits_.steps);
    double done = 0;
    for (const Phase& phase : plan(work / static_cast<double>(flows_.ranks()))) {
      if (optimal() || stopped_) return;
      done += phase.share;
      if (phase.anew)
        board_.place(halve_together(flows_, metric_, random_));
      else
        board_.place(best_.slots);
      Budget budget = timed ? Budget::until(begin_ + done * limits_.seconds)
                            : Budget::steps(static_cast<std::uint64_t>(phase.share * work));
      budget.stop_when([this] { return !tell(); });
      const double change = std::max(board_.mean_change(random_, kSamples), 1e-9);
      board_.anneal(change * phase.hot, change * phase.cold, budget, random_);
      steps_ += budget.done();
      board_.descend(random_, kQuietRounds, kVisitsPerRank * flows_.ranks());
      keep(phase.anew ? "bisection" : best_.start.c_str());
    }
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
