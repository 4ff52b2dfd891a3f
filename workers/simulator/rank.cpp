#include "workers/simulator/rank.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "workers/simulator/calls.hpp"
#include "workers/simulator/express/express.hpp"
#include "workers/simulator/progress.hpp"
#include "workers/simulator/simgrid/lean.hpp"

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
  position_ = {};
  player_ = express::make_player({trace_, position_, communicators_, at_mark_});
  std::size_t& at = position_.operation;
  if (player_) {
    for (; player_->play(); ++at) call(trace_.operations[at]);
    return;
  }
  for (; at < trace_.operations.size(); ++at) {
    pass_marks();
    progress::pass_operation();
    call(trace_.operations[at]);
  }
}

void Rank::pass_marks() {
  std::size_t& next = position_.next_mark;
  for (; next < trace_.marks.size() && trace_.marks[next].before <= position_.operation; ++next)
    if (at_mark_) at_mark_();
}

std::string Rank::whereabouts() const {
  const std::size_t at = position_.operation;
  if (at >= trace_.operations.size()) return "finalize";
  const Operation& operation = trace_.operations[at];
  return operation_name(operation.code, operation.nonblocking) + " (operation " +
         std::to_string(at + 1) + " of " + std::to_string(trace_.operations.size()) + ")";
}

void Rank::call(const Operation& operation) {
  switch (operation.code) {
    case Code::compute:
      // Not a sleep, which is cheaper but ends in another order with messages of the same instant.
      express::execute(trace_.flops[operation.more]);
      return;
    case Code::wait:
      wait_for(operation.slot);
      return;
    case Code::waitall:
      wait_for_all(operation);
      return;
    case Code::request_free:
      // SMPI never delivers a large message whose request is freed; MPI does, by the end.
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
    call_message(operation);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  call_collective(operation, values(operation), communicators_[operation.communicator], payload_,
                  request);
  if (!operation.nonblocking) return;
  requests_[operation.slot] = request;
  if (player_) player_->leave_to_stack(operation.slot);
}

void Rank::call_message(const Operation& operation) {
  const MPI_Comm communicator = communicators_[operation.communicator];
  const int peer = to_peer(trace_.party(operation.party));
  const int tag = to_tag(operation.tag);
  if (operation.code == Code::probe) {
    check_mpi(MPI_Probe(peer, tag, communicator, MPI_STATUS_IGNORE));
    return;
  }
  const void* const from = scratch::send_buffer();
  void* const into = scratch::receive_buffer();
  const int count = operation.count;
  const MPI_Datatype type = payload_.type(operation.type_size, count > 0);
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

void Rank::wait_for(std::uint32_t slot) {
  if (requests_[slot] != MPI_REQUEST_NULL) check_mpi(MPI_Wait(&requests_[slot], MPI_STATUS_IGNORE));
}

void Rank::call_sendrecv(const Operation& operation) {
  const std::int32_t* const receive = values(operation);
  const SendInPlace in_place(Payload::is_plain(operation.type_size) ? actor_
                                                                    : compat::ActorOfRank());
  check_mpi(MPI_Sendrecv(scratch::send_buffer(), operation.count,
                         payload_.type(operation.type_size, operation.count > 0),
                         to_peer(trace_.party(operation.party)), to_tag(operation.tag),
                         scratch::receive_buffer(), receive[2],
                         payload_.type(receive[3], receive[2] > 0), to_peer(trace_.party(receive[0])),
                         to_tag(receive[1]), communicators_[operation.communicator],
                         MPI_STATUS_IGNORE));
}

void Rank::wait_for_all(const Operation& operation) {
  const std::int32_t* const slots = values(operation);
  std::vector<MPI_Request> open;
  for (std::int32_t item = 1; item <= slots[0]; ++item)
    open.push_back(
        std::exchange(requests_[static_cast<std::size_t>(slots[item])], MPI_REQUEST_NULL));
  check_mpi(MPI_Waitall(slots[0], open.data(), MPI_STATUSES_IGNORE));
}

/// One after the other, since the other end of some may never come.
void Rank::wait_for_freed() {
  for (std::size_t left = freed_.size(); left > 0; --left) {
    position_.only_freed_since = simgrid::s4u::Engine::get_clock();
    int place = MPI_UNDEFINED;
    check_mpi(MPI_Waitany(static_cast<int>(freed_.size()), freed_.data(), &place,
                          MPI_STATUS_IGNORE));
  }
  position_.only_freed_since.reset();
}

/// Whether a communicator is to have all ranks of the one that it is made of, and nobody asks for more of it:
/// where the rank never cuts a grid, no topology matters.
bool Rank::is_plain_copy(const Operation& operation) const {
  if (operation.code != Code::comm_dup && operation.code != Code::cart_create) return false;
  if (std::any_of(trace_.creations.begin(), trace_.creations.end(), [this](std::uint32_t other) {
        return trace_.operations[other].code == Code::cart_sub;
      }))
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
      check_mpi(MPI_Comm_split(
          parent, operation.party == kNoColor ? MPI_UNDEFINED : trace_.party(operation.party),
          trace_.party(operation.tag), &made));
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
