// SMPI's functions that make and await messages, in place of the library's: they ask our kernel where
// one is in use (request_polls.cpp has those that test and probe). All other functions of SMPI, its
// collective algorithms among them, are the library's own and come here through its symbol table.
//
// MPI_Cancel, MPI_Request_get_status, generalized requests and one-sided communication do not occur in
// traces and would not work with our kernel.
#include "workers/simulator/express/requests.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "workers/simulator/express/collective_expansion.hpp"
#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/messages.hpp"
#include "workers/simulator/express/packet_messages.hpp"
#include "workers/simulator/simgrid/lean.hpp"
#include "workers/simulator/platform.hpp"
#include "workers/simulator/simgrid/request.hpp"

namespace express = hamtune::express;
using express::Pending;
using hamtune::library_function;

namespace simgrid::smpi {

namespace {

/// What MPI_COMM_WORLD is until it is set: it stands for the world of whoever asks it something.
const MPI_Comm kUnsetWorld = MPI_COMM_WORLD;

}  // namespace

bool Request::match(Request& send, Request& receive, bool probing) {
  if (receive.source_ != send.source_ && receive.source_ != MPI_ANY_SOURCE) return false;
  if (receive.tag_ != send.tag_ && (receive.tag_ != MPI_ANY_TAG || send.tag_ < 0)) return false;
  const int receive_id = receive.communicator_->id();
  const int send_id = send.communicator_->id();
  if (receive_id != send_id && receive_id != MPI_UNDEFINED && send_id != MPI_UNDEFINED)
    return false;
  const int source = receive.group_->rank(send.source_);
  if (receive.source_ == MPI_ANY_SOURCE) {
    if (source == MPI_UNDEFINED) return false;
    receive.real_source_ = send.source_;
  }
  if (receive.tag_ == MPI_ANY_TAG) receive.real_tag_ = send.tag_;
  if (!probing && receive.real_size_ < send.real_size_) receive.truncated_ = true;
  if (receive.communicator_ != kUnsetWorld && !receive.communicator_->is_smp_comm()) {
    const int target = receive.group_->rank(send.target_);
    unsigned& messages =
        hamtune::received_messages(receive.communicator_, source, target, send.tag_);
    if (messages != send.number_) return false;
    if (!probing) {
      ++messages;
      if (receive.real_size_ > send.real_size_) receive.real_size_ = send.real_size_;
    }
  }
  if (send.detached_) receive.detached_sender_ = &send;
  send.flags_ |= kMatched;
  receive.flags_ |= kMatched;
  return true;
}

express::Envelope Request::envelope() const {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  std::uint64_t mixed = static_cast<std::uint64_t>(source_) * kMix;
  mixed = (mixed + static_cast<std::uint32_t>(tag_)) * kMix;
  return {static_cast<std::uint32_t>(mixed >> 32),
          has(kReceive) && (source_ == MPI_ANY_SOURCE || tag_ == MPI_ANY_TAG)};
}

express::MatchEnvelope Request::match_envelope() const {
  return {source_, tag_, express::number_of(communicator_)};
}

express::Probed Request::probed() const { return {source_, tag_, real_size_}; }

/// Beside packets, a receive learns here what it has received.
void Request::learn(express::Kernel& kernel) {
  if (kernel.packets() == nullptr || !has(kReceive) || message_ == nullptr) return;
  const auto& receive = static_cast<const express::PacketReceive&>(*message_);
  real_source_ = receive.found.source;
  real_tag_ = receive.found.tag;
  truncated_ = truncated_ || real_size_ < receive.bytes;
  real_size_ = std::min(real_size_, receive.bytes);
}

void Request::start() {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library =
        library_function<void(Request*)>("_ZN7simgrid4smpi7Request5startEv");
    return library(this);
  }
  flags_ &= ~(kPrepared | kFinished);
  ref();
  real_size_ = size_;
  message_ = nullptr;
  group_ = communicator_->group();
  if (express::PacketMessages* const packets = kernel->packets(); packets != nullptr)
    start_packets(*kernel, *packets);
  else if (has(kReceive))
    start_receive(*kernel);
  else
    start_send(*kernel);
}

