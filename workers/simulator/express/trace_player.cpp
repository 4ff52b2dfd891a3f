#include "workers/simulator/express/trace_player.hpp"

#include <utility>

#include "workers/simulator/calls.hpp"
#include "workers/simulator/express/stackless_player.hpp"
#include "workers/simulator/progress.hpp"

namespace hamtune::express {

namespace {

using Mode = PacketMessages::Mode;

/// In place of a message in a slot whose request is the stack's.
PacketPending on_stack;

std::size_t bytes_of(std::int32_t count, std::int32_t size) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

Mode mode_of(Code code) {
  switch (code) {
    case Code::ssend:
    case Code::issend:
      return Mode::synchronous;
    case Code::bsend:
      return Mode::buffered;
    default:
      return Mode::standard;
  }
}

bool is_immediate(Code code) {
  return code == Code::isend || code == Code::issend || code == Code::sendrecv;
}

}  // namespace

bool StacklessPlayer::play() {
  stage_ = Stage::begin;
  if (recording_) {
    kernel_.running().recording = nullptr;
    expansions().keep(*recorded_, *recording_);
    recording_.reset();
  }
  kernel_.play(*this);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return stage_ == Stage::stack;
}

void StacklessPlayer::leave_to_stack(std::uint32_t slot) { slots_[slot] = &on_stack; }

bool StacklessPlayer::go_on() {
  try {
    while (step())
      if (stage_ == Stage::stack || stage_ == Stage::done) return false;
    return true;
  } catch (...) {
    error_ = std::current_exception();
    return false;
  }
}

/// False where the rank has to wait before the next one.
bool StacklessPlayer::step() {
  switch (stage_) {
    case Stage::begin:
      return begin();
    case Stage::expand:
      computation_.reset();
      return expand();
    case Stage::compute:
      kernel_.pause_idle();
      stage_ = after_;
      return false;
    case Stage::post:
      computation_.reset();
      return post();
    case Stage::finish:
      return finish();
    case Stage::all_done:
      return settle_all();
    case Stage::one_done:
      return settle_one();
    case Stage::late: {
      computation_.reset();
      const auto& receive = static_cast<const PacketReceive&>(*open_[awaited_->told]);
      return spend(messages_.lateness_after(receive.bytes), Stage::forget);
    }
    case Stage::forget:
      return forget_one();
    case Stage::end:
      computation_.reset();
      ++score_.position.operation;
      stage_ = Stage::begin;
      return true;
    default:
      return true;
  }
}

bool StacklessPlayer::begin() {
  if (score_.position.operation == trace_.operations.size()) {
    stage_ = Stage::done;
    return true;
  }
  pass_marks();
  progress::pass_operation();
  leaves_ = false;
  const Operation& next = operation();
  switch (next.code) {
    case Code::compute: {
      const double flops = trace_.flops[next.more];
      return compute(flops + flops_behind(), Stage::end);
    }
    case Code::wtime:
      stage_ = Stage::end;
      if (clock_cost_ > 0) kernel_.start_sleep(clock_cost_);
      return !(clock_cost_ > 0);
    case Code::wait:
      open(next.slot);
      return finish();
    case Code::waitall:
      for (std::int32_t item = 1; item <= values()[0]; ++item)
        open(static_cast<std::uint32_t>(values()[item]));
      return finish();
    case Code::request_free:
      return free_request();
    case Code::finalize:
      return finalize();
    case Code::send:
    case Code::ssend:
    case Code::bsend:
    case Code::isend:
    case Code::issend:
      return start_send();
    case Code::sendrecv:
      foresee_send(next.party);
      receive(values()[0], values()[1], bytes_of(values()[2], values()[3]));
      return start_send();
    case Code::recv:
    case Code::irecv:
      foresee_next();
      receive(next.party, next.tag, bytes_of(next.count, next.type_size));
      return finish();
    default:
      return start_collective();
  }
}

void StacklessPlayer::pass_marks() {
  std::size_t& mark = score_.position.next_mark;
  for (; mark < trace_.marks.size() && trace_.marks[mark].before <= score_.position.operation; ++mark)
    if (score_.at_mark) score_.at_mark();
}

/// What follows a computation without a mark between: both may as well be one.
double StacklessPlayer::flops_behind() {
  std::size_t& at = score_.position.operation;
  double flops = 0;
  while (at + 1 < trace_.operations.size() && trace_.operations[at + 1].code == Code::compute &&
         !is_marked(at + 1)) {
    progress::pass_operation();
    flops += trace_.flops[trace_.operations[++at].more];
  }
  return flops;
}

/// Whether a mark that somebody heeds stands before an operation.
bool StacklessPlayer::is_marked(std::size_t operation) const {
  const std::size_t mark = score_.position.next_mark;
  return score_.at_mark && mark < trace_.marks.size() && trace_.marks[mark].before == operation;
}

bool StacklessPlayer::compute(double flops, Stage next) {
  computation_ = kernel_.start_execution(flops);
  after_ = next;
  stage_ = computation_ ? Stage::compute : next;
  return false;
}

bool StacklessPlayer::spend(const PacketMessages::Expense& expense, Stage next) {
  using Kind = PacketMessages::Expense::Kind;
  stage_ = next;
  if (expense.kind == Kind::none) return true;
  if (expense.kind == Kind::late) {
    kernel_.start_sleep(expense.seconds);
    return false;
  }
  const double speed = kernel_.machine().host(kernel_.running().host).speed;
  return compute(expense.seconds * speed, next);
}

/// Has what a send looks at fetched while something else is done.
void StacklessPlayer::foresee_send(std::int32_t party) {
  const std::int32_t peer = trace_.party(party);
  if (peer >= 0) messages_.foresee_send(circle().group->actor(peer));
}

void StacklessPlayer::foresee_next() {
  const std::size_t behind = score_.position.operation + 1;
  if (behind == trace_.operations.size()) return;
  const Operation& next = trace_.operations[behind];
  if (next.code == Code::send || next.code == Code::isend) foresee_send(next.party);
}

bool StacklessPlayer::start_send() {
  const Operation& next = operation();
  if (next.party == kNoPeer) {
    keep(nullptr);
    return finish();
  }
  const std::size_t bytes = bytes_of(next.count, next.type_size);
  return send(trace_.party(next.party), {nullptr, next.tag, bytes, mode_of(next.code)},
              is_immediate(next.code));
}

bool StacklessPlayer::send(int peer, const Outgoing& message, bool is_immediate) {
  outgoing_ = message;
  const aid_t target = circle().group->actor(peer);
  messages_.foresee_way(target);
  outgoing_.target = &kernel_.receiver(target, message.tag);
  return spend(messages_.expense_of_send(*outgoing_.target, message.bytes, is_immediate), Stage::post);
}

bool StacklessPlayer::post() {
  Pending* const pending =
      messages_.post_send({kernel_.running().number, outgoing_.tag, circle().id}, *outgoing_.target,
                          {nullptr, outgoing_.bytes}, outgoing_.mode);
  if (expanded_.all != nullptr) {
    expanded_.requests[expanded_.started++] = pending;
    stage_ = Stage::expand;
    return true;
  }
  keep(pending);
  return finish();
}

void StacklessPlayer::receive(std::int32_t party, std::int32_t tag, std::size_t room) {
  const std::int32_t peer = trace_.party(party);
  if (peer == kNoPeer) {
    keep(nullptr);
    return;
  }
  const aid_t source = peer == kAnySource ? static_cast<aid_t>(MPI_ANY_SOURCE)
                                          : circle().group->actor(peer);
  keep(&messages_.post_receive({source, tag == kAnyTag ? MPI_ANY_TAG : tag, circle().id}, nullptr,
                               room));
}

/// What the operation has started is waited for at once, or stands in its slot.
void StacklessPlayer::keep(Pending* pending) {
  const Code code = operation().code;
  if (code == Code::isend || code == Code::issend || code == Code::irecv)
    slots_[operation().slot] = pending;
  else if (pending != nullptr)
    open_.push_back(pending);
}

/// The request of a slot is to be finished.
void StacklessPlayer::open(std::uint32_t slot) {
  Pending* const pending = std::exchange(slots_[slot], nullptr);
  if (pending == &on_stack)
    leaves_ = true;
  else if (pending != nullptr)
    open_.push_back(pending);
}

bool StacklessPlayer::free_request() {
  Pending* const pending = std::exchange(slots_[operation().slot], nullptr);
  const bool is_on_stack = pending == &on_stack;
  if (is_on_stack)
    stack_frees_ = true;
  else if (pending != nullptr)
    freed_.push_back(pending);
  stage_ = is_on_stack ? Stage::stack : Stage::end;
  return true;
}

/// One freed request after the other, since the other end of some may never come.
bool StacklessPlayer::finalize() {
  is_last_ = true;
  leaves_ = stack_frees_;
  open_.swap(freed_);
  return finish();
}

bool StacklessPlayer::finish() {
  fits_ = true;
  left_ = open_.size();
  if ((messages_.receives_are_free() || expanded_.pays_later) && !is_last_) {
    stage_ = Stage::all_done;
    if (!messages_.expect_all(open_, left_)) return true;
    kernel_.pause();
    return false;
  }
  awaited_.emplace(open_);
  messages_.expect(*awaited_);
  return await_next();
}

bool StacklessPlayer::settle_all() {
  for (Pending* const pending : open_) {
    note_fit(*pending);
    messages_.release(*pending);
  }
  return leave_finished();
}

bool StacklessPlayer::await_next() {
  if (left_ == 0) {
    awaited_.reset();
    return leave_finished();
  }
  if (is_last_) score_.position.only_freed_since = Kernel::now();
  stage_ = Stage::one_done;
  if (!messages_.expect_next(*awaited_)) return true;
  kernel_.pause();
  return false;
}

bool StacklessPlayer::settle_one() {
  const auto& pending = static_cast<const PacketPending&>(*open_[awaited_->told]);
  note_fit(pending);
  stage_ = Stage::forget;
  if (pending.is_send || messages_.receives_are_free()) return true;
  const std::size_t bytes = static_cast<const PacketReceive&>(pending).bytes;
  return spend(messages_.expense_of_receive(bytes), Stage::late);
}

bool StacklessPlayer::forget_one() {
  messages_.release(*open_[awaited_->told]);
  --left_;
  return await_next();
}

void StacklessPlayer::note_fit(const Pending& pending) {
  if (static_cast<const PacketPending&>(pending).is_send) return;
  const auto& receive = static_cast<const PacketReceive&>(pending);
  fits_ = fits_ && receive.bytes <= receive.room;
}

/// Nothing is open any more. Throws MpiError if a message was longer than its receive.
bool StacklessPlayer::leave_finished() {
  open_.clear();
  if (expanded_.all != nullptr) {  // SMPI's algorithms do not look at it
    stage_ = Stage::expand;
    return true;
  }
  score_.position.only_freed_since.reset();
  if (!fits_) check_mpi(MPI_ERR_TRUNCATE);
  stage_ = leaves_ ? Stage::stack : Stage::end;
  return true;
}

const StacklessPlayer::Circle& StacklessPlayer::circle() {
  for (std::size_t next = circles_.size(); next < score_.communicators.size(); ++next) {
    const MPI_Comm made = score_.communicators[next];
    Circle& circle = circles_.emplace_back();
    if (made == MPI_COMM_NULL) continue;
    simgrid::smpi::Group* const group = made->group();
    circle = {made, group, number_of(made), made->size(), group->rank(kernel_.running().number)};
  }
  return circles_[operation().communicator];
}

std::unique_ptr<TracePlayer> make_player(const Score& score) {
  if (kernel() == nullptr || kernel()->packets() == nullptr) return nullptr;
  return std::make_unique<StacklessPlayer>(*kernel(), score);
}

}  // namespace hamtune::express
