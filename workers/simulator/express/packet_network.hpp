// A network of queues, through which messages go as trains of packets.
//
// Each cable is an output queue, served in order of arrival (Karol, Hluchyj and Morgan 1987). What is
// queued is a train: packets of one message that follow each other without a gap (Jain and Routhier
// 1986). The first of them goes on to the next queue when it has been received whole (store and
// forward), or as soon as its head has (virtual cut-through, Kermani and Kleinrock 1979); the others
// follow it. So a train that meets no other traffic takes as long as its packets would, however many
// they are, and one that does waits for whole trains where packets would take turns.
//
// When a train comes to a queue, it is known when it will leave it: when what came before has left, and
// its own bytes have crossed the cable. So there is one event a train and hop, and nothing to solve.
//
// In a lossless fabric with buffers of finite size a train crosses a cable only when the buffer behind it
// has room, which it gives back when the train has left the next queue (credits). Then it is not known
// when a train will leave, and there are two events a train and hop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "workers/simulator/express/due_streams.hpp"
#include "workers/simulator/network.hpp"

namespace hamtune::express {

/// The queues between two hosts, in travel order.
struct Path {
  struct Step {
    std::uint32_t link = 0;   // number
    std::uint32_t holds = 0;  // 1: packets are received whole behind it before they go on
  };

  const Step* steps = nullptr;
  std::uint32_t count = 0;
  std::uint32_t first_link = 0;  // of the first step, which need not be looked at for it
};

/// Bytes on their way from one host to another.
struct Flow {
  Path path;
  double payload = 0;  // bytes that count as load of the cables
  double bytes = 0;    // on the wire, not sent yet
  std::uint8_t train_class = 0;  // its longest trains are of two to the power of this packets
  bool is_sending = false;       // some but not all of it
};

class PacketNetwork {
 public:
  static constexpr double kNever = DueStreams::kNever;
  static constexpr std::size_t kTrainClasses = 24;

  /// What becomes of messages.
  struct Packets {
    bool cut_through = false;
    double size = 0;  // bytes of a full packet on the wire
    double head = 0;  // bytes of it that have to be there before it is cut through
    double buffer = kNever;  // bytes behind each cable
    double burst = 0;        // bytes that an idle cable lets pass at once
  };

  /// What has become of a flow.
  struct Progress {
    Flow* flow = nullptr;
    bool has_arrived = false;  // whole; or else a train has left its first queue
  };

  /// The network must outlive it.
  PacketNetwork(Network& network, const Packets& packets);

  /// The path between two different hosts; it lives as long as the network. Of parallel cables it takes
  /// number `lane`, modulo how many there are.
  Path path(Node source, Node target, std::uint32_t lane);

  /// Has the processor fetch what the next train of a path needs.
  void fetch(const Path& path) const;

  /// The next train of a flow comes to the first queue of its path. Returns when it will have left that,
  /// s; kNever where that is not known: then `advance` tells.
  double send_train(Flow& flow, double now);

  /// When the next train comes to a queue or to its target, s.
  double next_date() const { return due_.first().date(); }

  /// Handles the events up to a date, until one is to be told of. Returns that and sets `now` to its date;
  /// no flow when there are no more.
  Progress advance(double until, double& now);

  /// Whether trains wait for buffers, and no event is left that could free any.
  bool is_blocked() const { return due_.is_empty() && held_ > 0; }

  /// A message between ranks of one host: when all of it is there, s. It has the bandwidth of the
  /// loopback to itself, and shares the memory of the host, where that is limited, in order of arrival.
  double cross_memory(Node host, double bytes, double now);

  /// Has the network know what has crossed its cables.
  void tell_loads();

 private:
  /// On its way behind a queue. It fills a cache line, and so does a link: there are few calculations
  /// between looks at another of either.
  struct alignas(64) Train {
    double date;  // when its head comes to the next queue, or all of it to the target, s
    double tail;  // when its last byte comes to the next queue, s
    double bytes;
    double load;  // payload of the whole flow, with its last train; else 0
    Flow* flow;
    const Path::Step* next;  // the queue that it comes to
    Train* behind;
    std::uint32_t link;           // of that
    std::uint32_t steps : 30;     // queues that it still comes to
    std::uint32_t was_held : 1;   // before it, to be received whole
    std::uint32_t is_last : 1;
  };

