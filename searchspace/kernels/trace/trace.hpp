// A trace in memory: what `read_trace` makes of an `.ht` file (docs/trace-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hamtune {

/// Operation codes of the format, blocking forms.
enum class Code : std::uint8_t {
  compute = 1,
  send = 2,
  ssend = 3,
  recv = 4,
  isend = 5,
  issend = 6,
  irecv = 7,
  sendrecv = 8,
  wait = 9,
  waitall = 10,
  match = 11,
  probe = 12,
  wtime = 13,
  pcontrol = 14,
  finalize = 15,
  request_free = 16,
  bsend = 17,
  comm_dup = 20,
  comm_split = 21,
  comm_create = 22,
  cart_create = 23,
  cart_sub = 24,
  comm_free = 25,
  comm_create_group = 26,
  barrier = 32,
  bcast = 33,
  reduce = 34,
  allreduce = 35,
  gather = 36,
  scatter = 37,
  allgather = 38,
  alltoall = 39,
  gatherv = 40,
  scatterv = 41,
  allgatherv = 42,
  alltoallv = 43,
  alltoallw = 44,
  reduce_scatter = 45,
  reduce_scatter_block = 46,
  scan = 47,
  exscan = 48,
};

constexpr std::uint8_t kNonblocking = 64;  // added to a collective's code
constexpr std::uint8_t kInPlace = 1;       // flags of collectives
constexpr std::uint8_t kNotCommutative = 2;
constexpr std::uint8_t kDerived = 4;

constexpr std::int32_t kNoPeer = -1;     // MPI_PROC_NULL
constexpr std::int32_t kAnySource = -2;  // MPI_ANY_SOURCE
constexpr std::int32_t kAnyTag = -1;     // MPI_ANY_TAG
constexpr std::int32_t kNoColor = -1;    // MPI_UNDEFINED

/// Levels of the marks of a truncated trace: what the stretch behind a mark stands for. Of odd ones each rank adds
/// what it took itself, of even ones all add what they took in the mean. From the third on, two levels at a time
/// belong to one group: stretches of one group are the same part of different iterations.
constexpr std::int32_t kOwnStretch = 1;
constexpr std::int32_t kMeanStretch = 2;
constexpr std::int32_t kLevelsOfGroup = 2;

/// Numbers that several ranks may share, and that nobody changes.
template <typename Item>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<Item> items)  // NOLINT: a vector becomes one wherever it is wanted
      : items_(std::make_shared<const std::vector<Item>>(std::move(items))),
        begin_(items_->data()),
        size_(items_->size()) {}

  const Item* data() const { return begin_; }
  const Item* begin() const { return begin_; }
  const Item* end() const { return begin_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Item& operator[](std::size_t index) const { return begin_[index]; }

 private:
  std::shared_ptr<const std::vector<Item>> items_;
  const Item* begin_ = nullptr;
  std::size_t size_ = 0;
};

/// One operation, 32 bytes. Fields that an operation lacks are 0.
///
/// Ranks that do alike share their operations, so whom one speaks to stands in a list of its own, the
/// rank's `parties`, and here is the place in that list: `RankTrace::party` looks it up.
///
/// What does not fit stands in the rank's `values` from index `more`:
///   sendrecv                  party, tag, count, type size of the receive
///   gather to alltoall        receive count, receive type size
///   gatherv, allgatherv       receive type size, p, p receive counts
///   scatterv                  receive count, receive type size, p, p send counts
///   alltoallv                 receive type size, p, p send counts, p receive counts
///   alltoallw                 p, p send bytes, p receive bytes
///   reduce_scatter            p, p counts
///   waitall                   n, n slots
///   comm_create(_group)       n, n ranks
///   cart_create               n, n extents, n periodic flags, reorder
///   cart_sub                  n, n remain flags
/// `compute` keeps its flops in the rank's `flops` at index `more`.
struct Operation {
  Code code;
  bool nonblocking;
  std::uint8_t flags;
  std::uint8_t unused;  // so that equal operations are equal bytes
  std::uint32_t communicator;
  std::uint32_t slot;
  /// Of messages and probes the place of the peer, of comm_split that of the color; or what is below
  /// 0 itself. Of collectives the root itself.
  std::int32_t party;
  std::int32_t tag;  // of comm_split the place of the key
  std::int32_t count;
  std::int32_t type_size;
  std::uint32_t more;
};

/// The ranks of a communicator as ranks of the world, in order.
using Members = std::vector<std::uint32_t>;

/// A mark of the program (MPI_Pcontrol): it stands before an operation.
struct Mark {
  std::size_t before;  // index of the operation
  std::int32_t level;
};

/// Operations that ranks share. Matches are patched into their receives, pcontrol stands among the
/// marks, and the last operation is `finalize`.
struct CallStream {
  SharedList<Operation> operations;
  SharedList<std::int32_t> values;
  SharedList<Mark> marks;                // in order
  SharedList<std::uint32_t> creations;   // indices of the operations that make communicators
  SharedList<std::uint32_t> significant; // of those whose lists count at their root only
  /// Each (communicator, party) that a message or probe names, once.
  SharedList<std::pair<std::uint32_t, std::int32_t>> addressed;
  std::uint32_t slots = 0;       // requests open at once, at most
  std::uint32_t parties_used = 0;  // places of parties
  std::uint32_t computations = 0;
};

/// What one rank did.
struct RankTrace : CallStream {
  SharedList<double> flops;  // of its computations in order
  std::vector<std::int32_t> parties;
  /// Every communicator the rank numbers; null where it got MPI_COMM_NULL.
  std::vector<std::shared_ptr<const Members>> communicators;
  std::vector<std::uint32_t> places;  // its own rank in each of them

  /// The peer, color or key at a place; numbers below 0 stand for themselves.
  std::int32_t party(std::int32_t place) const {
    return place < 0 ? place : parties[static_cast<std::size_t>(place)];
  }
};

struct Trace {
  std::string program;
  std::vector<std::string> arguments;
  std::string captured_by;
  std::optional<double> host_speed;  // flop/s
  /// Of a truncated trace: how many times more each stretch between two marks counts than it is
  /// played, or the usual one of its group; the estimate first, then others that tell how good it is (-1 leaves it out). Every rank has one mark more
  /// than there are stretches.
  std::vector<std::vector<double>> weights;
  std::vector<RankTrace> ranks;
  std::uint64_t recorded_operations = 0;  // as the file counts them
  std::size_t largest_buffer = 0;         // bytes of the largest buffer that a call needs
};

/// The name of an operation as in searchspace/formats/operations.py, non-blocking forms with `i`.
std::string operation_name(Code code, bool nonblocking);

inline bool is_collective(Code code) { return code >= Code::barrier; }

inline bool is_send(Code code) {
  return code == Code::send || code == Code::ssend || code == Code::bsend ||
         code == Code::isend || code == Code::issend || code == Code::sendrecv;
}

/// Whether `party` of an operation is a place in the rank's parties.
inline bool names_party(Code code) {
  return (code >= Code::send && code <= Code::sendrecv) || code == Code::probe ||
         code == Code::bsend || code == Code::comm_split;
}

constexpr std::size_t kMaxMatrixRanks = 16'384;  // 2 GiB

inline bool creates_communicator(Code code) {
  return (code >= Code::comm_dup && code <= Code::cart_sub) || code == Code::comm_create_group;
}

}  // namespace hamtune
