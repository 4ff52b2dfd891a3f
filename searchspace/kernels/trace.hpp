// A trace in memory: what `read_trace` makes of an `.ht` file (docs/trace-format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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

constexpr std::int32_t kNoPeer = -1;     // MPI_PROC_NULL
constexpr std::int32_t kAnySource = -2;  // MPI_ANY_SOURCE
constexpr std::int32_t kAnyTag = -1;     // MPI_ANY_TAG
constexpr std::int32_t kNoColor = -1;    // MPI_UNDEFINED

/// Levels of the marks of a truncated trace: what the stretch behind a mark stands for.
constexpr std::int32_t kEvenStretch = 1;    // iterations that are alike
constexpr std::int32_t kUnevenStretch = 2;  // others

/// One operation of a rank, 32 bytes. Fields that an operation lacks are 0.
///
/// What does not fit stands in the rank's `values` from index `more`:
///   sendrecv                  peer, tag, count, type size of the receive
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
  std::uint32_t communicator;
  std::uint32_t slot;
  std::int32_t peer;  // also the root, the color
  std::int32_t tag;   // also the key
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

/// What one rank did. Matches are patched into their receives, pcontrol stands among the marks,
/// and the last operation is `finalize`.
struct RankTrace {
  std::vector<Operation> operations;
  std::vector<std::int32_t> values;
  std::vector<double> flops;
  std::vector<Mark> marks;  // in order
  std::uint32_t slots = 0;  // requests open at once, at most
  /// Every communicator the rank numbers; null where it got MPI_COMM_NULL.
  std::vector<std::shared_ptr<const Members>> communicators;
  std::vector<std::uint32_t> places;  // its own rank in each of them
};

struct Trace {
  std::string program;
  std::vector<std::string> arguments;
  std::string captured_by;
  std::optional<double> host_speed;  // flop/s
  /// Of a truncated trace: how many times more each stretch between two marks counts than it is
  /// played; the estimate first, then others that tell how good it is (-1 leaves it out). Every rank has one mark more
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

constexpr std::size_t kMaxMatrixRanks = 16'384;  // 2 GiB

inline bool creates_communicator(Code code) {
  return (code >= Code::comm_dup && code <= Code::cart_sub) || code == Code::comm_create_group;
}

}  // namespace hamtune
