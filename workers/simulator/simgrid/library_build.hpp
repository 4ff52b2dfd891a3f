// Which build of SimGrid this process runs.
#pragma once

#include <string>

namespace hamtune {

/// The build id, in hexadecimal, that the linker wrote into the library; empty if there is none.
std::string library_build();

/// The same of this program.
std::string program_build();

}  // namespace hamtune
