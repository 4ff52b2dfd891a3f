// Correction factors of SimGrid's network model, piecewise constant in the size of a message.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hamtune {

/// The factors of an option such as `smpi/lat-factor`: "65472:11.6;15424:3.48;0:2.01" means 11.6
/// above 65472 bytes, 3.48 from there down to above 15424, and so on; 1 up to the least boundary.
/// A single number holds for all sizes.
class Factors {
 public:
  /// Throws InvalidRequest naming the option.
  Factors(const std::string& option, const std::string& text);

  double operator()(double bytes) const {
    double factor = below_;
    for (const auto& [boundary, value] : steps_) {
      if (bytes <= boundary) break;
      factor = value;
    }
    return factor;
  }

 private:
  double below_ = 1;
  std::vector<std::pair<double, double>> steps_;  // boundary in bytes, factor above it
};

}  // namespace hamtune
