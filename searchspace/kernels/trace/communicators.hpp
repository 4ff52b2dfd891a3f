// Who is in which communicator: replays the creations of communicators of all ranks together.
#pragma once

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// Fills `communicators` of every rank of a trace whose operations have been decoded.
///
/// Creations are collective, so each completes when all members of the parent have come to it.
/// Throws TraceError when they never do, or disagree on what they create.
void resolve_communicators(Trace& trace);

}  // namespace hamtune
