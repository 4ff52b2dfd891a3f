// One rank of an application: its operations as ordinary MPI calls.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "searchspace/kernels/trace/trace.hpp"
#include "workers/simulator/express/trace_player.hpp"
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
  std::optional<double> only_freed_since() const { return position_.only_freed_since; }

 private:
  void pass_marks();
  void call(const Operation& operation);
  void call_message(const Operation& operation);
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
  express::Position position_;
  std::unique_ptr<express::TracePlayer> player_;  // of what needs no stack; none where all does
  std::vector<MPI_Comm> communicators_;
  std::vector<MPI_Request> requests_;  // by slot
  std::vector<MPI_Request> freed_;     // completed at the end
};

}  // namespace hamtune
