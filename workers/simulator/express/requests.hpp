// SMPI's requests as the kernel sees them.
#pragma once

#include <cstdint>
#include <optional>

namespace simgrid::smpi {
class Request;
}

namespace hamtune::express {

/// Who sends to the mailbox of a rank, and with which tag.
struct Envelope {
  std::uint32_t key = 0;  // equal for equal source and tag
  bool is_wild = false;   // any source or any tag

  /// The key of what a receive takes; none where it may take any.
  std::optional<std::uint32_t> wanted() const {
    return is_wild ? std::nullopt : std::optional(key);
  }
};

Envelope envelope_of(const simgrid::smpi::Request& request);

/// Whether a receive takes a message; if so, and not only probed for, the two are tied together.
bool match(simgrid::smpi::Request& send, simgrid::smpi::Request& receive, bool probing);

}  // namespace hamtune::express
