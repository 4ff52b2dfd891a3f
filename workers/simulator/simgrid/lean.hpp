// What the replay tells the definitions of lean.cpp.
#pragma once

#include "workers/simulator/simgrid/compat.hpp"

namespace hamtune {

/// While one lives, the calling actor sends straight from its buffer.
///
/// SMPI copies the payload of a small message before its sender goes on, since a program may
/// overwrite its buffer then. Only for datatypes without gaps and for buffers that stay.
class SendInPlace {
 public:
  explicit SendInPlace(const compat::ActorOfRank& sender);
  SendInPlace(const SendInPlace&) = delete;
  SendInPlace& operator=(const SendInPlace&) = delete;
  ~SendInPlace();
};

#ifdef HAMTUNE_EXPRESS

/// How many messages of a communicator were sent, or received, from one rank to another with one tag. The
/// number stands there until another one is asked for.
unsigned& sent_messages(const simgrid::smpi::Comm* communicator, int source, int target, int tag);
unsigned& received_messages(const simgrid::smpi::Comm* communicator, int source, int target, int tag);

/// Has every communicator count its messages from the start.
void forget_messages();

#endif

}  // namespace hamtune
