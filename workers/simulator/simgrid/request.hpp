// A request of SMPI, 3.32, as the library lays it out.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "workers/simulator/express/requests.hpp"
#include "workers/simulator/simgrid/internals.hpp"

namespace hamtune::express {
class Kernel;
class PacketMessages;
struct Pending;
struct Probed;
}  // namespace hamtune::express

namespace simgrid::smpi {

inline constexpr unsigned kPersistent = 0x1;
inline constexpr unsigned kNonPersistent = 0x2;
inline constexpr unsigned kSend = 0x4;
inline constexpr unsigned kReceive = 0x8;
inline constexpr unsigned kProbe = 0x10;
inline constexpr unsigned kImmediate = 0x20;
inline constexpr unsigned kSynchronous = 0x40;
inline constexpr unsigned kPrepared = 0x80;
inline constexpr unsigned kFinished = 0x100;
inline constexpr unsigned kBuffered = 0x2000;
inline constexpr unsigned kMatched = 0x4000;
inline constexpr unsigned kNonBlockingCollective = 0x10000;

/// The members are the library's, except that `message_` stands where it keeps its own kind.
class Request : public F2C {
 public:
  Request(const void* buffer, int count, MPI_Datatype type, aid_t source, aid_t target, int tag,
          MPI_Comm communicator, unsigned flags, MPI_Op op = MPI_REPLACE);
  ~Request() override;
  std::string name() const override;

  void start();
  void ref();
  void init_buffer(int count);
  static void unref(MPI_Request* request);
  static void finish_wait(MPI_Request* request, MPI_Status* status);
  static int finish_nbc_requests(MPI_Request* request, int test);
  static int wait(MPI_Request* request, MPI_Status* status);
  static int waitany(int count, MPI_Request requests[], MPI_Status* status);
  static int waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
  static int test(MPI_Request* request, MPI_Status* status, int* flag);
  static int testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
  static void iprobe(int source, int tag, MPI_Comm communicator, int* flag, MPI_Status* status);
  static void probe(int source, int tag, MPI_Comm communicator, MPI_Status* status);
  static MPI_Request isend_init(const void* buffer, int count, MPI_Datatype type, int target, int tag,
                                MPI_Comm communicator);
  static MPI_Request irecv_init(void* buffer, int count, MPI_Datatype type, int source, int tag,
                                MPI_Comm communicator);
  static void sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int target,
                       int sent_tag, void* received, int received_count, MPI_Datatype received_type,
                       int source, int received_tag, MPI_Comm communicator, MPI_Status* status);

  /// What of the library's objects is not where the members below are, in a line; empty where all is.
  static std::string broken_layout();

  static bool match(Request& send, Request& receive, bool probing);
  hamtune::express::Envelope envelope() const;
  hamtune::express::MatchEnvelope match_envelope() const;
  hamtune::express::Probed probed() const;

 private:
  static Request* for_probe(int source, int tag, MPI_Comm communicator);
  void learn(hamtune::express::Kernel& kernel);
  void start_packets(hamtune::express::Kernel& kernel, hamtune::express::PacketMessages& packets);
  void start_send(hamtune::express::Kernel& kernel);
  void start_receive(hamtune::express::Kernel& kernel);
  void settle(hamtune::express::Kernel& kernel, MPI_Status* status);
  void note_wait(hamtune::express::Kernel& kernel) const;
  static void note_wait_for_all(hamtune::express::Kernel& kernel, int count, MPI_Request requests[]);
  static void complete(MPI_Request& request, MPI_Status* status);
  static void complete_without_message(MPI_Request& request, MPI_Status* status);
  bool has(unsigned flag) const { return (flags_ & flag) != 0; }
  bool to_nobody() const { return source_ == MPI_PROC_NULL || target_ == MPI_PROC_NULL; }

  void* buffer_;
  void* old_buffer_;
  MPI_Datatype type_;
  size_t size_;
  aid_t source_;
  aid_t target_;
  int tag_;
  aid_t real_source_;
  int real_tag_;
  bool truncated_;
  bool unmatched_types_;
  size_t real_size_;
  MPI_Comm communicator_;
  hamtune::express::Pending* message_;
  unsigned flags_;
  bool detached_;
  MPI_Request detached_sender_;
  int holders_;
  unsigned int number_;  // among the messages of its kind
  MPI_Op op_;
  std::unique_ptr<int> generalized_;
  std::vector<MPI_Request> parts_;  // of a non-blocking collective
  Group* group_;  // of the communicator; here the library remembers the sender's host
};

}  // namespace simgrid::smpi
