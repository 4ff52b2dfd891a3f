// Queues of nodes by their gain, held against plain lists.
#include "searchspace/kernels/graph/waiting_nodes.hpp"

#include <algorithm>
#include <set>

#include "tests/native.hpp"

namespace hamtune {
namespace {

constexpr std::size_t kQueues = 3;
constexpr std::size_t kBuckets = 9;

/// What is where, bucket by bucket.
struct Model {
  std::vector<std::vector<Node>> buckets{kQueues * kBuckets};

  std::vector<Node>& at(std::size_t queue, std::size_t bucket) {
    return buckets[queue * kBuckets + bucket];
  }
  void put(std::size_t queue, std::size_t bucket, Node node) { at(queue, bucket).push_back(node); }
  void take(std::size_t queue, std::size_t bucket, Node node) {
    std::vector<Node>& nodes = at(queue, bucket);
    nodes.erase(std::find(nodes.begin(), nodes.end(), node));
  }
  int highest(std::size_t queue) {
    for (std::size_t bucket = kBuckets; bucket-- > 0;)
      if (!at(queue, bucket).empty()) return static_cast<int>(bucket);
    return -1;
  }
};

/// Puts, shifts and takes at random; the queue must agree on the highest bucket at every step. `nodes` may be
/// more than a word of bits.
template <typename Waiting, typename CheckFirst>
void try_at_random(std::uint32_t nodes, std::uint64_t seed, CheckFirst check_first) {
  Random random(seed);
  Waiting waiting(nodes, kQueues, kBuckets);
  for (int round = 0; round < 3; ++round) {
    Model model;
    waiting.clear();
    std::vector<std::size_t> queue(nodes), bucket(nodes);
    std::vector<bool> waits(nodes, true);
    for (Node node = 0; node < nodes; ++node) {
      queue[node] = random.below(kQueues);
      bucket[node] = random.below(kBuckets);
      model.put(queue[node], bucket[node], node);
      waiting.put(queue[node], bucket[node], node);
    }
    for (int step = 0; step < 400; ++step) {
      for (std::size_t each = 0; each < kQueues; ++each) {
        const int highest = waiting.highest(each);
        REQUIRE(highest == model.highest(each));
        if (highest < 0) continue;
        const auto top = static_cast<std::size_t>(highest);
        check_first(waiting.first(each, top), model.at(each, top));
      }
      const Node node = random.below(nodes);
      if (waits[node] && random.below(8) == 0) {
        waiting.take(queue[node], bucket[node], node);
        model.take(queue[node], bucket[node], node);
        waits[node] = false;
        continue;
      }
      const std::size_t to = random.below(kBuckets);
      waiting.shift(queue[node], bucket[node], to, node);  // nothing, if it does not wait
      if (!waits[node]) continue;
      model.take(queue[node], bucket[node], node);
      model.put(queue[node], to, node);
      bucket[node] = to;
    }
  }
}

TEST_CASE("linked lists: the last node in is the first out") {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    try_at_random<WaitingLists>(30, seed, [](Node first, const std::vector<Node>& bucket) {
      REQUIRE(first == bucket.back());
    });
}

TEST_CASE("sets of bits: the first is one of the bucket, whatever the number of words") {
  for (const std::uint32_t nodes : {5U, 64U, 65U, 130U})
    try_at_random<WaitingBits>(nodes, nodes, [](Node first, const std::vector<Node>& bucket) {
      REQUIRE(std::find(bucket.begin(), bucket.end(), first) != bucket.end());
    });
}

TEST_CASE("sets of bits prefer a node whose gain has changed") {
  WaitingBits waiting(4, 1, kBuckets);
  waiting.clear();
  waiting.put(0, 3, 0);
  waiting.put(0, 2, 1);
  CHECK(waiting.first(0, 3) == 0);
  waiting.shift(0, 2, 3, 1);
  CHECK(waiting.first(0, 3) == 1);
}

}  // namespace
}  // namespace hamtune
