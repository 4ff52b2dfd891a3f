// Heaps of vertices, the best first, of which any can change. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hamtune::mapper {

/// Where each vertex stands in its heap; heaps that have no vertex in common may share it.
using HeapPlaces = std::vector<std::uint32_t>;

/// A binary heap of vertices: the highest gain comes first, and of equal ones the lowest number, so that
/// what is first does not depend on what was done before.
class BestFirst {
 public:
  struct Entry {
    std::int32_t gain;
    std::uint32_t vertex;
  };

  bool empty() const { return heap_.empty(); }
  const Entry& first() const { return heap_.front(); }
  void clear() { heap_.clear(); }

  void add(Entry entry, HeapPlaces& places) {
    heap_.push_back(entry);
    rise(heap_.size() - 1, entry, places);
  }

  /// Of a vertex that is in the heap.
  void change(Entry entry, HeapPlaces& places) {
    const std::size_t at = places[entry.vertex];
    if (before(entry, heap_[at]))
      rise(at, entry, places);
    else
      sink(at, entry, places);
  }

  void remove(std::uint32_t vertex, HeapPlaces& places) {
    const std::size_t at = places[vertex];
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    if (before(last, heap_[at]))
      rise(at, last, places);
    else
      sink(at, last, places);
  }

  /// Calls `visit` for the vertices whose gain is no less than `least()`, which may rise meanwhile.
  template <typename Least, typename Visit>
  void visit_from(const Least& least, const Visit& visit, std::size_t at = 0) const {
    if (at >= heap_.size() || heap_[at].gain < least()) return;
    visit(heap_[at].vertex);
    visit_from(least, visit, 2 * at + 1);
    visit_from(least, visit, 2 * at + 2);
  }

 private:
  static bool before(const Entry& one, const Entry& other) {
    return one.gain != other.gain ? one.gain > other.gain : one.vertex < other.vertex;
  }

  void rise(std::size_t at, Entry entry, HeapPlaces& places) {
    for (; at > 0 && before(entry, heap_[(at - 1) / 2]); at = (at - 1) / 2)
      set(at, heap_[(at - 1) / 2], places);
    set(at, entry, places);
  }

  void sink(std::size_t at, Entry entry, HeapPlaces& places) {
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], entry)) break;
      set(at, heap_[child], places);
      at = child;
    }
    set(at, entry, places);
  }

  void set(std::size_t at, Entry entry, HeapPlaces& places) {
    heap_[at] = entry;
    places[entry.vertex] = static_cast<std::uint32_t>(at);
  }

  std::vector<Entry> heap_;
};

}  // namespace hamtune::mapper
