#include "workers/simulator/express/trace_player.hpp"

#include <exception>
#include <utility>

#include "workers/simulator/calls.hpp"
#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/packet_messages.hpp"
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

class StacklessPlayer final : public TracePlayer, public Player {
 public:
  StacklessPlayer(Kernel& kernel, const Score& score)
      : kernel_(kernel),
        messages_(*kernel.packets()),
        score_(score),
        trace_(score.trace),
        slots_(score.trace.slots, nullptr),
        clock_cost_(simgrid::config::get_value<double>("smpi/wtime")) {}

  bool play() override;
  void leave_to_stack(std::uint32_t slot) override { slots_[slot] = &on_stack; }
  bool go_on() override;

 private:
  /// What is to be done when the rank goes on.
  enum class Stage : std::uint8_t {
    begin,     // the operation at the position
    compute,   // on a core that others may use: it is told so now
    post,      // the send that has been paid for
    finish,    // begin to wait for what is open
    all_done,  // all of that is
    one_done,  // or one of it
    late,      // its receive has been paid for
    forget,    // it
    end,       // the operation
    stack,     // needs that
    done,      // with the trace
  };

  struct Circle {
    simgrid::smpi::Group* group = nullptr;
    int id = 0;
  };

  bool step();
  bool begin();
  void pass_marks();
  double flops_behind();
  bool is_marked(std::size_t operation) const;
  bool compute(double flops, Stage next);
  bool spend(const PacketMessages::Expense& expense, Stage next);
  bool start_send();
  bool post();
  void receive(std::int32_t party, std::int32_t tag, std::size_t room);
  void keep(Pending* pending);
  void open(std::uint32_t slot);
  bool free_request();
  bool finalize();
  bool finish();
  bool settle_all();
  bool await_next();
  bool settle_one();
  bool forget_one();
  void note_fit(const Pending& pending);
  bool leave_finished();
  const Circle& circle();
  const Operation& operation() const { return trace_.operations[score_.position.operation]; }
  const std::int32_t* values() const { return trace_.values.data() + operation().more; }

  Kernel& kernel_;
  PacketMessages& messages_;
  Score score_;
  const RankTrace& trace_;
  Stage stage_ = Stage::begin;
  Stage after_ = Stage::begin;  // a computation
  bool leaves_ = false;         // the operation to the stack, once what is open is done
  bool fits_ = true;            // all that was received
  bool is_last_ = false;        // only freed requests are left
  bool stack_frees_ = false;    // requests of its own
  Actor* target_ = nullptr;     // of the send
  std::size_t left_ = 0;        // of what is open, not done or not forgotten
  std::vector<Pending*> slots_;
  std::vector<Pending*> open_;  // that the rank waits for
  std::vector<Pending*> freed_;
  std::vector<Circle> circles_;
  std::unique_ptr<Activity> computation_;
  std::optional<Awaited> awaited_;  // where each message costs something when it has come
  double clock_cost_;               // s
  std::exception_ptr error_;
};

bool StacklessPlayer::play() {
  stage_ = Stage::begin;
  kernel_.play(*this);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return stage_ == Stage::stack;
}

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
      receive(values()[0], values()[1], bytes_of(values()[2], values()[3]));
      return start_send();
    case Code::recv:
    case Code::irecv:
      receive(next.party, next.tag, bytes_of(next.count, next.type_size));
      return finish();
    default:
      stage_ = Stage::stack;
      return true;
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

bool StacklessPlayer::start_send() {
  const Operation& send = operation();
  if (send.party == kNoPeer) {
    keep(nullptr);
    return finish();
  }
  const std::size_t bytes = bytes_of(send.count, send.type_size);
  target_ = &kernel_.receiver(circle().group->actor(trace_.party(send.party)));
  return spend(messages_.expense_of_send(*target_, bytes, is_immediate(send.code)), Stage::post);
}

bool StacklessPlayer::post() {
  const Operation& send = operation();
  keep(messages_.post_send({kernel_.running().number, send.tag, circle().id}, *target_,
                           {nullptr, bytes_of(send.count, send.type_size)}, mode_of(send.code)));
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
  if (messages_.receives_are_free() && !is_last_) {
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
  score_.position.only_freed_since.reset();
  if (!fits_) check_mpi(MPI_ERR_TRUNCATE);
  stage_ = leaves_ ? Stage::stack : Stage::end;
  return true;
}

const StacklessPlayer::Circle& StacklessPlayer::circle() {
  for (std::size_t next = circles_.size(); next < score_.communicators.size(); ++next) {
    const MPI_Comm made = score_.communicators[next];
    circles_.push_back(made == MPI_COMM_NULL ? Circle() : Circle{made->group(), made->id()});
  }
  return circles_[operation().communicator];
}

}  // namespace

std::unique_ptr<TracePlayer> make_player(const Score& score) {
  if (kernel() == nullptr || kernel()->packets() == nullptr) return nullptr;
  return std::make_unique<StacklessPlayer>(*kernel(), score);
}

}  // namespace hamtune::express
