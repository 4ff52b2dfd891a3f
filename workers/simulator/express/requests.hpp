// SMPI's requests as the kernel sees them.
#pragma once

namespace simgrid::smpi {
class Request;
}

namespace hamtune::express {

/// Whether a receive takes a message; if so, and not only probed for, the two are tied together.
bool match(simgrid::smpi::Request& send, simgrid::smpi::Request& receive, bool probing);

}  // namespace hamtune::express
