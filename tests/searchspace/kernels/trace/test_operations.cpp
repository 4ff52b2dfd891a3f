// The operations of a rank: written, taken apart, put together, and broken in every way.
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "searchspace/kernels/trace/byte_cursor.hpp"
#include "searchspace/kernels/trace/call_sharing.hpp"
#include "searchspace/kernels/trace/collective_messages.hpp"
#include "searchspace/kernels/trace/rank_decoder.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

/// Writes operations as docs/trace-format.md says.
class Writer {
 public:
  Writer& operation(Code code, const std::vector<std::uint64_t>& numbers = {}) {
    bytes.push_back(static_cast<std::uint8_t>(code));
    for (const std::uint64_t number : numbers) append_varint(number, bytes);
    return *this;
  }
  Writer& compute(double flops) {
    bytes.push_back(static_cast<std::uint8_t>(Code::compute));
    std::uint8_t written[sizeof flops];
    std::memcpy(written, &flops, sizeof flops);
    bytes.insert(bytes.end(), written, written + sizeof flops);
    return *this;
  }
  Bytes finalized() { return operation(Code::finalize).bytes; }

  Bytes bytes;
};

std::uint64_t z(std::int64_t number) {
  return static_cast<std::uint64_t>(number < 0 ? -2 * number - 1 : 2 * number);
}

/// What a rank could have done: any operations, whose requests are all completed.
Bytes random_rank(Random& random, std::size_t operations) {
  Writer writer;
  std::vector<bool> open;
  std::uint64_t communicators = 2;
  const auto any = [&](std::uint32_t limit) { return std::uint64_t{random.below(limit)}; };
  for (std::size_t each = 0; each < operations; ++each) {
    const std::uint64_t communicator = any(static_cast<std::uint32_t>(communicators));
    const std::uint64_t peer = z(static_cast<std::int64_t>(any(30)) - 1);
    const std::uint64_t tag = z(static_cast<std::int64_t>(any(100)));
    switch (random.below(9)) {
      case 0: writer.compute(static_cast<double>(any(3)) * 1e6); break;
      case 1: writer.operation(Code::send, {communicator, peer, tag, any(1000), any(16)}); break;
      case 2: writer.operation(Code::recv, {communicator, z(-2), z(-1), any(1000), 8}); break;
      case 3: {
        std::size_t slot = 0;
        while (slot < open.size() && open[slot]) ++slot;
        if (slot == open.size()) open.push_back(false);
        open[slot] = true;
        writer.operation(Code::irecv, {slot, communicator, z(-2), z(-1), any(1000), 8});
        if (random.below(2) == 0) writer.operation(Code::match, {slot, z(static_cast<std::int64_t>(any(30))), tag});
        break;
      }
      case 4: {
        std::vector<std::uint64_t> slots{0};
        for (std::size_t slot = 0; slot < open.size(); ++slot)
          if (open[slot]) slots.push_back(slot);
        slots[0] = slots.size() - 1;
        open.clear();
        writer.operation(Code::waitall, slots);
        // Slots are the lowest free ones, so all are closed before others are taken.
        break;
      }
      case 5: writer.operation(Code::allreduce, {communicator, any(1000), 8, any(4)}); break;
      case 6:
        writer.operation(Code::comm_split, {communicator, z(static_cast<std::int64_t>(any(4)) - 1), z(-5)});
        ++communicators;
        break;
      case 7: writer.operation(Code::alltoallv, {communicator, 8, 8, 0, 2, 1, 2, 3, 4}); break;
      default:
        writer.operation(Code::sendrecv, {communicator, peer, tag, 5, 8, peer, tag, 6, 8});
    }
  }
  return writer.finalized();
}

Bytes whole(const RankParts& parts) {
  return put_together(parts.calls, parts.parties, parts.flops.data(), parts.flops.size());
}

