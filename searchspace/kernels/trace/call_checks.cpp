#include "searchspace/kernels/trace/call_checks.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {

namespace {

constexpr std::size_t kLargestBuffer = std::size_t{1} << 40;

using Sizes = std::vector<std::size_t>;

/// Of each communicator of the rank; 0 where it is in none.
Sizes sizes_of(const RankTrace& rank) {
  Sizes sizes;
  for (const auto& members : rank.communicators) sizes.push_back(members ? members->size() : 0);
  return sizes;
}

/// The checks of one rank; `largest` collects the bytes of its largest buffer.
class CallChecker {
 public:
  CallChecker(const RankTrace& rank, const Sizes& sizes, std::size_t& largest)
      : rank_(rank), largest_(largest), sizes_(sizes) {}

  /// Whether there is whom the rank names.
  void check_parties() {
    for (const auto& [communicator, party] : rank_.addressed) {
      size_ = sizes_[communicator];
      if (size_ > 0) party_exists(party);
    }
  }

  void check(const Operation& operation) {
    if (!uses_communicator(operation.code)) return;
    size_ = sizes_[operation.communicator];
    if (size_ == 0) throw TraceError("the rank is not in the communicator");
    values_ = rank_.values.data() + operation.more;
    if (is_collective(operation.code))
      check_collective(operation);
    else if (!creates_communicator(operation.code) && operation.code != Code::comm_free)
      check_message(operation);
  }

 private:
  static bool uses_communicator(Code code) {
    switch (code) {
      case Code::compute:
      case Code::wait:
      case Code::waitall:
      case Code::wtime:
      case Code::finalize:
      case Code::request_free:
        return false;
      default:
        return true;
    }
  }

  void rank_exists(std::int32_t rank) const {
    if (rank >= 0 && static_cast<std::size_t>(rank) >= size_)
      throw TraceError("there is no rank " + std::to_string(rank) +
                       " in a communicator of " + std::to_string(size_));
  }

  /// Whether there is whom a place names; a number below 0 is nobody or anyone.
  void party_exists(std::int32_t place) const {
    if (place >= 0 && rank_.party(place) < 0) throw TraceError("a peer is below 0");
    rank_exists(rank_.party(place));
  }

  void buffer(std::int64_t count, std::int64_t type_size, std::size_t copies = 1) {
    const auto bytes = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(type_size);
    if (bytes > kLargestBuffer || bytes * copies > kLargestBuffer)
      throw TraceError("a buffer exceeds 1 TiB");
    largest_ = std::max(largest_, static_cast<std::size_t>(bytes * copies));
  }

  /// The buffer of a list of counts laid out one behind the other.
  void buffers(const std::int32_t* counts, std::size_t length, std::int32_t type_size) {
    std::int64_t total = 0;
    for (std::size_t item = 0; item < length; ++item) total += counts[item];
    if (total > std::numeric_limits<std::int32_t>::max())
      throw TraceError("counts add up to more than 2147483647");
    buffer(total, type_size);
  }

  void check_message(const Operation& operation) {
    party_exists(operation.party);
    buffer(operation.count, operation.type_size);
    if (operation.code == Code::sendrecv) {
      party_exists(values_[0]);
      buffer(values_[2], values_[3]);
    }
  }

  /// Returns the length of the list at `values_[index]`, which must have an item for every rank.
  std::size_t list_length(std::size_t index, bool significant = true) const {
    const auto length = static_cast<std::size_t>(values_[index]);
    if (significant && length != size_)
      throw TraceError("a list of " + std::to_string(length) + " counts for " +
                       std::to_string(size_) + " ranks");
    return length;
  }

  void check_collective(const Operation& operation) {
    const bool rooted = operation.code == Code::bcast || operation.code == Code::reduce ||
                        operation.code == Code::gather || operation.code == Code::scatter ||
                        operation.code == Code::gatherv || operation.code == Code::scatterv;
    if (rooted) rank_exists(operation.party);
    const bool at_root =
        static_cast<std::uint32_t>(operation.party) == rank_.places[operation.communicator];
    switch (operation.code) {
      case Code::gather:
      case Code::scatter:
      case Code::allgather:
      case Code::alltoall:
        buffer(operation.count, operation.type_size, size_);
        buffer(values_[0], values_[1], size_);
        break;
      case Code::gatherv:
        buffer(operation.count, operation.type_size);
        buffers(values_ + 2, list_length(1, at_root), values_[0]);
        break;
      case Code::allgatherv:
        buffer(operation.count, operation.type_size);
        buffers(values_ + 2, list_length(1), values_[0]);
        break;
      case Code::scatterv:
        buffer(values_[0], values_[1]);
        buffers(values_ + 3, list_length(2, at_root), operation.type_size);
        break;
      case Code::alltoallv: {
        const std::size_t length = list_length(1);
        buffers(values_ + 2, length, operation.type_size);
        buffers(values_ + 2 + length, length, values_[0]);
        break;
      }
      case Code::alltoallw: {
        const std::size_t length = list_length(0);
        buffers(values_ + 1, length, 1);
        buffers(values_ + 1 + length, length, 1);
        break;
      }
      case Code::reduce_scatter:
        buffers(values_ + 1, list_length(0), operation.type_size);
        break;
      case Code::reduce_scatter_block:
        buffer(operation.count, operation.type_size, size_);
        break;
      default:
        buffer(operation.count, operation.type_size);
    }
  }

  const RankTrace& rank_;
  std::size_t& largest_;
  const Sizes& sizes_;
  std::size_t size_ = 0;             // of the communicator of the operation being checked
  const std::int32_t* values_ = nullptr;
};

}  // namespace

void check_calls(Trace& trace) {
  // Ranks that share their calls, on communicators as large, differ in whom they name alone, and in
  // whether they are the root of those whose lists count there.
  std::set<std::pair<const Operation*, Sizes>> checked;
  for (std::uint32_t number = 0; number < trace.ranks.size(); ++number) {
    const RankTrace& rank = trace.ranks[number];
    const auto [shared, is_new] = checked.emplace(rank.operations.data(), sizes_of(rank));
    CallChecker checker(rank, shared->second, trace.largest_buffer);
    const auto check = [&](const Operation& operation) {
      try {
        checker.check(operation);
      } catch (const TraceError& error) {
        throw TraceError("rank " + std::to_string(number) + ", " +
                         operation_name(operation.code, operation.nonblocking) + ": " +
                         error.what());
      }
    };
    if (is_new) {
      std::for_each(rank.operations.begin(), rank.operations.end(), check);
      continue;
    }
    for (const std::uint32_t significant : rank.significant) check(rank.operations[significant]);
    try {
      checker.check_parties();
    } catch (const TraceError& error) {
      throw TraceError("rank " + std::to_string(number) + ": " + error.what());
    }
  }
}

}  // namespace hamtune
