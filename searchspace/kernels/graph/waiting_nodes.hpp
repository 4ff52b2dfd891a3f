// Nodes that wait to be moved, by the queue they are in and the bucket of their gain. Plain C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "searchspace/kernels/graph/graph.hpp"

namespace hamtune {

/// Buckets as linked lists (Fiduccia and Mattheyses 1982), the last one in first out.
class WaitingLists {
 public:
  WaitingLists(std::size_t nodes, std::size_t queues, std::size_t buckets)
      : buckets_(buckets),
        head_(queues * buckets),
        highest_(queues),
        before_(nodes),
        after_(nodes),
        waits_(nodes) {}

  void clear() {
    std::fill(head_.begin(), head_.end(), kNone);
    std::fill(highest_.begin(), highest_.end(), -1);
    std::fill(waits_.begin(), waits_.end(), std::uint8_t{0});
  }

  void put(std::size_t queue, std::size_t bucket, Node node) {
    Node& head = head_[queue * buckets_ + bucket];
    before_[node] = kNone;
    after_[node] = head;
    if (head != kNone) before_[head] = node;
    head = node;
    waits_[node] = 1;
    highest_[queue] = std::max(highest_[queue], static_cast<int>(bucket));
  }

  void take(std::size_t queue, std::size_t bucket, Node node) {
    if (before_[node] != kNone)
      after_[before_[node]] = after_[node];
    else
      head_[queue * buckets_ + bucket] = after_[node];
    if (after_[node] != kNone) before_[after_[node]] = before_[node];
    waits_[node] = 0;
  }

  /// Puts a node into another bucket; one that does not wait stays as it is.
  void shift(std::size_t queue, std::size_t from, std::size_t to, Node node) {
    if (waits_[node] == 0) return;
    take(queue, from, node);
    put(queue, to, node);
  }

  /// The highest bucket in which a node waits, -1 when there is none.
  int highest(std::size_t queue) {
    int& highest = highest_[queue];
    while (highest >= 0 && head_[queue * buckets_ + static_cast<std::size_t>(highest)] == kNone)
      --highest;
    return highest;
  }

  /// The node of a bucket, which is not empty, whose turn it is.
  Node first(std::size_t queue, std::size_t bucket) const { return head_[queue * buckets_ + bucket]; }

 private:
  static constexpr Node kNone = 0xFFFFFFFF;

  std::size_t buckets_;
  std::vector<Node> head_;    // by queue and bucket
  std::vector<int> highest_;  // by queue: no node waits above it
  std::vector<Node> before_;
  std::vector<Node> after_;
  std::vector<std::uint8_t> waits_;
};

/// Buckets as sets of bits, for few nodes: several times as fast as lists, whose branches nobody can
/// predict. First are those nodes of a bucket whose gain has changed, which is nearly what
/// last in, first out comes to.
class WaitingBits {
 public:
  static constexpr std::size_t kMostBuckets = 64;

  WaitingBits(std::size_t nodes, std::size_t queues, std::size_t buckets)
      : words_((nodes + 63) / 64),
        buckets_(buckets),
        bits_(queues * buckets * words_),
        changed_(words_),
        filled_(queues) {}

  void clear() {
    std::fill(bits_.begin(), bits_.end(), std::uint64_t{0});
    std::fill(changed_.begin(), changed_.end(), std::uint64_t{0});
    std::fill(filled_.begin(), filled_.end(), std::uint64_t{0});
  }

  void put(std::size_t queue, std::size_t bucket, Node node) {
    set(queue, bucket)[node / 64] |= bit(node);
    filled_[queue] |= std::uint64_t{1} << bucket;
  }

  void take(std::size_t queue, std::size_t bucket, Node node) {
    set(queue, bucket)[node / 64] &= ~bit(node);
  }

  /// Puts a node into another bucket; one that does not wait stays as it is.
  void shift(std::size_t queue, std::size_t from, std::size_t to, Node node) {
    std::uint64_t& word = set(queue, from)[node / 64];
    const std::uint64_t waits = word & bit(node);
    word ^= waits;
    set(queue, to)[node / 64] |= waits;
    changed_[node / 64] |= waits;
    filled_[queue] |= std::uint64_t{1} << to;
  }

  /// The highest bucket in which a node waits, -1 when there is none.
  int highest(std::size_t queue) {
    std::uint64_t& filled = filled_[queue];
    while (filled != 0) {
      const int bucket = 63 - __builtin_clzll(filled);
      const std::uint64_t* const words = set(queue, static_cast<std::size_t>(bucket));
      std::uint64_t any = 0;
      for (std::size_t word = 0; word < words_; ++word) any |= words[word];
      if (any != 0) return bucket;
      filled ^= std::uint64_t{1} << bucket;
    }
    return -1;
  }

  /// The node of a bucket, which is not empty, whose turn it is.
  Node first(std::size_t queue, std::size_t bucket) const {
    const std::uint64_t* const words = bits_.data() + (queue * buckets_ + bucket) * words_;
    for (std::size_t word = 0; word < words_; ++word)
      if ((words[word] & changed_[word]) != 0) return lowest(word, words[word] & changed_[word]);
    std::size_t word = 0;
    while (words[word] == 0) ++word;
    return lowest(word, words[word]);
  }

 private:
  static std::uint64_t bit(Node node) { return std::uint64_t{1} << (node % 64); }

  static Node lowest(std::size_t word, std::uint64_t bits) {
    return static_cast<Node>(word * 64) + static_cast<Node>(__builtin_ctzll(bits));
  }

  std::uint64_t* set(std::size_t queue, std::size_t bucket) {
    return bits_.data() + (queue * buckets_ + bucket) * words_;
  }

  std::size_t words_;  // of a set
  std::size_t buckets_;
  std::vector<std::uint64_t> bits_;     // sets by queue and bucket
  std::vector<std::uint64_t> changed_;  // nodes whose gain has changed
  std::vector<std::uint64_t> filled_;   // by queue: all other buckets are empty
};

}  // namespace hamtune