std::string refusal(const Bytes& block) {
  try {
    decode_rank(block);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a rank's operations by hand") {
  Writer writer;
  writer.compute(2.5).operation(Code::send, {0, z(3), z(7), 10, 8}).compute(0);
  writer.operation(Code::irecv, {0, 0, z(-2), z(-1), 10, 8}).operation(Code::match, {0, z(3), z(9)});
  writer.operation(Code::pcontrol, {z(1)}).operation(Code::wait, {0});
  writer.operation(Code::gather, {0, 0, 1, 4, 1, 4, 0});
  const DecodedRank rank = decode_rank(writer.finalized());
  const RankTrace& trace = rank.trace;
  REQUIRE(trace.operations.size() == 6);  // nothing computed, the match and the mark stand elsewhere
  CHECK(trace.operations[0].code == Code::compute);
  CHECK(trace.flops[0] == 2.5);
  CHECK(trace.party(trace.operations[1].party) == 3);
  CHECK(trace.operations[2].code == Code::irecv);
  CHECK(trace.operations[2].party == trace.operations[1].party);  // the same peer, patched in
  CHECK(trace.operations[2].tag == 9);
  REQUIRE(trace.marks.size() == 1);
  CHECK(trace.marks[0].before == 3);
  CHECK(trace.slots == 1);
  CHECK(trace.values[trace.operations[4].more] == 1);  // what gather receives
  CHECK(operation_name(Code::gather, true) == "igather");
  CHECK(operation_name(static_cast<Code>(18), false) == "code 18");
}

TEST_CASE("operations that cannot be are refused in words") {
  const auto after = [](Code code, const std::vector<std::uint64_t>& numbers) {
    return refusal(Writer().operation(code, numbers).finalized());
  };
  const auto says = [](const std::string& message, const std::string& words) {
    CAPTURE(message);
    CHECK(message.find(words) != std::string::npos);
  };
  says(after(Code::wait, {0}), "there is no open request in slot 0");
  says(after(Code::isend, {1, 0, z(1), z(0), 1, 1}), "request slots are not taken in order");
  says(after(Code::send, {2, z(1), z(0), 1, 1}), "there is no communicator 2");
  says(after(Code::send, {0, z(-2), z(0), 1, 1}), "below its least value");
  says(after(Code::comm_free, {0}), "not freed");
  says(after(Code::allreduce, {0, 1, 8, 8}), "unknown flags");
  says(after(static_cast<Code>(18), {}), "unknown operation code");
  says(after(static_cast<Code>(static_cast<int>(Code::send) + kNonblocking), {}), "unknown operation code");
  says(after(Code::send, {0, z(1), z(0), std::uint64_t{1} << 31U, 1}), "exceeds 2147483647");
  says(after(Code::waitall, {100'000'000}), "runs past the end");
  Writer twice;
  for (int each = 0; each < 2; ++each) twice.operation(Code::isend, {0, 0, z(1), z(0), 1, 1});
  says(refusal(twice.finalized()), "the request slot is in use");
  Writer match;
  match.operation(Code::isend, {0, 0, z(1), z(0), 1, 1}).operation(Code::match, {0, z(1), z(1)});
  says(refusal(match.finalized()), "the request is not a receive");
  for (const double flops : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    says(refusal(Writer().compute(flops).finalized()), "negative or not finite");
  CHECK(refusal({}) != "");
  Bytes more = Writer().finalized();
  more.push_back(static_cast<std::uint8_t>(Code::wtime));
  CHECK(refusal(more) != "");  // finalize is last
}

TEST_CASE("whatever a rank did, every part of its block alone is refused") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Bytes block = random_rank(random, 12);
    REQUIRE(refusal(block) == "");
    for (std::size_t size = 0; size < block.size(); ++size)
      REQUIRE(refusal(Bytes(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size))) != "");
  }
}