  /// Trains in the order of their dates.
  struct Stream {
    Train* first = nullptr;
    Train* last = nullptr;
  };

  /// A queue and the cable behind it. Trains leave it in order, and so they come to what is next.
  struct alignas(64) Link {
    double seconds_per_byte = 0;
    double latency = 0;
    double free = 0;  // when all that came has left, s
    double load = 0;  // payload bytes so far
    Stream onward;    // to the next queue
    Stream home;      // last trains to their targets
  };

  /// Of a link, where buffers are finite.
  struct Credit {
    static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

    Stream waiting;           // trains that have not begun to cross it
    double room = 0;          // bytes left in the buffer behind it
    bool is_busy = false;
    double leaving = 0;       // bytes of the train that crosses it
    std::uint32_t before = kNone;  // the link over which that came
    Flow* sender = nullptr;   // or whose it is, if it came over none
  };

  /// Of a link that is the first one of flows.
  struct Turns {
    std::array<std::uint32_t, kTrainClasses> flows{};  // that are sending, by class
  };

  double turn(const Flow& flow);
  void count_turns(const Flow& flow, int change);
  double enter(Train& train);
  double cross(Train& train, double starts);
  void queue(Train& train, double now);
  void start_next(std::uint32_t number, double now);
  Flow* leave(double now);
  double held_bytes(double bytes) const;
  /// The number of the stream of a link, behind the numbers of all links; the one that arrives is next.
  std::uint32_t onward(std::uint32_t link) const {
    return static_cast<std::uint32_t>(links_.size()) + 2 * link;
  }
  Stream& stream(std::uint32_t number) {
    const std::size_t place = number - links_.size();
    Link& link = links_[place / 2];
    return place % 2 == 0 ? link.onward : link.home;
  }
  void push(std::uint32_t number, Train& train);
  void add_due(double date, std::uint32_t number);
  Train& take();
  void fill_hole();
  void fetch_ahead(std::size_t place, std::uint32_t number) const;
  auto fetcher() const {
    return [this](std::size_t place, std::uint32_t number) { fetch_ahead(place, number); };
  }
  Train& make_train();
  void discard(Train& train);

  Network& network_;
  Packets packets_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> first_lane_;  // by the link's number in the network
  std::vector<Credit> credits_;            // by link; none where buffers are without limit
  std::vector<Turns> turns_;               // by link; none before the first long flow
  std::vector<double> left_;               // by link: when the last train has left, s; none without bursts
  std::size_t held_ = 0;                   // trains that wait in queues with credits
  DueStreams due_;                         // also numbers of links that trains have crossed
  bool has_hole_ = false;                  // in place of the first of these
  Train* spare_ = nullptr;
  std::pmr::monotonic_buffer_resource memory_;
};

/// Has the processor fetch what is needed of a stream that has come near to being due: all of it is all over the
/// memory, and each event has to wait for what the one before needs. First the link, a level of the heap
/// nearer the train, another level nearer what that comes to, and what follows it.
[[gnu::always_inline]] inline void PacketNetwork::fetch_ahead(std::size_t place, std::uint32_t number) const {
  constexpr std::size_t kFirstLevel = DueStreams::kChildren;
  constexpr std::size_t kSecondLevel = DueStreams::kChildren * (kFirstLevel + 1);
  constexpr std::size_t kThirdLevel = DueStreams::kChildren * (kSecondLevel + 1);
  if (place > kThirdLevel || number < links_.size()) return;
  const std::size_t at = number - links_.size();
  const Link& link = links_[at / 2];
  if (place > kSecondLevel) {
    __builtin_prefetch(&link);
    return;
  }
  const Train* const train = at % 2 == 0 ? link.onward.first : link.home.first;
  if (place > kFirstLevel) {
    __builtin_prefetch(train);
    return;
  }
  __builtin_prefetch(train->behind);
  if (train->steps > 0)
    __builtin_prefetch(&links_[train->link]);
  else
    __builtin_prefetch(train->flow);
}

}  // namespace hamtune::express
