#include "searchspace/kernels/trace/rank_decoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "searchspace/kernels/trace/byte_cursor.hpp"
#include "searchspace/kernels/trace/party_places.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {

namespace {

constexpr std::int32_t kAnyInt = std::numeric_limits<std::int32_t>::min();

class RankDecoder {
 public:
  RankDecoder(const std::vector<std::uint8_t>& block, std::uint64_t expected, Writing writing)
      : in_(block), shared_(writing == Writing::shared) {
    const std::size_t operations = std::min<std::uint64_t>(expected, block.size());
    operations_.reserve(operations);
    if (!shared_) decoded_.offsets.reserve(operations);
  }

  DecodedRank decode() {
    bool finalized = false;
    while (!in_.at_end()) {
      if (finalized) throw TraceError("operations follow finalize");
      Operation operation{};
      offset_ = in_.offset();
      const std::uint8_t code = in_.byte();
      operation.code = static_cast<Code>(code);
      if (code >= static_cast<std::uint8_t>(Code::barrier) + kNonblocking) {
        operation.code = static_cast<Code>(code - kNonblocking);
        operation.nonblocking = true;
      }
      try {
        decode_fields(operation);
      } catch (const TraceError& error) {
        throw TraceError("operation " + std::to_string(decoded_.operations) + " (" +
                         operation_name(operation.code, operation.nonblocking) +
                         "): " + error.what());
      }
      ++decoded_.operations;
      finalized = operation.code == Code::finalize;
    }
    if (!finalized) throw TraceError("its last operation is not finalize");
    RankTrace& trace = decoded_.trace;
    trace.slots = static_cast<std::uint32_t>(open_.size());
    trace.computations = computations_;
    trace.parties_used = shared_ ? parties_used_ : static_cast<std::uint32_t>(trace.parties.size());
    trace.operations = std::move(operations_);
    trace.values = std::move(values_);
    trace.flops = std::move(flops_);
    trace.marks = std::move(marks_);
    trace.creations = std::move(creations_);
    trace.significant = std::move(significant_);
    trace.addressed = std::move(addressed_);
    return std::move(decoded_);
  }

 private:
  static constexpr std::size_t kClosed = std::numeric_limits<std::size_t>::max();

  void decode_fields(Operation& operation) {
    operation.more = static_cast<std::uint32_t>(values_.size());
    switch (operation.code) {
      case Code::compute:
        add_computation();
        return;
      case Code::match:
        patch_match();
        return;
      case Code::pcontrol:
        marks_.push_back({operations_.size(), in_.signed_number(kAnyInt)});
        decoded_.mark_offsets.push_back(offset_);
        return;
      case Code::wait:
      case Code::request_free:
        operation.slot = close_slot();
        break;
      case Code::waitall:
        decode_waitall();
        break;
      case Code::wtime:
      case Code::finalize:
        break;
      case Code::send:
      case Code::ssend:
      case Code::bsend:
      case Code::recv:
      case Code::isend:
      case Code::issend:
      case Code::irecv:
      case Code::sendrecv:
      case Code::probe:
        decode_message(operation);
        break;
      default:
        decode_collective(operation);
    }
    add(operation);
  }

  void add(const Operation& operation) {
    operations_.push_back(operation);
    if (!shared_) decoded_.offsets.push_back(offset_);
  }

  void add_computation() {
    if (!shared_) {
      const double flops = in_.real();
      if (!std::isfinite(flops) || flops < 0) throw TraceError("flops are negative or not finite");
      if (flops == 0) return;
      flops_.push_back(flops);
    }
    // Neighbours stay apart: SimGrid rounds the end of each computation, and many times over.
    Operation operation{};
    operation.code = Code::compute;
    operation.more = computations_++;
    add(operation);
  }

  // Parties

  /// The place of a peer in the rank's parties, or a number below 0 itself.
  std::int32_t place_of(std::uint32_t communicator, std::int32_t peer) {
    if (peer < 0) return peer;
    const auto [place, is_new] =
        places_.place_of({communicator, peer}, shared_ ? 0 : decoded_.trace.parties.size());
    if (is_new) addressed_.emplace_back(communicator, shared_ ? peer : place);
    if (shared_) return used(peer);
    if (is_new) decoded_.trace.parties.push_back(peer);
    return place;
  }

  /// A number of a split, which no other operation shares.
  std::int32_t own_place(std::int32_t number) {
    if (shared_) return used(number);
    decoded_.trace.parties.push_back(number);
    return static_cast<std::int32_t>(decoded_.trace.parties.size()) - 1;
  }

  std::int32_t used(std::int32_t place) {
    if (place < 0) throw TraceError("a place of a party is below 0");
    parties_used_ = std::max(parties_used_, static_cast<std::uint32_t>(place) + 1);
    return place;
  }