void Request::start_packets(express::Kernel& kernel, express::PacketMessages& packets) {
  using Mode = express::PacketMessages::Mode;
  express::Recording* const recording = kernel.running().recording;
  if (has(kReceive)) {
    if (recording != nullptr) number_ = recording->receive(match_envelope(), real_size_, 1);
    message_ = &packets.post_receive(match_envelope(), buffer_, real_size_);
    return;
  }
  express::Actor& target = kernel.receiver(target_, tag_);
  const Mode mode = has(kBuffered)      ? Mode::buffered
                    : has(kSynchronous) ? Mode::synchronous
                                        : Mode::standard;
  if (recording != nullptr)
    number_ = recording->send(match_envelope(), target_, size_, mode, has(kImmediate));
  packets.charge_send(target, size_, has(kImmediate));
  message_ = packets.post_send(match_envelope(), target, {buffer_, real_size_}, mode);
}

void Request::start_receive(express::Kernel& kernel) {
  express::Actor& self = kernel.running();
  kernel.call(0, [&] {
    message_ = kernel.fluid()->post_receive(*this, self, buffer_, &real_size_);
    kernel.wake(self);
  });
}

void Request::start_send(express::Kernel& kernel) {
  const int source = group_->rank(source_);
  const int target = group_->rank(target_);
  number_ = hamtune::sent_messages(communicator_, source, target, tag_)++;
  if (!has(kSynchronous) &&
      (has(kBuffered) || static_cast<int>(size_) < kernel.detached_below())) {
    detached_ = true;
    ref();
  }
  express::Actor& sender = kernel.running();
  express::Actor& receiver = kernel.receiver(target_, tag_);
  if (detached_ || has(kImmediate | kSynchronous)) {
    s4u::Host* const from = kernel.machine().host(sender.host).library;
    s4u::Host* const to = kernel.machine().host(receiver.host).library;
    Host* const times = from->extension<Host>();
    const double pause =
        has(kImmediate) ? times->oisend(size_, from, to) : times->osend(size_, from, to);
    if (pause > 0) s4u::this_actor::sleep_for(pause);
  }
  kernel.call(0, [&] {
    message_ = kernel.fluid()->post_send(*this, sender, receiver,
                                           static_cast<double>(size_) + hamtune::kEnvelope,
                                           buffer_, real_size_, detached_);
    kernel.wake(sender);
  });
}

/// What remains to be done by who waited for it.
void Request::finish_wait(MPI_Request* request, MPI_Status* status) {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library = library_function<void(MPI_Request*, MPI_Status*)>(
        "_ZN7simgrid4smpi7Request11finish_waitEPPS1_P10MPI_Status");
    return library(request, status);
  }
  Request& self = **request;
  self.settle(*kernel, status);
  if (!self.to_nobody()) unref(request);
}

void Request::settle(express::Kernel& kernel, MPI_Status* status) {
  learn(kernel);
  if (status != MPI_STATUS_IGNORE && has(kReceive) && source_ == MPI_ANY_SOURCE)
    express::note_uncertainty();
  Status::empty(status);
  if (!has(kPrepared | kFinished) && status != MPI_STATUS_IGNORE) {
    if (to_nobody()) {
      status->MPI_SOURCE = MPI_PROC_NULL;
    } else {
      const aid_t source = source_ == MPI_ANY_SOURCE ? real_source_ : source_;
      status->MPI_SOURCE = communicator_->group()->rank(source);
      status->MPI_TAG = tag_ == MPI_ANY_TAG ? real_tag_ : tag_;
      status->MPI_ERROR = truncated_ ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    }
    status->count = static_cast<int>(real_size_);
  }
  if (detached_sender_ != MPI_REQUEST_NULL) {
    s4u::Host* const here = kernel.machine().host(kernel.running().host).library;
    const double pause = here->extension<Host>()->orecv(real_size_, here, here);
    if (pause > 0) s4u::this_actor::sleep_for(pause);
    unref(&detached_sender_);
  }
  if (express::PacketMessages* const packets = kernel.packets(); packets != nullptr && has(kReceive))
    packets->charge_receive(real_size_);
  if (message_ != nullptr) {
    kernel.messages().release(*message_);
    message_ = nullptr;
  }
  flags_ |= kFinished;
}

/// Where a collective is written down; what SMPI makes of a collective's messages is waited for as these are.
void Request::note_wait(express::Kernel& kernel) const {
  express::Recording* const recording = kernel.running().recording;
  if (recording != nullptr && !has(kNonBlockingCollective)) recording->wait({number_});
}

void Request::note_wait_for_all(express::Kernel& kernel, int count, MPI_Request requests[]) {
  express::Recording* const recording = kernel.running().recording;
  if (recording == nullptr) return;
  std::vector<std::uint32_t> awaited;
  for (int place = 0; place < count; ++place) {
    const Request* const request = requests[place];
    if (request == MPI_REQUEST_NULL || request->has(kPrepared | kFinished)) continue;
    if (request->to_nobody()) continue;
    if (request->has(kNonBlockingCollective)) recording->give_up();
    awaited.push_back(request->number_);
  }
  recording->wait(awaited);
}

