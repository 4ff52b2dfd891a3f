// The simulator as a server on standard input and output.
#pragma once

#include <vector>

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// Answers one JSON request a line, one line each, until standard input ends.
void serve(const std::vector<Trace>& traces);

}  // namespace hamtune
