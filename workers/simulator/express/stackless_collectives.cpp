// Collectives that are played: see collective_expansion.hpp.
#include <utility>

#include "workers/simulator/express/stackless_player.hpp"

namespace hamtune::express {

/// One that is known is played; another operation than a collective is the stack's.
bool StacklessPlayer::start_collective() {
  const Operation& call = operation();
  stage_ = Stage::stack;
  if (!is_collective(call.code) || call.nonblocking || !expansions().may_be_used()) return true;
  const Circle& among = circle();
  ExpandedCall& known = expansions().call(call, values(), among.rank, among.size);
  if (const Expansion* const all = known.of(among.rank); all != nullptr) {
    expanded_.all = all;
    expanded_.step = expanded_.started = expanded_.paid = 0;
    expanded_.requests.resize(all->requests);
    stage_ = Stage::expand;
    expansions().note_played();
  } else if (known.is_to_be_recorded(among.rank)) {
    recorded_ = &known;
    recording_ = std::make_unique<Recording>(among.communicator, among.rank, among.size);
    kernel_.running().recording = recording_.get();
  }
  return true;
}

/// The next step of a collective.
bool StacklessPlayer::expand() {
  if (expanded_.step == expanded_.all->steps.size()) {
    expanded_.all = nullptr;
    expanded_.pays_later = false;
    stage_ = Stage::end;
    return true;
  }
  const ExpandedStep& step = expanded_.all->steps[expanded_.step];
  if (step.kind == ExpandedStep::Kind::pay) return pay(step);
  ++expanded_.step;
  expanded_.pays_later = step.kind == ExpandedStep::Kind::wait_unpaid;
  if (step.kind == ExpandedStep::Kind::wait || expanded_.pays_later) {
    for (std::uint32_t item = 0; item < step.count; ++item) {
      Pending*& request = expanded_.requests[expanded_.all->awaited[step.request + item] - 1];
      if (request != nullptr) open_.push_back(std::exchange(request, nullptr));
    }
    return finish();
  }
  const Circle& among = circle();
  const int peer = peer_of(step, among.rank, among.size);
  if (step.kind == ExpandedStep::Kind::send)
    return send(peer, {nullptr, step.tag, step.bytes, step.mode}, step.is_immediate);
  const aid_t source = peer == MPI_ANY_SOURCE ? static_cast<aid_t>(peer) : among.group->actor(peer);
  expanded_.requests[expanded_.started++] =
      &messages_.post_receive({source, step.tag, among.id}, nullptr, step.bytes, step.count);
  return true;
}

/// For each receive: its time, then how late the rank is after it.
bool StacklessPlayer::pay(const ExpandedStep& step) {
  stage_ = Stage::expand;
  if (messages_.receives_are_free() || expanded_.paid == 2 * step.count) {
    expanded_.paid = 0;
    ++expanded_.step;
    return true;
  }
  const bool is_receive = expanded_.paid++ % 2 == 0;
  return spend(is_receive ? messages_.expense_of_receive(step.bytes)
                          : messages_.lateness_after(step.bytes),
               Stage::expand);
}

}  // namespace hamtune::express
