// SMPI's requests as the kernel sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "workers/simulator/express/messaging.hpp"

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

Envelope envelope_of(const SmpiRequest& request);

struct MatchEnvelope;

/// By what a request is matched where messages go as packets.
MatchEnvelope match_envelope_of(const SmpiRequest& request);

/// Whether a receive takes a message; if so, and not only probed for, the two are tied together.
bool match(SmpiRequest& send, SmpiRequest& receive, bool probing);

/// A send, as a probe tells of it.
Probed probed(const SmpiRequest& send);

}  // namespace hamtune::express
