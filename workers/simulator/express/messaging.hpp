// What SMPI's requests ask of messages, whichever model moves them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "workers/simulator/simgrid/internals.hpp"

namespace simgrid::smpi {
class Request;
}

namespace hamtune::express {

using SmpiRequest = simgrid::smpi::Request;

struct Actor;

/// A rank that is blocked in a probe.
struct Prober {
  Actor* actor = nullptr;  // null: nobody
  SmpiRequest* request = nullptr;
};

/// One end of a message that its rank waits for.
struct Pending {};

/// A message that was found by a probe.
struct Probed {
  aid_t source = -1;
  int tag = 0;
  std::size_t bytes = 0;
};

/// Messages that a rank waits for, one after the other.
struct Awaited {
  explicit Awaited(std::vector<Pending*> all) : messages(std::move(all)) {}

  std::vector<Pending*> messages;
  std::vector<std::size_t> arrived;  // positions that were not told yet, the least first (a heap)
  bool blocks = false;               // until the next one arrives
  std::uint64_t since = 0;           // when it began to
  std::size_t told = 0;
};

class Messaging {
 public:
  virtual ~Messaging() = default;

  /// The first message that was sent to the rank, has not been received, and that the request matches.
  virtual std::optional<Probed> iprobe(SmpiRequest& request, const Actor& target) = 0;

  /// Blocks the running rank until there is one.
  virtual Probed probe(SmpiRequest& request) = 0;

  /// Blocks the running rank until the message has arrived.
  virtual void wait(Pending& pending) = 0;

  /// Has the running rank told of the arrival of these, until all have arrived or it is `forgotten`.
  virtual void expect(Awaited& awaited) = 0;
  virtual void forget(Awaited& awaited) = 0;

  /// Blocks the running rank until one of the messages it expects has arrived; returns its position,
  /// each once. Of several that have arrived the first.
  virtual std::size_t wait_next(Awaited& awaited) = 0;

  /// Whether it has arrived, asked by the running rank.
  virtual bool test(Pending& pending) = 0;

  /// The same, asked within a call of the kernel.
  virtual bool is_done(const Pending& pending) const = 0;

  /// The rank has no use for it any more.
  virtual void release(Pending& pending) = 0;
};

}  // namespace hamtune::express
