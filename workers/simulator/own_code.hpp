// Machine code that forks find in their memory at once.
#pragma once

#include <cstddef>

namespace hamtune {

/// Makes private copies of the pages of code of this program, SimGrid and the C and C++ libraries.
///
/// The kernel copies the table of private pages when a process forks, but has the child ask for
/// every 64 KiB of a file that is mapped: a hundred faults in each evaluation, a quarter of the
/// cost of an empty one. Where a system forbids it, everything is as before.
void own_code();

/// Bytes that were copied; children share them.
std::size_t owned_code();

}  // namespace hamtune
