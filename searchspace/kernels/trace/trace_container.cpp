#include "searchspace/kernels/trace/trace_container.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "searchspace/kernels/trace/shallow_json.hpp"

namespace hamtune {

namespace {

using Json = nlohmann::json;

constexpr std::array<char, 8> kMagic = {'H', 'A', 'M', 'T', 'R', 'A', 'C', 'E'};
constexpr std::uint64_t kMaxHeader = 8U << 20;
constexpr std::uint64_t kMaxRanks = 65'536;
constexpr std::uint64_t kMaxBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kMaxOperations = 100'000'000;  // 3.2 GB in memory
constexpr std::uint64_t kMaxReplayed = 4'000'000'000;    // of all ranks, which share them
constexpr std::uint64_t kMaxTable = 256U << 20;
constexpr double kMostWeight = 1e9;
constexpr std::uint64_t kMaxRatio = 1'100;             // zlib compresses at most 1032 to 1

constexpr std::array<std::string_view, 8> kKeys = {
    "ranks", "program", "arguments", "captured_by", "host_speed", "measured", "repeats", "weights"};

bool is_key_of_blocks(std::string_view key, std::uint32_t version) {
  if (version == kWholeVersion) return key == "blocks";
  return key == "calls" || key == "flops" || key == "table";
}

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

std::vector<Block> parse_blocks(const Json& listed, bool has_operations) {
  if (!listed.is_array()) throw TraceError("the trace's header does not list its blocks");
  std::vector<Block> blocks;
  for (const Json& block : listed) {
    if (!block.is_object()) throw TraceError("the trace's header: a block is not an object");
    blocks.push_back({count_in(block, "compressed", kMaxBytes), count_in(block, "bytes", kMaxBytes),
                      has_operations ? count_in(block, "operations", kMaxBytes) : 0});
  }
  return blocks;
}

/// What the header says of the blocks of version 2.
void parse_shared(const Json& header, Layout& layout) {
  layout.calls = parse_blocks(header.value("calls", Json()), true);
  layout.flops = parse_blocks(header.value("flops", Json()), false);
  layout.table = parse_blocks(Json::array({header.value("table", Json())}), false).front();
  std::uint64_t users = 0;
  for (const Json& block : header["calls"]) {
    layout.users.push_back(count_in(block, "ranks", kMaxRanks));
    users += layout.users.back();
  }
  if (users != layout.ranks)
    throw TraceError("the trace's header does not give each of its ranks a block of calls");
  if (layout.flops.size() > layout.ranks)
    throw TraceError("the trace's header lists more blocks of flops than ranks");
  if (layout.table.bytes > kMaxTable) throw TraceError("the trace's table exceeds 256 MiB");
}

Layout parse_header(const std::string& text, std::uint32_t version, Trace& trace) {
  const Json header = parse_shallow(text);
  if (!header.is_object()) throw TraceError("the trace's header is not a JSON object");
  for (const auto& [key, value] : header.items())
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end() &&
        !is_key_of_blocks(key, version))
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
  Layout layout;
  layout.ranks = ranks;
  if (version == kVersion) {
    parse_shared(header, layout);
    return layout;
  }
  layout.calls = parse_blocks(header.value("blocks", Json()), true);
  if (layout.calls.size() != ranks)
    throw TraceError("the trace's header does not list a block for each of its ranks");
  layout.users.assign(layout.calls.size(), 1);
  return layout;
}

void check_sizes(const Layout& layout, std::uint64_t file_bytes) {
  std::uint64_t compressed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
  std::uint64_t replayed = 0;
  const auto add = [&](const Block& block) {
    compressed += block.compressed;
    bytes += block.bytes;
    if (block.bytes > kMaxRatio * block.compressed || block.operations > block.bytes)
      throw TraceError("the trace's header declares more than its blocks can hold");
  };
  std::for_each(layout.calls.begin(), layout.calls.end(), add);
  std::for_each(layout.flops.begin(), layout.flops.end(), add);
  for (std::size_t index = 0; index < layout.calls.size(); ++index) {
    operations += layout.calls[index].operations;
    replayed += layout.calls[index].operations * layout.users[index];
  }
  if (layout.table.bytes > 0) add(layout.table);
  if (compressed != file_bytes)
    throw TraceError("the trace's blocks do not end where the file ends: cut short?");
  if (bytes > kMaxBytes) throw TraceError("the trace inflates to more than 2 GiB");
  if (operations > kMaxOperations)
    throw TraceError("the trace has more than " + std::to_string(kMaxOperations) + " operations");
  if (replayed > kMaxReplayed)
    throw TraceError("the ranks of the trace have more than " + std::to_string(kMaxReplayed) +
                     " operations together");
}

}  // namespace

File::File(const std::string& path) : file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
  if (!file_) throw TraceError("cannot open the trace: " + std::string(std::strerror(errno)));
  if (std::fseek(file_.get(), 0, SEEK_END) != 0) throw TraceError("the trace is not a file");
  const long size = std::ftell(file_.get());
  if (size < 0) throw TraceError("the trace is not a file");
  left_ = static_cast<std::uint64_t>(size);
  std::rewind(file_.get());
}

void File::read(void* into, std::uint64_t bytes) {
  if (bytes > left_ || std::fread(into, 1, bytes, file_.get()) != bytes)
    throw TraceError("the trace is cut short");
  left_ -= bytes;
}

void File::skip(std::uint64_t bytes) {
  if (bytes > left_ || std::fseek(file_.get(), static_cast<long>(bytes), SEEK_CUR) != 0)
    throw TraceError("the trace is cut short");
  left_ -= bytes;
}

std::uint32_t File::read_u32() {
  std::array<unsigned char, 4> bytes{};
  read(bytes.data(), bytes.size());
  std::uint32_t value = 0;
  for (unsigned index = 0; index < bytes.size(); ++index)
    value |= std::uint32_t{bytes[index]} << 8 * index;
  return value;
}

Opened open_trace(const std::string& path) {
  Opened opened{File(path), {}, 0, {}};
  File& file = opened.file;
  std::array<char, 8> magic{};
  if (file.left() < magic.size() + 8) throw TraceError("this is not a Hamtune trace");
  file.read(magic.data(), magic.size());
  if (magic != kMagic) throw TraceError("this is not a Hamtune trace");
  opened.version = file.read_u32();
  if (opened.version != kVersion && opened.version != kWholeVersion)
    throw TraceError("the trace has version " + std::to_string(opened.version) +
                     "; this Hamtune reads " + std::to_string(kWholeVersion) + " and " +
                     std::to_string(kVersion));
  const std::uint32_t length = file.read_u32();
  if (length > kMaxHeader) throw TraceError("the trace's header exceeds 8 MiB");
  std::string header(length, '\0');
  file.read(header.data(), header.size());
  opened.layout = parse_header(header, opened.version, opened.trace);
  check_sizes(opened.layout, file.left());
  for (std::size_t index = 0; index < opened.layout.calls.size(); ++index)
    opened.trace.recorded_operations +=
        opened.layout.calls[index].operations * opened.layout.users[index];
  return opened;
}

Bytes inflate_block(File& file, const Block& block) {
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

}  // namespace hamtune
