#include "workers/simulator/rank.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <simgrid/s4u.hpp>
#include <utility>

#include "workers/simulator/calls.hpp"
#include "workers/simulator/express/express.hpp"
#include "workers/simulator/lean_simgrid.hpp"

namespace hamtune {

namespace {

int to_peer(std::int32_t peer) {
  if (peer == kNoPeer) return MPI_PROC_NULL;
  return peer == kAnySource ? MPI_ANY_SOURCE : peer;
}

int to_tag(std::int32_t tag) { return tag == kAnyTag ? MPI_ANY_TAG : tag; }

}  // namespace

void Rank::prepare() {
  // SMPI asks a buffer for its size only.
  check_mpi(MPI_Buffer_attach(scratch::receive_buffer(), std::numeric_limits<int>::max()));
}

void Rank::replay(MPI_Comm world) {
  actor_ = compat::caller();
  communicators_ = {world, MPI_COMM_SELF};
  requests_.assign(trace_.slots, MPI_REQUEST_NULL);
  messages_.assign(trace_.slots, nullptr);
  next_mark_ = 0;
  for (at_ = 0; at_ < trace_.operations.size(); ++at_) {
    pass_marks();
    call(trace_.operations[at_]);
  }
}

void Rank::pass_marks() {
  for (; next_mark_ < trace_.marks.size() && trace_.marks[next_mark_].before <= at_; ++next_mark_)
    if (at_mark_) at_mark_();
}

std::string Rank::whereabouts() const {
  if (at_ >= trace_.operations.size()) return "finalize";
  const Operation& operation = trace_.operations[at_];
  return operation_name(operation.code, operation.nonblocking) + " (operation " +
         std::to_string(at_ + 1) + " of " + std::to_string(trace_.operations.size()) + ")";
}

void Rank::call(const Operation& operation) {
  switch (operation.code) {
    case Code::compute:
      // Not a sleep, which is cheaper but ends in another order with messages of the same instant.
      express::execute(trace_.flops[operation.more] + flops_behind());
      return;
    case Code::wait:
      wait_for(operation.slot);
      return;
    case Code::waitall:
      wait_for_all(operation);
      return;
    case Code::request_free:
      // SMPI never delivers a large message whose request is freed; MPI does, by the end.
      if (messages_[operation.slot] != nullptr)
        freed_messages_.push_back(std::exchange(messages_[operation.slot], nullptr));
      if (requests_[operation.slot] != MPI_REQUEST_NULL)
        freed_.push_back(std::exchange(requests_[operation.slot], MPI_REQUEST_NULL));
      return;
    case Code::wtime:
      MPI_Wtime();
      return;
    case Code::finalize:
      wait_for_freed();
      return;
    case Code::sendrecv:
      if (express::sends_directly())
        call_directly(operation);
      else
        call_sendrecv(operation);
      return;
    case Code::comm_dup:
    case Code::comm_split:
    case Code::comm_create:
    case Code::comm_create_group:
    case Code::cart_create:
    case Code::cart_sub:
      create_communicator(operation);
      return;
    case Code::comm_free:
      check_mpi(MPI_Comm_free(&communicators_[operation.communicator]));
      return;
    default:
      break;
  }
  if (!is_collective(operation.code)) {
    if (express::sends_directly() && operation.code != Code::probe)
      call_directly(operation);
    else
      call_message(operation);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  call_collective(operation, values(operation), communicators_[operation.communicator], payload_,
                  request);
  if (operation.nonblocking) requests_[operation.slot] = request;
}

/// What follows a computation without a mark between, where both may as well be one.
double Rank::flops_behind() {
  double flops = 0;
  while (express::merges_computations() && at_ + 1 < trace_.operations.size() &&
         trace_.operations[at_ + 1].code == Code::compute && !is_marked(at_ + 1))
    flops += trace_.flops[trace_.operations[++at_].more];
  return flops;
}

/// Whether a mark that somebody heeds stands before an operation.
bool Rank::is_marked(std::size_t operation) const {
  return at_mark_ && next_mark_ < trace_.marks.size() && trace_.marks[next_mark_].before == operation;
}

void Rank::call_message(const Operation& operation) {
  const MPI_Comm communicator = communicators_[operation.communicator];
  const int peer = to_peer(operation.peer);
  const int tag = to_tag(operation.tag);
  if (operation.code == Code::probe) {
    check_mpi(MPI_Probe(peer, tag, communicator, MPI_STATUS_IGNORE));
    return;
  }
  const void* const from = scratch::send_buffer();
  void* const into = scratch::receive_buffer();
  const int count = operation.count;
  const MPI_Datatype type = payload_.type(operation.type_size);
  MPI_Request* const request =
      operation.slot < requests_.size() ? &requests_[operation.slot] : nullptr;
  const SendInPlace in_place(Payload::is_plain(operation.type_size) ? actor_
                                                                    : compat::ActorOfRank());
  switch (operation.code) {
    case Code::send:
      check_mpi(MPI_Send(from, count, type, peer, tag, communicator));
      break;
    case Code::ssend:
      check_mpi(MPI_Ssend(from, count, type, peer, tag, communicator));
      break;
    case Code::bsend:
      check_mpi(MPI_Bsend(from, count, type, peer, tag, communicator));
      break;
    case Code::recv:
      check_mpi(MPI_Recv(into, count, type, peer, tag, communicator, MPI_STATUS_IGNORE));
      break;
    case Code::isend:
      check_mpi(MPI_Isend(from, count, type, peer, tag, communicator, request));
      break;
    case Code::issend:
      check_mpi(MPI_Issend(from, count, type, peer, tag, communicator, request));
      break;
    default:
      check_mpi(MPI_Irecv(into, count, type, peer, tag, communicator, request));
  }
}

void Rank::call_directly(const Operation& operation) {
  using express::SendMode;
  const MPI_Comm communicator = communicators_[operation.communicator];
  const auto bytes = [](std::int32_t count, std::int32_t size) {
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  };
  const auto send = [&](SendMode mode, bool is_immediate) -> express::Pending* {
    if (operation.peer == kNoPeer) return nullptr;
    return express::start_send({communicator, operation.peer, operation.tag,
                                bytes(operation.count, operation.type_size)},
                               mode, is_immediate);
  };
  const auto receive = [&](std::int32_t peer, std::int32_t tag, std::size_t room) -> express::Pending* {
    if (peer == kNoPeer) return nullptr;
    return express::start_receive({communicator, to_peer(peer), to_tag(tag), room});
  };
  switch (operation.code) {
    case Code::send:
      finish({send(SendMode::standard, false)});
      return;
    case Code::ssend:
      finish({send(SendMode::synchronous, false)});
      return;
    case Code::bsend:
      finish({send(SendMode::buffered, false)});
      return;
    case Code::isend:
      messages_[operation.slot] = send(SendMode::standard, true);
      return;
    case Code::issend:
      messages_[operation.slot] = send(SendMode::synchronous, true);
      return;
    case Code::sendrecv: {
      const std::int32_t* const other = values(operation);
      express::Pending* const expected = receive(other[0], other[1], bytes(other[2], other[3]));
      finish({expected, send(SendMode::standard, true)});
      return;
    }
    default:
      break;
  }
  express::Pending* const expected =
      receive(operation.peer, operation.tag, bytes(operation.count, operation.type_size));
  if (operation.code == Code::recv)
    finish({expected});
  else
    messages_[operation.slot] = expected;
}

/// Waits for all of these that there are.
void Rank::finish(const std::vector<express::Pending*>& messages) {
  std::vector<express::Pending*> open;
  std::copy_if(messages.begin(), messages.end(), std::back_inserter(open),
               [](const express::Pending* message) { return message != nullptr; });
  if (!open.empty() && !express::finish(open)) check_mpi(MPI_ERR_TRUNCATE);
}

void Rank::wait_for(std::uint32_t slot) {
  if (messages_[slot] != nullptr) {
    finish({std::exchange(messages_[slot], nullptr)});
  } else if (requests_[slot] != MPI_REQUEST_NULL) {
    check_mpi(MPI_Wait(&requests_[slot], MPI_STATUS_IGNORE));
  }
}

void Rank::call_sendrecv(const Operation& operation) {
  const std::int32_t* const receive = values(operation);
  const SendInPlace in_place(Payload::is_plain(operation.type_size) ? actor_
                                                                    : compat::ActorOfRank());
  check_mpi(MPI_Sendrecv(scratch::send_buffer(), operation.count,
                         payload_.type(operation.type_size), to_peer(operation.peer),
                         to_tag(operation.tag), scratch::receive_buffer(), receive[2],
                         payload_.type(receive[3]), to_peer(receive[0]), to_tag(receive[1]),
                         communicators_[operation.communicator], MPI_STATUS_IGNORE));
}

void Rank::wait_for_all(const Operation& operation) {
  const std::int32_t* const slots = values(operation);
  std::vector<express::Pending*> messages;
  std::vector<MPI_Request> open;
  for (std::int32_t item = 1; item <= slots[0]; ++item) {
    const auto slot = static_cast<std::size_t>(slots[item]);
    messages.push_back(std::exchange(messages_[slot], nullptr));
    open.push_back(std::exchange(requests_[slot], MPI_REQUEST_NULL));
  }
  finish(messages);
  if (express::sends_directly() &&
      std::all_of(open.begin(), open.end(), [](MPI_Request one) { return one == MPI_REQUEST_NULL; }))
    return;
  check_mpi(MPI_Waitall(slots[0], open.data(), MPI_STATUSES_IGNORE));
}

/// One after the other, since the other end of some may never come.
void Rank::wait_for_freed() {
  const auto note = [this] { only_freed_since_ = simgrid::s4u::Engine::get_clock(); };
  if (!freed_messages_.empty()) express::finish(freed_messages_, note);
  for (std::size_t left = freed_.size(); left > 0; --left) {
    note();
    int place = MPI_UNDEFINED;
    check_mpi(MPI_Waitany(static_cast<int>(freed_.size()), freed_.data(), &place,
                          MPI_STATUS_IGNORE));
  }
  only_freed_since_.reset();
}

/// Whether a communicator is to have all ranks of the one that it is made of, and nobody asks for more of it:
/// where the rank never cuts a grid, no topology matters.
bool Rank::is_plain_copy(const Operation& operation) const {
  if (operation.code != Code::comm_dup && operation.code != Code::cart_create) return false;
  if (std::any_of(trace_.operations.begin(), trace_.operations.end(),
                  [](const Operation& other) { return other.code == Code::cart_sub; }))
    return false;
  if (operation.code == Code::comm_dup) return true;
  const std::int32_t* const list = values(operation);
  int size = 0;
  MPI_Comm_size(communicators_[operation.communicator], &size);
  std::int64_t places = 1;
  for (std::int32_t axis = 0; axis < list[0] && places <= size; ++axis) places *= list[1 + axis];
  return places == size;
}

void Rank::create_communicator(const Operation& operation) {
  const MPI_Comm parent = communicators_[operation.communicator];
  const std::int32_t* const list = values(operation);
  MPI_Comm made = is_plain_copy(operation) ? express::with_same_ranks(parent) : MPI_COMM_NULL;
  if (made != MPI_COMM_NULL) {
    communicators_.push_back(made);
    return;
  }
  switch (operation.code) {
    case Code::comm_dup:
      check_mpi(MPI_Comm_dup(parent, &made));
      break;
    case Code::comm_split:
      check_mpi(MPI_Comm_split(parent, operation.peer == kNoColor ? MPI_UNDEFINED : operation.peer,
                               operation.tag, &made));
      break;
    case Code::comm_create:
    case Code::comm_create_group: {
      MPI_Group everyone = MPI_GROUP_NULL;
      MPI_Group group = MPI_GROUP_NULL;
      check_mpi(MPI_Comm_group(parent, &everyone));
      check_mpi(MPI_Group_incl(everyone, list[0], list + 1, &group));
      check_mpi(operation.code == Code::comm_create
                    ? MPI_Comm_create(parent, group, &made)
                    : MPI_Comm_create_group(parent, group, 0, &made));
      break;
    }
    case Code::cart_create:
      check_mpi(MPI_Cart_create(parent, list[0], list + 1, list + 1 + list[0],
                                list[1 + 2 * list[0]], &made));
      break;
    default:
      check_mpi(MPI_Cart_sub(parent, list + 1, &made));
  }
  communicators_.push_back(made);
}

}  // namespace hamtune
