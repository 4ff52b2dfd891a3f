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
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <vector>

#include "workers/simulator/network.hpp"

namespace hamtune::express {

/// The links between two hosts, in travel order, by number.
struct Path {
  const std::uint32_t* links = nullptr;
  std::uint32_t count = 0;
};

/// Bytes on their way from one host to another.
struct Flow {
  Path path;
  double bytes = 0;        // on the wire, not sent yet
  double train = 0;        // most that is sent at once
  std::uint32_t lane = 0;  // which of parallel cables, modulo their number
};

/// Items in the order of their coming, in one piece of memory.
template <typename Item>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  const Item& front() const { return items_[first_]; }

  void push(const Item& item) {
    if (count_ == items_.size()) grow();
    items_[(first_ + count_++) & (items_.size() - 1)] = item;
  }

  Item pop() {
    const Item item = items_[first_];
    first_ = (first_ + 1) & (items_.size() - 1);
    --count_;
    return item;
  }

 private:
  void grow() {
    std::vector<Item> larger(items_.empty() ? 4 : 2 * items_.size());
    for (std::size_t index = 0; index < count_; ++index)
      larger[index] = items_[(first_ + index) & (items_.size() - 1)];
    items_.swap(larger);
    first_ = 0;
  }

  std::vector<Item> items_;  // as many as a power of two
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

class PacketNetwork {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// What becomes of messages.
  struct Packets {
    bool cut_through = false;
    double size = 0;  // bytes of a full packet on the wire
    double head = 0;  // bytes of it that have to be there before it is cut through
  };

  /// The network must outlive it.
  PacketNetwork(Network& network, const Packets& packets);

  /// The path between two different hosts; it lives as long as the network.
  Path path(Node source, Node target);

  /// Counts payload that enters the cables of a path.
  void count_load(const Flow& flow, double bytes);

  /// The next train of a flow comes to the first queue of its path. Returns when it has left that, s.
  double send_train(Flow& flow, double now);

  /// When the next train comes to a queue or to its target, s.
  double next_date() const { return due_.empty() ? kNever : due_.front().date; }

  /// Handles the events up to a date, until a flow has arrived whole. Returns that one and sets `now` to
  /// when it did; null when there are no more.
  Flow* advance(double until, double& now);

  /// A message between ranks of one host: when all of it is there, s. It has `bandwidth` (bytes/s) to
  /// itself, and shares the memory of the host, where that is limited, in order of arrival.
  double cross_memory(Node host, double bytes, double now);

 private:
  struct Train {
    double date;  // when its head comes to the next queue, or all of it to the target, s
    double tail;  // when its last byte comes to the next queue, s
    double bytes;
    Flow* flow;
    std::uint32_t hop;  // of the next queue
    bool is_last;
  };

  /// A queue and the cable behind it. Those who leave it do so in order, and so they arrive.
  struct Link {
    double seconds_per_byte = 0;
    double latency = 0;
    double free = 0;         // when all that came has left, s
    double* load = nullptr;  // payload bytes so far, where they count
    std::uint32_t lanes = 1;  // parallel cables: this one, and those whose numbers follow
    bool stores = false;      // packets are received whole behind it before they go on
    Ring<Train> onward;       // to the next queue
    Ring<Train> home;         // last trains to their targets
  };

  /// Trains of one link, of which the first is due.
  struct Due {
    double date;
    std::uint32_t stream;  // twice the number of the link; one more for those that arrive

    bool before(const Due& other) const {
      return date < other.date || (date == other.date && stream < other.stream);
    }
  };

  double enter(const Train& train);
  double kept_bytes(const Train& train) const;
  Ring<Train>& trains_of(std::uint32_t stream) {
    Link& link = links_[stream / 2];
    return stream % 2 == 0 ? link.onward : link.home;
  }
  void push(std::uint32_t stream, const Train& train);
  void rise(std::size_t place, const Due& due);
  void sink(std::size_t place, const Due& due);
  Train take();

  Network& network_;
  Packets packets_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> first_lane_;  // by the link's number in the network
  std::vector<Due> due_;                   // a heap, the first due first
  std::pmr::monotonic_buffer_resource paths_;
};

}  // namespace hamtune::express
