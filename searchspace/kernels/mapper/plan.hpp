// How the time of a search goes to annealings: one long one, or many short ones. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace hamtune::mapper {

/// How hot an annealing begins.
struct Heat {
  double changes;  ///< in mean changes of a proposal
  double often;    ///< where gains are kept: as the share of offers taken at a rise (see Thermostat)
};

/// An annealing of every thread.
struct Phase {
  enum class Kind {
    kHot,    ///< forgets where it began
    kMild,   ///< leaves large parts together
    kTepid,  ///< leaves all but the smallest parts together
  };
  Kind kind;
  double share;   ///< of the time
  bool together;  ///< the threads meet
  Heat heat() const;
  /// Whether each thread begins from a new bisection, not from the best mapping so far: where parts of it stay,
  /// and where costs at the end are compared, so that none has the best to fall back on.
  bool anew() const { return kind == Kind::kMild || !together; }
};

/// Some traffic and machines need one annealing as slow as there is time for (random traffic on tori); in others
/// (power-law traffic on trees) a longer one ends hardly lower than a short one, and it is the best of many
/// that is low. Where there is time, short ones of both heats and longer ones are made first, and how much they
/// differ tells what to expect of each way to spend the rest.
class Plan {
 public:
  /// `explores`: whether there is time to compare; else it is one long hot one. `many`: whether the best of
  /// many is an option.
  Plan(bool explores, bool many, std::size_t threads);

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
  /// Costs at the end of short annealings of a heat, and of longer ones.
  struct Known {
    Sample shorter, longer;
    double fall() const;    ///< how much lower the longer ones end, in the mean
    double spread() const;  ///< their standard deviation
  };
  /// Plans what follows what is known.
  void go_on();
  void spend_rest();

  std::size_t threads_;
  std::deque<Phase> ahead_;
  double rest_ = 1;
  Phase now_{};
  bool explores_, many_, decided_ = false;
  Known hot_, mild_;
};

}  // namespace hamtune::mapper
