// How the time of a search goes to annealings: one long one, or many short ones. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace hamtune::mapper {

/// How hot an annealing begins.
struct Temperatures {
  double changes;  ///< in mean changes of a proposal
  double often;  ///< where gains are kept: as the share of proposals taken at a rise (see TemperatureControl)
};

/// An annealing of every thread.
struct Phase {
  enum class Kind {
    kHot,    ///< forgets where it began
    kMild,   ///< leaves large parts together
    kTepid,  ///< leaves all but the smallest parts together
  };
  /// Where costs at the end are compared, none begins from the best, to fall back on it.
  enum class Origin {
    kAnew,   ///< each thread from a new bisection
    kFirst,  ///< from what the annealings began from
    kBest,   ///< from the best mapping so far
  };
  Kind kind;
  double share;   ///< of the time
  Origin origin;
  /// Whether the threads exchange their best.
  bool together() const { return origin == Origin::kBest; }
  Temperatures temperatures() const;
};

/// Some traffic and machines need one annealing as slow as there is time for (random traffic on tori); in others
/// (power-law traffic on trees) a longer one ends hardly lower than a short one, and it is the best of many
/// that is low. Where there is time, short ones of both heats and longer ones are made first, and how much they
/// differ tells what to expect of each way to spend the rest. Where there is less, one of each kind is made: a hot
/// one loses the groups that a bisection found in the traffic, and where there are any, that shows soon.
class Plan {
 public:
  /// `each`: steps a rank that there is time for. The best of many is an option from `many` on. `structured`:
  /// whether annealings begin from what another bisection would not find.
  Plan(double each, double many, std::size_t threads, bool structured);

  /// What comes next; nothing in the end.
  std::optional<Phase> next();
  /// Is told at which cost each thread ended the phase.
  void ended(const std::vector<std::int64_t>& costs);

 private:
  struct Sample {
    std::size_t size = 0;
    double sum = 0, squares = 0;
    void add(double cost);
    double mean() const;
    /// Sum of squared deviations.
    double deviations() const;
  };
  /// A way to anneal, and the costs at the end of short annealings and of longer ones.
  struct Way {
    Phase::Kind kind;
    Phase::Origin origin;
    Sample shorter, longer;
    double fall() const;    ///< how much lower the longer ones end, in the mean
    double spread() const;  ///< their standard deviation
  };
  /// Plans what follows what is known.
  void go_on();
  /// Compares one annealing at each temperature.
  void choose_heat();
  void spend_rest();

  std::size_t threads_;
  bool explores_, many_, decided_ = false;
  double glance_;  ///< the share of an annealing that compares heats, where it does not explore
  double rest_ = 1;
  std::deque<Phase> ahead_;
  Phase now_{};
  std::vector<Way> ways_;  ///< the first is hot
};

}  // namespace hamtune::mapper