  void patch_match() {
    const std::uint32_t slot = open_slot();
    Operation& receive = operations_[open_[slot]];
    if (receive.code != Code::irecv) throw TraceError("the request is not a receive");
    receive.party = place_of(receive.communicator, in_.signed_number(kNoPeer));
    receive.tag = in_.signed_number(0);
  }

  // Requests

  void open_new_slot(Operation& operation) {
    const std::int32_t slot = in_.number();
    const auto index = static_cast<std::size_t>(slot);
    if (index > open_.size()) throw TraceError("request slots are not taken in order");
    if (index == open_.size()) open_.push_back(kClosed);
    if (open_[index] != kClosed) throw TraceError("the request slot is in use");
    open_[index] = operations_.size();
    operation.slot = static_cast<std::uint32_t>(slot);
  }

  std::uint32_t open_slot() {
    const std::int32_t slot = in_.number();
    const auto index = static_cast<std::size_t>(slot);
    if (index >= open_.size() || open_[index] == kClosed)
      throw TraceError("there is no open request in slot " + std::to_string(slot));
    return static_cast<std::uint32_t>(slot);
  }

  std::uint32_t close_slot() {
    const std::uint32_t slot = open_slot();
    open_[slot] = kClosed;
    return slot;
  }

  void decode_waitall() {
    const std::int32_t length = in_.length();
    values_.push_back(length);
    for (std::int32_t item = 0; item < length; ++item)
      values_.push_back(static_cast<std::int32_t>(close_slot()));
  }

  // Communicators

  void communicator(Operation& operation) {
    const std::int32_t number = in_.number();
    const auto index = static_cast<std::size_t>(number);
    if (index >= alive_.size() || !alive_[index])
      throw TraceError("there is no communicator " + std::to_string(number));
    operation.communicator = static_cast<std::uint32_t>(number);
  }

  // Messages

  void counted_type(Operation& operation) {
    operation.count = in_.number();
    operation.type_size = in_.number();
  }

  void decode_message(Operation& operation) {
    if (operation.code == Code::isend || operation.code == Code::issend ||
        operation.code == Code::irecv)
      open_new_slot(operation);
    communicator(operation);
    const bool receives = operation.code == Code::recv || operation.code == Code::irecv ||
                          operation.code == Code::probe;
    operation.party =
        place_of(operation.communicator, in_.signed_number(receives ? kAnySource : kNoPeer));
    operation.tag = in_.signed_number(receives ? kAnyTag : 0);
    if (operation.code == Code::probe) return;
    counted_type(operation);
    if (operation.code == Code::sendrecv) {
      values_.push_back(place_of(operation.communicator, in_.signed_number(kAnySource)));
      values_.push_back(in_.signed_number(kAnyTag));
      copy_numbers(2);
    }
  }

  // Collectives

  void copy_numbers(std::int32_t how_many) {
    for (std::int32_t item = 0; item < how_many; ++item) values_.push_back(in_.number());
  }

  /// A list of numbers with its length before it; `lists` of that length follow each other.
  void copy_lists(std::int32_t lists) {
    const std::int32_t length = in_.length();
    values_.push_back(length);
    for (std::int32_t list = 0; list < lists; ++list) copy_numbers(length);
  }

  void flags(Operation& operation) {
    const std::int32_t value = in_.number();
    if (value > (kInPlace | kNotCommutative | kDerived)) throw TraceError("unknown flags");
    operation.flags = static_cast<std::uint8_t>(value);
  }

  void decode_collective(Operation& operation) {
    if (operation.nonblocking) open_new_slot(operation);
    switch (operation.code) {
      case Code::comm_dup:
      case Code::comm_split:
      case Code::comm_create:
      case Code::comm_create_group:
      case Code::cart_create:
      case Code::cart_sub:
      case Code::comm_free:
        decode_communicator(operation);
        break;
      case Code::barrier:
        communicator(operation);
        break;
      case Code::bcast:
      case Code::reduce:
      case Code::allreduce:
      case Code::reduce_scatter_block:
      case Code::scan:
      case Code::exscan:
        communicator(operation);
        if (operation.code == Code::bcast || operation.code == Code::reduce)
          operation.party = in_.number();
        counted_type(operation);
        if (operation.code != Code::bcast) flags(operation);
        break;
      case Code::gather:
      case Code::scatter:
      case Code::allgather:
      case Code::alltoall:
        communicator(operation);
        if (operation.code == Code::gather || operation.code == Code::scatter)
          operation.party = in_.number();
        counted_type(operation);
        copy_numbers(2);
        flags(operation);
        break;
      case Code::gatherv:
      case Code::scatterv:
      case Code::allgatherv:
      case Code::alltoallv:
      case Code::alltoallw:
      case Code::reduce_scatter:
        decode_vector_collective(operation);
        break;
      default:
        throw TraceError("unknown operation code");
    }
  }