int Request::wait(MPI_Request* request, MPI_Status* status) {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library = library_function<int(MPI_Request*, MPI_Status*)>(
        "_ZN7simgrid4smpi7Request4waitEPPS1_P10MPI_Status");
    return library(request, status);
  }
  Request& self = **request;
  if (self.to_nobody()) {
    if (status != MPI_STATUS_IGNORE) {
      Status::empty(status);
      status->MPI_SOURCE = MPI_PROC_NULL;
    }
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  if (self.has(kPrepared | kFinished)) {
    Status::empty(status);
    return MPI_SUCCESS;
  }
  self.note_wait(*kernel);
  if (self.message_ != nullptr) kernel->messages().wait(*self.message_);
  self.learn(*kernel);
  const int result = self.truncated_ ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  if (self.has(kNonBlockingCollective)) finish_nbc_requests(request, 0);
  complete(*request, status);
  return result;
}

/// Finishes a request; one that cannot be started again is gone then.
void Request::complete(MPI_Request& request, MPI_Status* status) {
  finish_wait(&request, status);
  if (request != MPI_REQUEST_NULL && request->has(kNonPersistent)) request = MPI_REQUEST_NULL;
}

int Request::waitany(int count, MPI_Request requests[], MPI_Status* status) {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library = library_function<int(int, MPI_Request*, MPI_Status*)>(
        "_ZN7simgrid4smpi7Request7waitanyEiPPS1_P10MPI_Status");
    return library(count, requests, status);
  }
  express::note_uncertainty();
  std::vector<Pending*> awaited;
  std::vector<int> places;
  for (int place = 0; place < count; ++place) {
    MPI_Request& request = requests[place];
    if (request == MPI_REQUEST_NULL || request->has(kPrepared | kFinished)) continue;
    if (request->message_ == nullptr) {
      complete_without_message(request, status);
      return place;
    }
    awaited.push_back(request->message_);
    places.push_back(place);
  }
  if (awaited.empty()) {
    Status::empty(status);
    return MPI_UNDEFINED;
  }
  express::Messaging& messages = kernel->messages();
  express::Awaited expected(std::move(awaited));
  messages.expect(expected);
  const int place = places[messages.wait_next(expected)];
  messages.forget(expected);
  complete(requests[place], status);
  return place;
}

/// As waitany for each, but that what has not arrived yet is not looked at again every time.
int Request::waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library = library_function<int(int, MPI_Request*, MPI_Status*)>(
        "_ZN7simgrid4smpi7Request7waitallEiPPS1_P10MPI_Status");
    return library(count, requests, statuses);
  }
  int result = MPI_SUCCESS;
  const auto status_of = [statuses](int place) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[place];
  };
  const auto note = [&result, status_of](int place) {
    const MPI_Status* const status = status_of(place);
    if (status != MPI_STATUS_IGNORE && status->MPI_ERROR == MPI_ERR_TRUNCATE)
      result = MPI_ERR_IN_STATUS;
  };
  note_wait_for_all(*kernel, count, requests);
  std::vector<Pending*> awaited;
  std::vector<int> places;
  for (int place = 0; place < count; ++place) {
    MPI_Request& request = requests[place];
    Status::empty(status_of(place));
    if (request == MPI_REQUEST_NULL || request->has(kPrepared | kFinished)) continue;
    if (request->message_ == nullptr) {
      complete_without_message(request, status_of(place));
      note(place);
    } else {
      awaited.push_back(request->message_);
      places.push_back(place);
    }
  }
  if (express::PacketMessages* const packets = kernel->packets();
      packets != nullptr && packets->receives_are_free()) {
    packets->wait_all(awaited);
    for (const int place : places) {
      complete(requests[place], status_of(place));
      note(place);
    }
    return result;
  }
  express::Messaging& messages = kernel->messages();
  express::Awaited expected(std::move(awaited));
  messages.expect(expected);
  for (std::size_t left = places.size(); left > 0; --left) {
    const int place = places[messages.wait_next(expected)];
    complete(requests[place], status_of(place));
    note(place);
  }
  return result;
}

