// The calls of all ranks with what ties them together, and cuts through them that tear nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

/// Why a trace cannot be cut anywhere; the message is one plain line.
class CannotCut : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the signature of a call tells apart.
enum class Likeness : std::uint8_t {
  exact,  // operation, all arguments, whether computation comes before it
  sizes,  // the same but for sizes and tags
  shape,  // operation and communicator, whether computation comes before it
};

/// A message as one of its ends sees it: the call, and the call at the other end.
struct MessageEnd {
  std::uint32_t call;
  std::uint32_t peer;  // rank of the world
  std::uint32_t partner;
  bool sends;
};

/// A call in which all members of a communicator take part.
struct CollectiveCall {
  std::uint32_t call;
  std::uint32_t context;   // which communicator, the same number in all its members
  std::uint32_t instance;  // 0 for the first collective in it
};

/// The calls of one rank: all operations but computations.
struct Calls {
  std::vector<std::uint32_t> operation;  // index in the rank's trace, of each call
  std::vector<std::uint32_t> exact;      // signature of each call
  std::vector<bool> idle;                // no request is open before call i, i = 0 to size
  std::vector<MessageEnd> messages;      // in order of calls
  std::vector<CollectiveCall> collectives;  // in order of calls
  std::vector<std::uint32_t> settings;   // calls that make or free communicators

  std::uint32_t size() const { return static_cast<std::uint32_t>(operation.size()); }

  /// The operation at which the part from call `call` on begins, computations included.
  std::size_t first_operation(std::uint32_t call) const {
    return call == 0 ? 0 : std::size_t{operation[call - 1]} + 1;
  }
  bool follows_computation(std::uint32_t call) const {
    return operation[call] > first_operation(call);
  }
};

/// For each rank how many of its calls lie before the cut.
using Cut = std::vector<std::uint32_t>;

class AllCalls {
 public:
  /// Matches every message with its receive, and every rank's collectives with those of the others.
  ///
  /// Throws CannotCut where that is not possible: a receive whose sender was not recorded, or
  /// messages that nobody receives.
  explicit AllCalls(const Trace& trace);

  const Trace& trace() const { return trace_; }
  std::size_t ranks() const { return calls_.size(); }
  const Calls& of(std::size_t rank) const { return calls_[rank]; }
  /// Ranks of a context, and for each of them its collective calls there.
  const Members& members(std::uint32_t context) const { return *contexts_[context].members; }
  std::uint32_t collective(std::uint32_t context, std::size_t member, std::uint32_t instance) const {
    return contexts_[context].calls[member][instance];
  }

  /// Of a call and whether computation comes before it.
  std::uint32_t signature(std::size_t rank, std::uint32_t call, Likeness likeness) const {
    return 2 * call_signature(rank, call, likeness) +
           static_cast<std::uint32_t>(of(rank).follows_computation(call));
  }
  /// Whether two calls are alike, whatever is computed before them.
  bool same_call(std::size_t rank, std::uint32_t call, std::uint32_t other,
                 Likeness likeness) const;
  /// Whether two stretches of a rank's calls [first, last) are alike, call by call.
  bool alike(std::size_t rank, std::uint32_t first, std::uint32_t last, std::uint32_t other_first,
             std::uint32_t other_last, Likeness likeness) const;

 private:
  struct Context {
    const Members* members;
    std::vector<std::vector<std::uint32_t>> calls;  // by member and instance
  };

  /// Where a rank is in one of its communicators.
  struct Place {
    std::uint32_t context;
    std::size_t member;
  };

  std::uint32_t call_signature(std::size_t rank, std::uint32_t call, Likeness likeness) const;
  void read_rank(std::uint32_t rank);
  /// `places`: of each communicator of the rank, by its number.
  void number_collectives(std::uint32_t rank, const std::vector<Place>& places);
  void match_messages();

  const Trace& trace_;
  std::vector<Calls> calls_;
  std::vector<Context> contexts_;
};

/// A cut that moves forward and never tears a message, a collective, or an open request apart.
class MovingCut {
 public:
  /// Begins at a cut that tears nothing.
  MovingCut(const AllCalls& all, Cut start);

  /// Moves the cut as little as needed to lie at or behind a position in each rank.
  const Cut& reach(const Cut& targets);
  const Cut& at() const { return at_; }

 private:
  void require(std::uint32_t rank, std::uint32_t calls);
  void move(std::uint32_t rank);

  const AllCalls& all_;
  Cut at_;
  Cut wanted_;
  std::vector<std::size_t> next_message_;
  std::vector<std::size_t> next_collective_;
  std::vector<std::uint32_t> matched_;  // of each context, the instances known to lie before the cut
  std::vector<std::uint32_t> behind_;  // ranks that have not reached what is wanted
};

}  // namespace hamtune
