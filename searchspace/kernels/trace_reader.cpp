// The container of a trace: header and compressed blocks.
#include "searchspace/kernels/trace_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "searchspace/kernels/call_checks.hpp"
#include "searchspace/kernels/communicators.hpp"
#include "searchspace/kernels/rank_decoder.hpp"
#include "searchspace/kernels/shallow_json.hpp"

namespace hamtune {

namespace {

using Json = nlohmann::json;

constexpr std::array<char, 8> kMagic = {'H', 'A', 'M', 'T', 'R', 'A', 'C', 'E'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kMaxHeader = 8U << 20;
constexpr std::uint64_t kMaxRanks = 65'536;
constexpr std::uint64_t kMaxBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kMaxOperations = 100'000'000;  // 3.2 GB in memory
constexpr double kMostWeight = 1e9;
constexpr std::uint64_t kMaxRatio = 1'100;             // zlib compresses at most 1032 to 1

constexpr std::array<std::string_view, 9> kKeys = {
    "ranks",    "program", "arguments", "captured_by", "host_speed",
    "measured", "repeats", "weights",   "blocks"};

struct Block {
  std::uint64_t compressed;
  std::uint64_t bytes;
  std::uint64_t operations;
};

/// A file that knows how much of it is left.
class File {
 public:
  explicit File(const std::string& path) : file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
    if (!file_) throw TraceError("cannot open the trace: " + std::string(std::strerror(errno)));
    if (std::fseek(file_.get(), 0, SEEK_END) != 0) throw TraceError("the trace is not a file");
    const long size = std::ftell(file_.get());
    if (size < 0) throw TraceError("the trace is not a file");
    left_ = static_cast<std::uint64_t>(size);
    std::rewind(file_.get());
  }

  std::uint64_t left() const { return left_; }

  void read(void* into, std::uint64_t bytes) {
    if (bytes > left_ || std::fread(into, 1, bytes, file_.get()) != bytes)
      throw TraceError("the trace is cut short");
    left_ -= bytes;
  }

  std::uint32_t read_u32() {
    std::array<unsigned char, 4> bytes{};
    read(bytes.data(), bytes.size());
    std::uint32_t value = 0;
    for (unsigned index = 0; index < bytes.size(); ++index)
      value |= std::uint32_t{bytes[index]} << 8 * index;
    return value;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uint64_t left_ = 0;
};

std::uint64_t count_in(const Json& object, const char* key, std::uint64_t limit) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned())
    throw TraceError("the trace's header has no whole number \"" + std::string(key) + "\"");
  const auto value = found->get<std::uint64_t>();
  if (value < 1 || value > limit)
    throw TraceError("\"" + std::string(key) + "\" in the trace's header is " +
                     std::to_string(value) + "; allowed: 1 to " + std::to_string(limit));
  return value;
}

std::string text_in(const Json& value, const char* what) {
  if (!value.is_string()) throw TraceError("the trace's header: " + std::string(what) + " is no text");
  return value.get<std::string>();
}

/// Weights of stretches: lists of the same length, of numbers from 0 up.
std::vector<std::vector<double>> parse_weights(const Json& lists) {
  if (!lists.is_array() || lists.empty())
    throw TraceError("the trace's header: weights are no lists");
  std::vector<std::vector<double>> weights;
  for (const Json& list : lists) {
    if (!list.is_array() || list.empty() || list.size() != lists.front().size())
      throw TraceError("the trace's header: weights are no lists of one length");
    weights.emplace_back();
    for (const Json& weight : list) {
      const double least = weights.size() == 1 ? 0 : -1;
      const double value = weight.is_number() ? weight.get<double>() : least - 1;
      if (!(value >= least) || value > kMostWeight)
        throw TraceError("the trace's header: a weight is not a number, or too small or large");
      weights.back().push_back(value);
    }
  }
  return weights;
}

std::vector<Block> parse_header(const std::string& text, Trace& trace) {
  const Json header = parse_shallow(text);
  if (!header.is_object()) throw TraceError("the trace's header is not a JSON object");
  for (const auto& [key, value] : header.items())
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      throw TraceError("the trace's header has an unknown key");
  const std::uint64_t ranks = count_in(header, "ranks", kMaxRanks);
  trace.program = text_in(header.value("program", Json("")), "program");
  trace.captured_by = text_in(header.value("captured_by", Json("")), "captured_by");
  const Json arguments = header.value("arguments", Json::array());
  if (!arguments.is_array()) throw TraceError("the trace's header: arguments is no list");
  for (const Json& argument : arguments)
    trace.arguments.push_back(text_in(argument, "an argument"));
  const Json speed = header.value("host_speed", Json());
  if (!speed.is_null()) {
    if (!speed.is_number() || !(speed.get<double>() > 0))
      throw TraceError("the trace's header: host_speed is not positive");
    trace.host_speed = speed.get<double>();
  }
  const Json weights = header.value("weights", Json());
  if (!weights.is_null()) trace.weights = parse_weights(weights);
  const Json listed = header.value("blocks", Json());
  if (!listed.is_array() || listed.size() != ranks)
    throw TraceError("the trace's header does not list a block for each of its ranks");
  std::vector<Block> blocks;
  for (const Json& block : listed) {
    if (!block.is_object()) throw TraceError("the trace's header: a block is not an object");
    blocks.push_back({count_in(block, "compressed", kMaxBytes), count_in(block, "bytes", kMaxBytes),
                      count_in(block, "operations", kMaxBytes)});
  }
  return blocks;
}

void check_sizes(const std::vector<Block>& blocks, std::uint64_t file_bytes) {
  std::uint64_t compressed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
  for (const Block& block : blocks) {
    compressed += block.compressed;
    bytes += block.bytes;
    operations += block.operations;
    if (block.bytes > kMaxRatio * block.compressed || block.operations > block.bytes)
      throw TraceError("the trace's header declares more than its blocks can hold");
  }
  if (compressed != file_bytes)
    throw TraceError("the trace's blocks do not end where the file ends: cut short?");
  if (bytes > kMaxBytes) throw TraceError("the trace inflates to more than 2 GiB");
  if (operations > kMaxOperations)
    throw TraceError("the trace has more than " + std::to_string(kMaxOperations) + " operations");
}

std::vector<std::uint8_t> inflate_block(File& file, const Block& block) {
  std::vector<std::uint8_t> packed(block.compressed);
  file.read(packed.data(), packed.size());
  std::vector<std::uint8_t> bytes(block.bytes);
  uLongf produced = bytes.size();
  uLong consumed = packed.size();
  const int status = uncompress2(bytes.data(), &produced, packed.data(), &consumed);
  if (status != Z_OK || produced != bytes.size() || consumed != packed.size())
    throw TraceError("its block is damaged or not as long as declared");
  return bytes;
}

DecodedRank decode_block(const std::vector<std::uint8_t>& bytes, const Block& block,
                         const Trace& trace) {
  DecodedRank decoded = decode_rank(bytes, block.operations);
  if (decoded.operations != block.operations)
    throw TraceError("it has " + std::to_string(decoded.operations) + " operations where " +
                     std::to_string(block.operations) + " are declared");
  if (!trace.weights.empty() && decoded.trace.marks.size() != trace.weights.front().size() + 1)
    throw TraceError("it has " + std::to_string(decoded.trace.marks.size()) + " marks around " +
                     std::to_string(trace.weights.front().size()) + " weighted stretches");
  return decoded;
}

}  // namespace

