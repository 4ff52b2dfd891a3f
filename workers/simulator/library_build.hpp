// Which build of SimGrid this process runs.
#pragma once

#include <string>

namespace hamtune {

/// The build id, in hexadecimal, that the linker wrote into the library; empty if there is none.
std::string library_build();

}  // namespace hamtune
