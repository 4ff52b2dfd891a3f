#include "workers/simulator/collectives/along_trees.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace hamtune::collectives {

namespace {

/// The pieces in which a block travels.
class Segments {
 public:
  Segments(const Block& block, SegmentBytes bytes) : block_(block), each_(std::max(block.count, 1)) {
    const std::size_t element = std::max<std::size_t>(bytes_of(1, block.type), 1);
    if (bytes >= element && bytes < element * static_cast<std::size_t>(block.count)) {
      const std::size_t rest = bytes % element;
      each_ = static_cast<int>(bytes / element) + (rest > element / 2 ? 1 : 0);
    }
  }

  int count() const { return block_.count > 0 ? (block_.count - 1) / each_ + 1 : 1; }

  Block operator[](int number) const { return of(block_, number); }

  /// The same piece of a block that is alike.
  Block of(const Block& other, int number) const {
    const int first = number * each_;
    return other.part(first, std::min(each_, block_.count - first));
  }

 private:
  Block block_;
  int each_;
};

void pass_on(const Block& segment, const Place& place, MPI_Comm communicator) {
  std::vector<MPI_Request> sends;
  for (const int child : place.children) sends.push_back(start_send(segment, child, communicator));
  wait_all(sends);
}

/// Takes what the children of a rank send, in their order, and has one receive posted ahead.
class Children {
 public:
  Children(const Place& place, const Segments& segments, const Block& like, MPI_Comm communicator)
      : place_(place), segments_(segments), communicator_(communicator) {
    const std::size_t bytes = static_cast<std::size_t>(like.count) * stride_of(like.type);
    for (std::size_t room = 0; room < rooms_.size(); ++room) {
      rooms_[room].reset(new unsigned char[std::max<std::size_t>(bytes, 1)]);
      blocks_[room] = {rooms_[room].get(), like.count, like.type};
    }
    post(0);
  }

  void combine_next(const Block& with, MPI_Op op) {
    const int number = taken_++;
    post(taken_);
    const std::size_t room = static_cast<std::size_t>(number) % rooms_.size();
    wait(requests_[room]);
    const Block found = segments_.of(blocks_[room], segment_of(number));
    MPI_Reduce_local(found.begin, with.begin, with.count, with.type, op);
  }

 private:
  int segment_of(int number) const { return number / static_cast<int>(place_.children.size()); }

  void post(int number) {
    const int children = static_cast<int>(place_.children.size());
    if (number >= children * segments_.count()) return;
    const std::size_t room = static_cast<std::size_t>(number) % rooms_.size();
    requests_[room] =
        start_receive(segments_.of(blocks_[room], segment_of(number)),
                      place_.children[static_cast<std::size_t>(number % children)], communicator_);
  }

  const Place& place_;
  const Segments& segments_;
  MPI_Comm communicator_;
  std::array<std::unique_ptr<unsigned char[]>, 2> rooms_;
  std::array<Block, 2> blocks_;
  std::array<MPI_Request, 2> requests_ = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int taken_ = 0;
};

}  // namespace

int broadcast(const Block& block, int root, MPI_Comm communicator, Tree& tree, SegmentBytes segment) {
  const Place place = tree(rank_in(communicator), ranks_of(communicator), root);
  const Segments segments(block, segment);
  std::array<MPI_Request, 2> receives = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const auto expect = [&](int number) {
    if (place.parent >= 0 && number < segments.count())
      receives[static_cast<std::size_t>(number % 2)] =
          start_receive(segments[number], place.parent, communicator);
  };
  expect(0);
  for (int number = 0; number < segments.count(); ++number) {
    expect(number + 1);
    if (place.parent >= 0) wait(receives[static_cast<std::size_t>(number % 2)]);
    if (!place.children.empty()) pass_on(segments[number], place, communicator);
  }
  return MPI_SUCCESS;
}

int reduce(const void* from, const Block& into, MPI_Op op, int root, MPI_Comm communicator, Tree& tree,
           SegmentBytes segment) {
  const Place place = tree(rank_in(communicator), ranks_of(communicator), root);
  const bool is_root = place.parent < 0;
  const std::size_t bytes = static_cast<std::size_t>(into.count) * stride_of(into.type);
  const Block own = {const_cast<void*>(from == MPI_IN_PLACE ? into.begin : from), into.count, into.type};
  const Segments segments(own, segment);
  if (place.children.empty()) {
    for (int number = 0; !is_root && number < segments.count(); ++number)
      send(segments[number], place.parent, communicator);
    if (is_root) copy(own, into);
    return MPI_SUCCESS;
  }
  std::unique_ptr<unsigned char[]> room;
  Block sum = into;
  if (!is_root) {
    room.reset(new unsigned char[std::max<std::size_t>(bytes, 1)]);
    sum.begin = room.get();
  }
  copy(own, sum);
  Children children(place, segments, own, communicator);
  for (int number = 0; number < segments.count(); ++number) {
    const Block piece = segments.of(sum, number);
    for (std::size_t child = 0; child < place.children.size(); ++child)
      children.combine_next(piece, op);
    if (!is_root) send(piece, place.parent, communicator);
  }
  return MPI_SUCCESS;
}

}  // namespace hamtune::collectives
