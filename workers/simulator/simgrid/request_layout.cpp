// Has the library make a request of values that are all different, and looks for them in our members.
#include <new>

#include "workers/simulator/simgrid/layout.hpp"
#include "workers/simulator/simgrid/request.hpp"

namespace simgrid::smpi {

std::string Request::broken_layout() {
  constexpr int kCount = 3;
  constexpr int kCommunicator = 78;
  constexpr aid_t kFrom = 1'234'567;
  constexpr aid_t kTo = 7'654'321;
  constexpr int kTag = 31'337;
  static hamtune::Sentinels<2 * hamtune::kCommunicatorRoom> communicator;
  static hamtune::Sentinels<4 * sizeof(Request)> room;
  static unsigned char payload[kCount * sizeof(double)];
  auto* const world = ::new (communicator.place()) Comm(MPI_GROUP_EMPTY, nullptr, false, kCommunicator);
  const auto& made = *::new (room.place()) Request(payload, kCount, MPI_DOUBLE, kFrom, kTo, kTag, world,
                                                   kPersistent | kSend);
  if (room.used() > sizeof(Request) || room.used() + sizeof(void*) < sizeof(Request))
    return "it takes " + std::to_string(room.used()) + " bytes, not " + std::to_string(sizeof(Request));
  const struct {
    const char* name;
    bool holds;
  } members[] = {
      {"buffer", made.buffer_ == payload && made.old_buffer_ == payload},
      {"type", made.type_ == MPI_DOUBLE},
      {"size", made.size_ == sizeof payload},
      {"source", made.source_ == kFrom && made.real_source_ == 0},
      {"target", made.target_ == kTo},
      {"tag", made.tag_ == kTag && made.real_tag_ == 0},
      {"truncated", !made.truncated_ && !made.unmatched_types_ && made.real_size_ == 0},
      {"communicator", made.communicator_ == world},
      {"activity", made.message_ == nullptr},
      {"flags", made.flags_ == (kPersistent | kSend)},
      {"detached", !made.detached_ && made.detached_sender_ == nullptr},
      {"holders", made.holders_ == 1 && made.number_ == 0},
      {"operation", made.op_ == MPI_REPLACE},
      {"parts", made.generalized_ == nullptr && made.parts_.empty()},
      {"host", made.group_ == nullptr},
  };
  for (const auto& member : members)
    if (!member.holds) return std::string("its ") + member.name + " is not where it was";
  return {};
}

}  // namespace simgrid::smpi
