// One rank of an application: its operations as ordinary MPI calls.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "searchspace/kernels/trace.hpp"
#include "workers/simulator/express/direct_messages.hpp"
#include "workers/simulator/payload.hpp"

namespace hamtune {

class Rank {
 public:
  /// `at_mark`, where it is set, is called at every mark of the trace.
  Rank(const RankTrace& trace, Payload& payload, std::function<void()> at_mark)
      : trace_(trace), payload_(payload), at_mark_(std::move(at_mark)) {}

  /// Once after MPI_Init, inside the rank's actor.
  static void prepare();

  /// Replays everything between MPI_Init and MPI_Finalize; runs inside the rank's actor.
  ///
  /// Throws MpiError, and whatever SMPI's collective algorithms throw.
  void replay(MPI_Comm world);

  /// The operation the rank is in, for messages: "allreduce (operation 12 of 90)".
  std::string whereabouts() const;

  /// Since when, s, nothing is left to the rank but requests that it has freed. MPI ends without those
  /// whose other end never comes.
  std::optional<double> only_freed_since() const { return only_freed_since_; }

 private:
  void pass_marks();
  double flops_behind();
  bool is_marked(std::size_t operation) const;
  void call(const Operation& operation);
  void call_message(const Operation& operation);
  void call_directly(const Operation& operation);
  void finish(const std::vector<express::Pending*>& messages);
  void wait_for(std::uint32_t slot);
  void call_sendrecv(const Operation& operation);
  void wait_for_all(const Operation& operation);
  void wait_for_freed();
  bool is_plain_copy(const Operation& operation) const;
  void create_communicator(const Operation& operation);
  const std::int32_t* values(const Operation& operation) const {
    return trace_.values.data() + operation.more;
  }

  const RankTrace& trace_;
  compat::ActorOfRank actor_;
  Payload& payload_;
  std::function<void()> at_mark_;
  std::size_t at_ = 0;
  std::size_t next_mark_ = 0;
  std::vector<MPI_Comm> communicators_;
  std::vector<MPI_Request> requests_;  // by slot
  std::vector<MPI_Request> freed_;     // completed at the end
  std::vector<express::Pending*> messages_;        // by slot, where messages go directly
  std::vector<express::Pending*> freed_messages_;  // completed at the end
  std::optional<double> only_freed_since_;
};

}  // namespace hamtune