Trace visit_ranks(const std::string& path, const RankVisitor& visit) {
  File file(path);
  std::array<char, 8> magic{};
  if (file.left() < magic.size() + 8) throw TraceError("this is not a Hamtune trace");
  file.read(magic.data(), magic.size());
  if (magic != kMagic) throw TraceError("this is not a Hamtune trace");
  const std::uint32_t version = file.read_u32();
  if (version != kVersion)
    throw TraceError("the trace has version " + std::to_string(version) + "; this Hamtune reads " +
                     std::to_string(kVersion));
  const std::uint32_t length = file.read_u32();
  if (length > kMaxHeader) throw TraceError("the trace's header exceeds 8 MiB");
  std::string header(length, '\0');
  file.read(header.data(), header.size());

  Trace trace;
  const std::vector<Block> blocks = parse_header(header, trace);
  check_sizes(blocks, file.left());
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    try {
      const std::vector<std::uint8_t> bytes = inflate_block(file, blocks[rank]);
      visit(bytes, decode_block(bytes, blocks[rank], trace));
    } catch (const TraceError& error) {
      throw TraceError("rank " + std::to_string(rank) + " of the trace: " + error.what());
    }
    trace.recorded_operations += blocks[rank].operations;
  }
  return trace;
}

Trace read_trace(const std::string& path) {
  std::vector<RankTrace> ranks;
  Trace trace = visit_ranks(path, [&ranks](const auto&, DecodedRank decoded) {
    ranks.push_back(std::move(decoded.trace));
  });
  trace.ranks = std::move(ranks);
  resolve_communicators(trace);
  check_calls(trace);
  return trace;
}

}  // namespace hamtune