  void decode_vector_collective(Operation& operation) {
    communicator(operation);
    switch (operation.code) {
      case Code::gatherv:
        operation.party = in_.number();
        [[fallthrough]];
      case Code::allgatherv:
        counted_type(operation);
        copy_numbers(1);
        break;
      case Code::scatterv:
        operation.party = in_.number();
        operation.type_size = in_.number();
        copy_numbers(2);
        break;
      case Code::alltoallv:
        operation.type_size = in_.number();
        copy_numbers(1);
        break;
      case Code::reduce_scatter:
        operation.type_size = in_.number();
        break;
      default:
        break;  // alltoallw: bytes, so no type sizes
    }
    flags(operation);
    if (operation.code == Code::gatherv || operation.code == Code::scatterv)
      significant_.push_back(static_cast<std::uint32_t>(operations_.size()));
    copy_lists(operation.code == Code::alltoallv || operation.code == Code::alltoallw ? 2 : 1);
  }

  void decode_communicator(Operation& operation) {
    communicator(operation);
    switch (operation.code) {
      case Code::comm_split:
        operation.party = in_.signed_number(kNoColor);
        if (operation.party != kNoColor) operation.party = own_place(operation.party);
        operation.tag = own_place(in_.signed_number(kAnyInt));
        break;
      case Code::comm_create:
      case Code::comm_create_group:
      case Code::cart_sub:
        copy_lists(1);
        break;
      case Code::cart_create:
        decode_cart_create();
        break;
      case Code::comm_free:
        if (operation.communicator < 2) throw TraceError("MPI_COMM_WORLD and SELF are not freed");
        alive_[operation.communicator] = false;
        return;
      default:
        break;
    }
    creations_.push_back(static_cast<std::uint32_t>(operations_.size()));
    alive_.push_back(true);
  }

  void decode_cart_create() {
    const std::int32_t dims = in_.length();
    const std::size_t extents = values_.size() + 1;
    const auto count = static_cast<std::size_t>(dims);
    values_.resize(extents + 2 * count);
    values_[extents - 1] = dims;
    for (std::size_t dim = 0; dim < count; ++dim) {
      const std::int32_t extent = in_.number();
      const std::int32_t periodic = in_.number();
      values_[extents + dim] = extent;
      values_[extents + count + dim] = periodic;
    }
    copy_numbers(1);
  }

  ByteCursor in_;
  const bool shared_;
  std::uint32_t offset_ = 0;  // of the operation being decoded
  DecodedRank decoded_;
  std::vector<Operation> operations_;
  std::vector<std::int32_t> values_;
  std::vector<double> flops_;
  std::vector<Mark> marks_;
  std::vector<std::uint32_t> creations_;
  std::vector<std::uint32_t> significant_;
  std::vector<PartyPlaces::Address> addressed_;
  PartyPlaces places_;
  std::uint32_t parties_used_ = 0;
  std::uint32_t computations_ = 0;
  std::vector<std::size_t> open_;                 // of each slot, the operation that opened it
  std::vector<bool> alive_ = {true, true};        // communicators; the world and self come first
};

}  // namespace

DecodedRank decode_rank(const std::vector<std::uint8_t>& block, std::uint64_t expected,
                        Writing writing) {
  return RankDecoder(block, expected, writing).decode();
}

std::string operation_name(Code code, bool nonblocking) {
  static constexpr std::array<const char*, 49> kNames = {
      nullptr,      "compute",     "send",       "ssend",      "recv",
      "isend",      "issend",      "irecv",      "sendrecv",   "wait",
      "waitall",    "match",       "probe",      "wtime",      "pcontrol",
      "finalize",   "request_free", "bsend",     nullptr,      nullptr,
      "comm_dup",   "comm_split",  "comm_create", "cart_create", "cart_sub",
      "comm_free",  "comm_create_group", nullptr, nullptr,     nullptr,
      nullptr,      nullptr,       "barrier",    "bcast",      "reduce",
      "allreduce",  "gather",      "scatter",    "allgather",  "alltoall",
      "gatherv",    "scatterv",    "allgatherv", "alltoallv",  "alltoallw",
      "reduce_scatter", "reduce_scatter_block", "scan", "exscan"};
  const auto index = static_cast<std::size_t>(code);
  if (index >= kNames.size() || kNames[index] == nullptr) return "code " + std::to_string(index);
  return (nonblocking ? "i" : "") + std::string(kNames[index]);
}

}  // namespace hamtune
