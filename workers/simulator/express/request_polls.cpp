// SMPI's functions that test and probe messages without waiting for them, and MPI_Probe, in place of the
// library's: see requests.cpp.
#include "workers/simulator/express/requests.hpp"

#include <optional>
#include <vector>

#include "workers/simulator/express/collective_expansion.hpp"
#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/messages.hpp"
#include "workers/simulator/platform.hpp"
#include "workers/simulator/simgrid/lean.hpp"
#include "workers/simulator/simgrid/request.hpp"

namespace express = hamtune::express;
using hamtune::library_function;

namespace simgrid::smpi {

namespace {

void tell(const express::Probed& found, MPI_Comm communicator, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = communicator->group()->rank(found.source);
  status->MPI_TAG = found.tag;
  status->MPI_ERROR = MPI_SUCCESS;
  status->count = static_cast<int>(found.bytes);
}

}  // namespace

int Request::test(MPI_Request* request, MPI_Status* status, int* flag) {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library = library_function<int(MPI_Request*, MPI_Status*, int*)>(
        "_ZN7simgrid4smpi7Request4testEPPS1_P10MPI_StatusPi");
    return library(request, status, flag);
  }
  express::note_uncertainty();
  int& pauses = kernel->pauses().test;
  const double pause = config::get_value<double>("smpi/test");
  if (pause > 0) s4u::this_actor::sleep_for(pauses * pause);
  Status::empty(status);
  *flag = 1;
  Request& self = **request;
  if (self.has(kNonBlockingCollective)) *flag = finish_nbc_requests(request, 1);
  if (self.has(kPrepared | kFinished)) return MPI_SUCCESS;
  if (self.message_ != nullptr) *flag = kernel->messages().test(*self.message_) ? 1 : 0;
  if (*flag != 0) {
    finish_wait(request, status);
    pauses = 1;
    if (*request != MPI_REQUEST_NULL && !(*request)->has(kPersistent)) *request = MPI_REQUEST_NULL;
  } else if (config::get_value<bool>("smpi/grow-injected-times")) {
    ++pauses;
  }
  return MPI_SUCCESS;
}

int Request::testany(int count, MPI_Request requests[], int* index, int* flag,
                     MPI_Status* status) {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library = library_function<int(int, MPI_Request*, int*, int*, MPI_Status*)>(
        "_ZN7simgrid4smpi7Request7testanyEiPPS1_PiS4_P10MPI_Status");
    return library(count, requests, index, flag, status);
  }
  express::note_uncertainty();
  *flag = 0;
  *index = MPI_UNDEFINED;
  std::vector<int> places;
  for (int place = 0; place < count; ++place)
    if (requests[place] != MPI_REQUEST_NULL && requests[place]->message_ != nullptr &&
        !requests[place]->has(kPrepared))
      places.push_back(place);
  if (places.empty()) {
    *flag = 1;
    Status::empty(status);
    return MPI_SUCCESS;
  }
  int& pauses = kernel->pauses().test_any;
  const double pause = config::get_value<double>("smpi/test");
  if (pause > 0) s4u::this_actor::sleep_for(pauses * pause);
  express::Actor& self = kernel->running();
  kernel->call(0, [&] {
    for (const int place : places)
      if (*flag == 0 && kernel->messages().is_done(*requests[place]->message_)) {
        *flag = 1;
        *index = place;
      }
    kernel->wake(self);
  });
  if (*flag == 0) {
    ++pauses;
    return MPI_SUCCESS;
  }
  pauses = 1;
  complete(requests[*index], status);
  return MPI_SUCCESS;
}

Request* Request::for_probe(int source, int tag, MPI_Comm communicator) {
  Group* const group = communicator->group();
  auto* request = new Request(nullptr, 0, MPI_CHAR,
                              source == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : group->actor(source),
                              s4u::this_actor::get_pid(), tag, communicator,
                              kPersistent | kReceive | kProbe);
  request->group_ = group;
  return request;
}

void Request::iprobe(int source, int tag, MPI_Comm communicator, int* flag, MPI_Status* status) {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library = library_function<void(int, int, MPI_Comm, int*, MPI_Status*)>(
        "_ZN7simgrid4smpi7Request6iprobeEiiPNS0_4CommEPiP10MPI_Status");
    return library(source, tag, communicator, flag, status);
  }
  express::note_uncertainty();
  int& pauses = kernel->pauses().probe;
  Request* request = for_probe(source, tag, communicator);
  const double pause = config::get_value<double>("smpi/iprobe");
  if (pause > 0) {
    const double speed = s4u::this_actor::get_host()->get_speed();
    const double share = config::get_value<double>("smpi/iprobe-cpu-usage");
    kernel->execute(pauses * pause * speed * share, share * speed);
  }
  express::Actor& self = kernel->running();
  std::optional<express::Probed> found;
  kernel->call(0, [&] {
    found = kernel->messages().iprobe(*request, self);
    kernel->wake(self);
  });
  *flag = found ? 1 : 0;
  if (found) {
    tell(*found, communicator, status);
    pauses = 1;
  } else if (config::get_value<bool>("smpi/grow-injected-times")) {
    ++pauses;
  }
  unref(&request);
}

/// Not by polling as SMPI, which lets 0.1 ms and more pass each time: in a trace a probe is blocking, and what
/// a program's own polls took is not.
void Request::probe(int source, int tag, MPI_Comm communicator, MPI_Status* status) {
  express::Kernel* const kernel = express::kernel();
  if (kernel == nullptr) {
    static const auto library = library_function<void(int, int, MPI_Comm, MPI_Status*)>(
        "_ZN7simgrid4smpi7Request5probeEiiPNS0_4CommEP10MPI_Status");
    return library(source, tag, communicator, status);
  }
  express::note_uncertainty();
  Request* request = for_probe(source, tag, communicator);
  tell(kernel->messages().probe(*request), communicator, status);
  unref(&request);
}

}  // namespace simgrid::smpi
