// Algorithms that real libraries have and SMPI has not, by the names under which they are chosen.
#pragma once

#include <string_view>

namespace hamtune::collectives {

/// A function of the collective's own type; null where no such algorithm is ours.
void* own_algorithm(std::string_view collective, std::string_view name);

}  // namespace hamtune::collectives
