// The bytes are the operations of the ranks of a trace, "|HT|" between two ranks, without finalize:
// mutations of a file would hardly ever get past its header and its compression.
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "searchspace/kernels/trace/rank_decoder.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"
#include "tests/fuzz/trace_reading.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view kBetween = "|HT|";
constexpr std::size_t kMostRanks = 16;

std::vector<Bytes> split(const std::uint8_t* data, std::size_t size) {
  std::vector<Bytes> ranks;
  const std::uint8_t* const end = data + size;
  while (ranks.size() < kMostRanks) {
    const std::uint8_t* const stop = std::search(data, end, kBetween.begin(), kBetween.end());
    Bytes& rank = ranks.emplace_back(data, stop);
    rank.push_back(static_cast<std::uint8_t>(hamtune::Code::finalize));
    if (stop == end) break;
    data = stop + kBetween.size();
  }
  return ranks;
}

void append_number(std::string& file, std::size_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    file.push_back(static_cast<char>(number >> shift & 0xFFU));
}

/// The file, its blocks stored as they are.
std::string to_file(const std::vector<Bytes>& ranks) {
  std::string blocks;
  nlohmann::json listed = nlohmann::json::array();
  for (const Bytes& rank : ranks) {
    uLongf length = compressBound(rank.size());
    Bytes packed(length);
    hamtune::fuzz::require(compress2(packed.data(), &length, rank.data(), rank.size(), 0) == Z_OK,
                           "a block can be stored");
    blocks.append(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
    listed.push_back({{"compressed", length},
                      {"bytes", rank.size()},
                      {"operations", hamtune::decode_rank(rank).operations}});
  }
  const std::string header =
      nlohmann::json{{"ranks", ranks.size()}, {"program", "fuzz"}, {"blocks", listed}}.dump();
  std::string file = "HAMTRACE";
  append_number(file, 1);
  append_number(file, header.size());
  return file + header + blocks;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string file = to_file(split(data, size));
    hamtune::fuzz::read_as_trace(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  } catch (const hamtune::TraceError& error) {
    hamtune::fuzz::require(hamtune::fuzz::is_plain_line(error.what()),
                           "operations are refused in one plain line");
  }
  return 0;
}
