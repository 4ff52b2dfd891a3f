// hamtune-program-filter: writes the filter for programs of strangers to standard output.
#include <unistd.h>

#include <exception>
#include <iostream>

#include "workers/system_calls/filter.hpp"

int main() {
  try {
    hamtune::Filter filter(hamtune::otherwise_for_programs());
    hamtune::filter_programs(filter);
    filter.write(STDOUT_FILENO);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "hamtune-program-filter: " << error.what() << '\n';
    return 1;
  }
}
