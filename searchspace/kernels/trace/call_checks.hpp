// Checks the arguments of calls once the communicators are known.
#pragma once

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// Checks peers, roots and lists against the sizes of communicators, and sets `largest_buffer`.
///
/// Throws TraceError naming rank and operation.
void check_calls(Trace& trace);

}  // namespace hamtune
