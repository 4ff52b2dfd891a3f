// What an algorithm of SMPI has a rank do in a collective, written down while it does so for the first time
// and played from then on without SMPI, or the rank's stack.
//
// Algorithms tell ranks apart by their numbers alone, so what one of them does holds for every communicator of the
// same size, for every rank of that number, and for every evaluation with the same algorithms. Ranks that do
// the same, seen from where they are, share it. Where an algorithm asks what happens meanwhile (it waits for
// any of several messages, tests or probes), uses other communicators, or takes time of its own, nothing
// is written down and it runs on the stack each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"
#include "workers/simulator/express/packet_messages.hpp"
#include "workers/simulator/request.hpp"

namespace hamtune::express {

/// One thing that a rank does in a collective. Requests are numbered in the order in which they start.
struct ExpandedStep {
  /// The linear all-to-all waits for all, and only then pays for what it has received.
  enum class Kind : std::uint8_t { receive, send, wait, wait_unpaid, pay };
  /// What `peer` means: any rank, the rank of that number, the one so far ahead around the ring of all ranks, or
  /// the one whose number differs in these bits.
  enum class Peer : std::uint8_t { anyone, numbered, ahead, across };

  std::uint64_t bytes = 0;  // to send, room to receive, or received: to be paid for
  std::int32_t peer = 0;
  std::int32_t tag = 0;
  std::uint32_t request = 0;  // to wait for: the place of the first among those waited for
  std::uint32_t count = 0;    // of messages to receive or to pay for, or of requests to wait for
  Kind kind = Kind::wait;
  Peer relation = Peer::numbered;
  PacketMessages::Mode mode = PacketMessages::Mode::standard;
  bool is_immediate = false;

  bool operator==(const ExpandedStep& other) const {
    return bytes == other.bytes && peer == other.peer && tag == other.tag &&
           request == other.request && count == other.count && kind == other.kind &&
           relation == other.relation && mode == other.mode && is_immediate == other.is_immediate;
  }
};

/// All that a rank does in a collective.
struct Expansion {
  std::vector<ExpandedStep> steps;
  std::vector<std::uint32_t> awaited;  // requests, by the steps that wait for them
  std::uint32_t requests = 0;

  bool operator==(const Expansion& other) const {
    return steps == other.steps && awaited == other.awaited;
  }
};

/// The rank that a step means, of `size`; MPI_ANY_SOURCE for anyone.
int peer_of(const ExpandedStep& step, int rank, int size);

/// What the running rank does in a collective, being written down.
class Recording {
 public:
  Recording(MPI_Comm communicator, int rank, int size)
      : communicator_(communicator), rank_(rank), size_(size) {}

  /// These give the number of the request, from 1 on.
  std::uint32_t send(const MatchEnvelope& envelope, aid_t target, std::size_t bytes,
                     PacketMessages::Mode mode, bool is_immediate);
  std::uint32_t receive(const MatchEnvelope& envelope, std::size_t room, std::uint32_t count);
  /// 0 stands for a request that was not written down.
  void wait(const std::vector<std::uint32_t>& requests) { wait(requests, ExpandedStep::Kind::wait); }
  /// For all of these, of which `received` of so many bytes are paid for in the end.
  void wait_and_pay(const std::vector<std::uint32_t>& requests, std::size_t bytes,
                    std::uint32_t received);

  /// What the rank does depends on more than its number.
  void give_up() { is_certain_ = false; }
  bool is_certain() const { return is_certain_; }

  /// With the ranks it talks to as they are numbered.
  const Expansion& expansion() const { return expansion_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  void wait(const std::vector<std::uint32_t>& requests, ExpandedStep::Kind kind);

  MPI_Comm communicator_;
  int rank_;
  int size_;
  bool is_certain_ = true;
  Expansion expansion_;
};

/// A collective as it is called, by the ranks of all communicators of one size.
class ExpandedCall {
 public:
  /// Null while it is not known, or cannot be.
  const Expansion* of(int rank) const { return ranks_[place(rank)].expansion; }
  bool is_to_be_recorded(int rank) const { return !ranks_[place(rank)].is_recorded; }

 private:
  friend class Expansions;

  struct Entry {
    const Expansion* expansion = nullptr;
    bool is_recorded = false;  // or was tried
  };

  std::size_t place(int rank) const {
    return ranks_.size() == 1 ? 0 : static_cast<std::size_t>(rank);
  }

  std::vector<Entry> ranks_;  // or one, where each rank calls it with a list of its own
};

/// The collectives of a process.
class Expansions {
 public:
  /// Forgets what holds for other requests only.
  void prepare(const Request& request);

  /// False where collectives of the request run on stacks: because it says so, or an algorithm is known to
  /// depend on more than the ranks' numbers.
  bool may_be_used() const { return may_be_used_; }

  /// It stays where it is until `prepare`.
  ExpandedCall& call(const Operation& operation, const std::int32_t* values, int rank, int size);

  void keep(ExpandedCall& call, const Recording& recording);

  /// Of calls that were played since `prepare`.
  std::size_t played() const { return played_; }
  void note_played() { ++played_; }

 private:
  using Content = std::vector<std::int32_t>;

  struct HashContent {
    std::size_t operator()(const Content& content) const;
  };

  const Expansion* shared(const Recording& recording);
  const Expansion* find(std::uint64_t hash, const Expansion& expansion) const;

  bool may_be_used_ = false;
  std::size_t played_ = 0;
  std::vector<std::pair<std::string, std::string>> options_;
  Content content_;
  std::unordered_map<Content, ExpandedCall, HashContent> calls_;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<const Expansion>> kept_;
  std::size_t steps_ = 0;  // kept
};

Expansions& expansions();

/// What the running rank does next depends on more than its number, if it is being written down.
void note_uncertainty();

}  // namespace hamtune::express