/// Beside packets, the receive is posted first, as MPI libraries do: which of two large messages that cross
/// each other is asked for first decides whether they go at once or in turn.
void Request::sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int target,
                       int sent_tag, void* received, int received_count, MPI_Datatype received_type,
                       int source, int received_tag, MPI_Comm communicator, MPI_Status* status) {
  express::Kernel* const kernel = express::kernel();
  const auto is_self = [&](int rank) {
    return communicator->group()->actor(rank) == kernel->running().number;
  };
  if (kernel == nullptr || kernel->packets() == nullptr || source == MPI_PROC_NULL ||
      target == MPI_PROC_NULL || (is_self(source) && is_self(target))) {
    static const auto library =
        library_function<void(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int,
                              int, MPI_Comm, MPI_Status*)>(
            "_ZN7simgrid4smpi7Request8sendrecvEPKviPNS0_8DatatypeEiiPviS5_iiPNS0_4CommEP10MPI_Status");
    return library(sent, sent_count, sent_type, target, sent_tag, received, received_count,
                   received_type, source, received_tag, communicator, status);
  }
  MPI_Request both[] = {
      irecv_init(received, received_count, received_type, source, received_tag, communicator),
      isend_init(sent, sent_count, sent_type, target, sent_tag, communicator)};
  MPI_Status statuses[2];
  for (MPI_Request const request : both) request->start();
  waitall(2, both, statuses);
  for (MPI_Request& request : both)
    if (request != MPI_REQUEST_NULL) unref(&request);
  if (status != MPI_STATUS_IGNORE) *status = statuses[0];
}

/// A send that nobody waits for, a collective, or nothing.
void Request::complete_without_message(MPI_Request& request, MPI_Status* status) {
  if (request->has(kNonBlockingCollective)) finish_nbc_requests(&request, 0);
  complete(request, status);
}

/// Datatypes with gaps are laid out anew for sending; what stands in a buffer does not matter here.
void Request::init_buffer(int count) {
  if (express::kernel() != nullptr) return;
  static const auto library =
      library_function<void(Request*, int)>("_ZN7simgrid4smpi7Request11init_bufferEi");
  library(this, count);
}

}  // namespace simgrid::smpi

namespace hamtune::express {

Envelope envelope_of(const SmpiRequest& request) { return request.envelope(); }

MatchEnvelope match_envelope_of(const SmpiRequest& request) { return request.match_envelope(); }

Probed probed(const SmpiRequest& send) { return send.probed(); }

bool match(SmpiRequest& send, SmpiRequest& receive, bool probing) {
  return SmpiRequest::match(send, receive, probing);
}

}  // namespace hamtune::express

namespace simgrid::s4u::this_actor {

void sleep_for(double duration) {
  if (express::Kernel* const kernel = express::kernel(); kernel != nullptr) {
    express::note_uncertainty();
    if (duration > 0) kernel->sleep(duration);
    return;
  }
  static const auto library =
      library_function<void(double)>("_ZN7simgrid3s4u10this_actor9sleep_forEd");
  library(duration);
}

}  // namespace simgrid::s4u::this_actor

/// Few of the library's own calls of its engine remain, such as those of barriers.
void simcall_run_answered(const std::function<void()>& code,
                          simgrid::kernel::actor::SimcallObserver* observer) {
  if (express::Kernel* const kernel = express::kernel(); kernel != nullptr)
    kernel->note_library_call();
  static const auto library =
      library_function<void(const std::function<void()>&,
                            simgrid::kernel::actor::SimcallObserver*)>(
          "_Z20simcall_run_answeredRKSt8functionIFvvEEPN7simgrid6kernel5actor15SimcallObserverE");
  library(code, observer);
}

void simcall_run_blocking(const std::function<void()>& code,
                          simgrid::kernel::actor::SimcallObserver* observer) {
  if (express::Kernel* const kernel = express::kernel(); kernel != nullptr)
    kernel->note_library_call();
  static const auto library =
      library_function<void(const std::function<void()>&,
                            simgrid::kernel::actor::SimcallObserver*)>(
          "_Z20simcall_run_blockingRKSt8functionIFvvEEPN7simgrid6kernel5actor15SimcallObserverE");
  library(code, observer);
}

namespace simgrid::kernel {

void EngineImpl::add_actor_to_run_list_no_check(actor::ActorImpl* actor) {
  if (express::Kernel* const kernel = express::kernel(); kernel != nullptr && kernel->wake(actor))
    return;
  static const auto library = library_function<void(EngineImpl*, actor::ActorImpl*)>(
      "_ZN7simgrid6kernel10EngineImpl30add_actor_to_run_list_no_checkEPNS0_5actor9ActorImplE");
  library(this, actor);
}

}  // namespace simgrid::kernel
