// What traces and requests are read with: numbers, nesting, and whom a rank names.
#include <limits>
#include <map>
#include <string>

#include "searchspace/kernels/trace/byte_cursor.hpp"
#include "searchspace/kernels/trace/call_sharing.hpp"
#include "searchspace/kernels/trace/party_places.hpp"
#include "searchspace/kernels/trace/shallow_json.hpp"
#include "tests/native.hpp"

namespace hamtune {
namespace {

TEST_CASE("numbers are read as they were written") {
  Random random(1);
  Bytes bytes;
  std::vector<std::uint64_t> numbers{0, 1, 127, 128, 16383, 16384, 0x7FFFFFFF,
                                     std::numeric_limits<std::uint64_t>::max()};
  for (int each = 0; each < 300; ++each) numbers.push_back(random.next() >> random.below(64));
  for (const std::uint64_t number : numbers) append_varint(number, bytes);
  std::vector<std::int32_t> signed_numbers{0, -1, 1, -64, 64, 0x7FFFFFFF, -0x7FFFFFFF - 1};
  for (const std::int32_t number : signed_numbers) append_signed(number, bytes);
  ByteCursor cursor(bytes);
  for (const std::uint64_t number : numbers) REQUIRE(cursor.varint() == number);
  for (const std::int32_t number : signed_numbers)
    REQUIRE(cursor.signed_number(-0x7FFFFFFF - 1) == number);
  CHECK(cursor.at_end());
  CHECK(cursor.offset() == bytes.size());
}

TEST_CASE("numbers that are too large, or end too early, are refused") {
  const auto cursor = [](const Bytes& bytes) { return ByteCursor(bytes); };
  const Bytes eleven(11, 0x80);
  CHECK_THROWS_WITH(cursor(eleven).varint(), "a number does not fit 64 bits");
  Bytes just(9, 0xFF);
  just.push_back(0x01);
  CHECK(cursor(just).varint() == std::numeric_limits<std::uint64_t>::max());
  just.back() = 0x02;
  CHECK_THROWS_AS(cursor(just).varint(), TraceError);
  const Bytes cut{0x80};
  CHECK_THROWS_WITH(cursor(cut).varint(), "it runs past the end of its block");
  Bytes large;
  append_varint(std::uint64_t{1} << 31U, large);
  CHECK_THROWS_AS(cursor(large).number(), TraceError);
  Bytes below;
  append_signed(-3, below);
  CHECK_THROWS_AS(cursor(below).signed_number(-2), TraceError);
  CHECK(cursor(below).signed_number(-3) == -3);
  const Bytes seven(7, 0);
  CHECK_THROWS_AS(cursor(seven).real(), TraceError);
  const Bytes list{5, 0, 0, 0, 0};  // of five items there are four bytes
  CHECK_THROWS_AS(cursor(list).length(), TraceError);
}

TEST_CASE("JSON of more than 64 levels is refused before it is parsed, whatever stands in strings") {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  CHECK_FALSE(parse_shallow(nested(64)).is_discarded());
  CHECK(parse_shallow(nested(65)).is_discarded());
  CHECK(parse_shallow(std::string(1'000'000, '[')).is_discarded());
  CHECK(parse_shallow("{\"a\":" + nested(64) + "}").is_discarded());
  // Brackets within a string nest nothing, also behind an escaped quote or backslash.
  const std::string brackets(100, '[');
  CHECK(parse_shallow("\"" + brackets + "\"") == brackets);
  CHECK(parse_shallow("\"\\\"" + brackets + "\"") == "\"" + brackets);
  CHECK(parse_shallow("[\"\\\\\", " + nested(64) + "]").is_discarded());
  // Lists beside each other are not deep.
  std::string wide = "[";
  for (int each = 0; each < 200; ++each) wide += "[],";
  CHECK(parse_shallow(wide + "[]]").size() == 201);
  CHECK(parse_shallow("{\"a\": 1").is_discarded());
  CHECK(parse_shallow("\"open \\").is_discarded());
}

TEST_CASE("whom a rank names has a place, the same each time") {
  Random random(2);
  PartyPlaces places;
  std::map<PartyPlaces::Address, std::int32_t> known;
  for (int each = 0; each < 3000; ++each) {
    const PartyPlaces::Address address{random.below(7), static_cast<std::int32_t>(random.below(200)) - 2};
    const auto [place, is_new] = places.place_of(address, known.size());
    const auto found = known.find(address);
    REQUIRE(is_new == (found == known.end()));
    if (is_new)
      known.emplace(address, place);
    else
      REQUIRE(place == found->second);
  }
  CHECK(known.size() > 1000);
}

}  // namespace
}  // namespace hamtune