TEST_CASE("blocks with any bytes changed are decoded or refused, never more") {
  Random random(77);
  const Bytes block = random_rank(random, 60);
  std::size_t refused = 0;
  for (int each = 0; each < 4000; ++each) {
    Bytes broken = block;
    for (std::uint32_t change = 0; change <= random.below(3); ++change)
      broken[random.below(static_cast<std::uint32_t>(broken.size()))] =
          static_cast<std::uint8_t>(random.below(256));
    refused += refusal(broken).empty() ? 0 : 1;
    for (const Writing writing : {Writing::whole, Writing::shared}) {
      try {
        decode_rank(broken, 0, writing);
        TakingApart taking;
        taking.feed(broken.data(), broken.size());
        taking.finish();
        whole(taking.parts);
      } catch (const TraceError&) {
      }
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("what is taken apart in any pieces is put together to the same bytes") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Bytes block = random_rank(random, 50);
    TakingApart taking;
    for (std::size_t at = 0; at < block.size();) {
      const std::size_t size = std::min<std::size_t>(block.size() - at, 1 + random.below(40));
      taking.feed(block.data() + at, size);
      at += size;
    }
    taking.finish();
    const Bytes again = whole(taking.parts);

    // Computations of nothing are gone; all else decodes to the same.
    const DecodedRank one = decode_rank(block);
    const DecodedRank other = decode_rank(again);
    const DecodedRank shared = decode_rank(taking.parts.calls, 0, Writing::shared);
    REQUIRE(one.trace.operations.size() == other.trace.operations.size());
    REQUIRE(one.trace.operations.size() == shared.trace.operations.size());
    CHECK(other.operations == taking.parts.operations);
    CHECK(shared.trace.parties_used == taking.parts.parties.size());
    for (std::size_t at = 0; at < one.trace.operations.size(); ++at) {
      const Operation& operation = one.trace.operations[at];
      const Operation& alike = shared.trace.operations[at];
      REQUIRE(std::memcmp(&operation, &other.trace.operations[at], sizeof operation) == 0);
      REQUIRE(operation.code == alike.code);
      REQUIRE(operation.count == alike.count);
      if (names_party(operation.code))
        REQUIRE(one.trace.party(operation.party) ==
                (alike.party < 0 ? alike.party
                                 : taking.parts.parties[static_cast<std::size_t>(alike.party)]));
    }
    REQUIRE(taking.parts.flops.size() == one.trace.flops.size());
    for (std::size_t at = 0; at < taking.parts.flops.size(); ++at)
      CHECK(taking.parts.flops[at] == one.trace.flops[at]);
  }
}

TEST_CASE("shared operations ask for no more than a rank has") {
  const Bytes block = Writer().compute(1).operation(Code::send, {0, z(1), z(0), 1, 1}).finalized();
  TakingApart taking;
  taking.feed(block.data(), block.size());
  taking.finish();
  const RankParts& parts = taking.parts;
  CHECK(put_together(parts.calls, parts.parties, parts.flops.data(), 1) == block);
  CHECK_THROWS_WITH(put_together(parts.calls, parts.parties, nullptr, 0),
                    "it has more computations than flops");
  CHECK_THROWS_WITH(put_together(parts.calls, {}, parts.flops.data(), 1),
                    "it names more parties than the rank has");
}

/// A trace of two ranks, of which the first sends so often and then calls an alltoall.
Trace sending(std::size_t times) {
  Operation send{}, alltoall{};
  send.code = Code::send;
  send.party = 0;
  alltoall.code = Code::alltoall;
  send.count = alltoall.count = 1;
  send.type_size = alltoall.type_size = 8;
  std::vector<Operation> operations(times, send);
  operations.push_back(alltoall);
  Trace trace;
  trace.ranks.resize(2);
  const auto everyone = std::make_shared<const Members>(Members{0, 1});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    RankTrace& own = trace.ranks[rank];
    own.operations = rank == 0 ? operations : std::vector<Operation>{alltoall};
    own.values = std::vector<std::int32_t>{1, 8};
    own.parties = {1};
    own.communicators = {everyone};
    own.places = {rank};
  }
  return trace;
}

TEST_CASE("no more messages of a trace are looked at than are asked for") {
  const Trace trace = sending(5);
  MessageFilter filter;
  filter.collectives.assign(17, Spread::kDirect);
  std::size_t all = 0;
  visit_messages(trace, filter, [&](const CountedMessage&) { return ++all > 0; });
  REQUIRE(all >= 7);
  for (std::size_t most = 1; most <= all; ++most) {
    std::size_t seen = 0;
    visit_messages(trace, filter, [&](const CountedMessage&) { return ++seen < most; });
    CHECK(seen == most);
  }
}

}  // namespace
}  // namespace hamtune
