// How a trace is played without a stack: see trace_player.hpp.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "workers/simulator/express/collective_expansion.hpp"
#include "workers/simulator/express/kernel.hpp"
#include "workers/simulator/express/packet_messages.hpp"
#include "workers/simulator/express/trace_player.hpp"

namespace hamtune::express {

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
  void leave_to_stack(std::uint32_t slot) override;
  bool go_on() override;

 private:
  /// What is to be done when the rank goes on.
  enum class Stage : std::uint8_t {
    begin,     // the operation at the position
    expand,    // the collective there goes on
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

  /// A communicator.
  struct Circle {
    MPI_Comm communicator = MPI_COMM_NULL;
    simgrid::smpi::Group* group = nullptr;
    int id = 0;
    int size = 0;
    int rank = 0;  // its own there
  };

  /// What is sent once it has been paid for.
  struct Outgoing {
    Actor* target = nullptr;
    int tag = 0;
    std::size_t bytes = 0;
    PacketMessages::Mode mode = PacketMessages::Mode::standard;
  };

  /// A collective that is played.
  struct Expanded {
    const Expansion* all = nullptr;  // null: none is
    std::size_t step = 0;
    std::size_t started = 0;          // requests
    std::uint32_t paid = 0;           // halves of a step that pays for several receives
    bool pays_later = false;          // for what it waits for
    std::vector<Pending*> requests;   // in the order in which they started
  };

  bool step();
  bool begin();
  void pass_marks();
  double flops_behind();
  bool is_marked(std::size_t operation) const;
  bool compute(double flops, Stage next);
  bool spend(const PacketMessages::Expense& expense, Stage next);
  bool start_collective();
  bool expand();
  bool pay(const ExpandedStep& step);
  bool send(int peer, const Outgoing& message, bool is_immediate);
  void foresee_send(std::int32_t party);
  void foresee_next();
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
  Outgoing outgoing_;
  Expanded expanded_;
  ExpandedCall* recorded_ = nullptr;   // while the stack is used
  std::unique_ptr<Recording> recording_;
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

}  // namespace hamtune::express
