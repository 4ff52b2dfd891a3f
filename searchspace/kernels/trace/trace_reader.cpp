// Reads traces into memory.
#include "searchspace/kernels/trace/trace_reader.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "searchspace/kernels/trace/call_checks.hpp"
#include "searchspace/kernels/trace/communicators.hpp"
#include "searchspace/kernels/trace/rank_decoder.hpp"
#include "searchspace/kernels/trace/shared_parts.hpp"

namespace hamtune {

namespace {

void check_marks(const RankTrace& rank, const Trace& trace) {
  if (!trace.weights.empty() && rank.marks.size() != trace.weights.front().size() + 1)
    throw TraceError("it has " + std::to_string(rank.marks.size()) + " marks around " +
                     std::to_string(trace.weights.front().size()) + " weighted stretches");
}

DecodedRank decode_block(const std::vector<std::uint8_t>& bytes, const Block& block,
                         const Trace& trace, Writing writing) {
  DecodedRank decoded = decode_rank(bytes, block.operations, writing);
  if (decoded.operations != block.operations)
    throw TraceError("it has " + std::to_string(decoded.operations) + " operations where " +
                     std::to_string(block.operations) + " are declared");
  check_marks(decoded.trace, trace);
  return decoded;
}

/// What ranks that do alike hold together: equal lists are kept once.
class Pool {
 public:
  void share(RankTrace& rank) {
    const std::string_view key = text_of(rank.operations);
    for (auto [at, end] = known_.equal_range(std::hash<std::string_view>{}(key)); at != end; ++at) {
      CallStream& other = at->second;
      if (!equal(other.operations, rank.operations) || !equal(other.values, rank.values) ||
          other.marks.size() != rank.marks.size() ||
          !std::equal(other.marks.begin(), other.marks.end(), rank.marks.begin(),
                      [](const Mark& a, const Mark& b) {
                        return a.before == b.before && a.level == b.level;
                      }))
        continue;
      static_cast<CallStream&>(rank) = other;
      return;
    }
    known_.emplace(std::hash<std::string_view>{}(key), rank);
  }

  void share(SharedList<double>& flops) {
    const std::size_t hash = std::hash<std::string_view>{}(text_of(flops));
    for (auto [at, end] = flops_.equal_range(hash); at != end; ++at)
      if (equal(at->second, flops)) {
        flops = at->second;
        return;
      }
    flops_.emplace(hash, flops);
  }

 private:
  template <typename Item>
  static std::string_view text_of(const SharedList<Item>& list) {
    return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(Item)};
  }
  template <typename Item>
  static bool equal(const SharedList<Item>& one, const SharedList<Item>& other) {
    return text_of(one) == text_of(other);
  }

  std::unordered_multimap<std::size_t, CallStream> known_;
  std::unordered_multimap<std::size_t, SharedList<double>> flops_;
};

void read_whole_ranks(Opened& opened, std::vector<RankTrace>& ranks) {
  Pool pool;
  for (std::size_t rank = 0; rank < opened.layout.calls.size(); ++rank)
    within("rank", rank, [&] {
      const Block& block = opened.layout.calls[rank];
      const Bytes bytes = inflate_block(opened.file, block);
      ranks.push_back(std::move(decode_block(bytes, block, opened.trace, Writing::whole).trace));
      pool.share(ranks.back());
      pool.share(ranks.back().flops);
    });
}

void read_shared_ranks(Opened& opened, std::vector<RankTrace>& ranks) {
  const Layout& layout = opened.layout;
  std::vector<CallStream> calls;
  std::vector<SharedList<double>> flops(1);
  std::optional<std::size_t> wrong;  // the first calls that cannot be
  std::string why;
  for (const Block& block : layout.calls) {
    Bytes bytes;
    within("calls", calls.size(), [&] { bytes = inflate_block(opened.file, block); });
    calls.emplace_back();
    if (wrong) continue;
    try {
      DecodedRank decoded = decode_block(bytes, block, opened.trace, Writing::shared);
      calls.back() = static_cast<CallStream&&>(decoded.trace);  // which is all that ranks share
    } catch (const TraceError& error) {
      wrong = calls.size() - 1;  // whose they are is told by the table, which comes after them
      why = error.what();
    }
  }
  for (const Block& block : layout.flops)
    within("flops", flops.size() - 1, [&] { flops.push_back(inflate_flops(opened.file, block)); });
  for (Entry& entry : read_table(opened.file, layout))
    within("rank", ranks.size(), [&] {
      if (entry.calls == wrong) throw TraceError(why);
      RankTrace rank;
      static_cast<CallStream&>(rank) = calls[entry.calls];
      rank.flops = flops[entry.flops];
      rank.parties = std::move(entry.parties);
      if (rank.flops.size() != rank.computations || rank.parties.size() != rank.parties_used)
        throw TraceError("it has other flops or parties than its calls need");
      ranks.push_back(std::move(rank));
    });
  if (wrong) throw TraceError("calls " + std::to_string(*wrong) + " of the trace: " + why);
}

}  // namespace

Trace visit_ranks(const std::string& path, const RankVisitor& visit) {
  Opened opened = open_trace(path);
  const bool is_whole = opened.version == kWholeVersion;
  const SharedParts parts = is_whole ? SharedParts() : read_parts(opened);
  for (std::size_t rank = 0; rank < opened.layout.ranks; ++rank)
    within("rank", rank, [&] {
      const Bytes bytes =
          is_whole ? inflate_block(opened.file, opened.layout.calls[rank]) : parts.rank(rank);
      const std::uint64_t operations =
          (is_whole ? opened.layout.calls[rank] : opened.layout.calls[parts.entries[rank].calls])
              .operations;
      visit(bytes, decode_block(bytes, {0, bytes.size(), operations}, opened.trace, Writing::whole));
    });
  return std::move(opened.trace);
}

Bytes rank_operations(const std::string& path, std::size_t rank) {
  Opened opened = open_trace(path);
  if (rank >= opened.layout.ranks)
    throw TraceError("the trace has ranks 0 to " + std::to_string(opened.layout.ranks - 1));
  Bytes bytes;
  within("rank", rank, [&] {
    if (opened.version == kVersion) {
      bytes = read_parts(opened).rank(rank);
      return;
    }
    for (std::size_t before = 0; before < rank; ++before)
      opened.file.skip(opened.layout.calls[before].compressed);
    bytes = inflate_block(opened.file, opened.layout.calls[rank]);
  });
  return bytes;
}

Trace read_trace(const std::string& path) {
  Opened opened = open_trace(path);
  std::vector<RankTrace> ranks;
  if (opened.version == kWholeVersion)
    read_whole_ranks(opened, ranks);
  else
    read_shared_ranks(opened, ranks);
  Trace trace = std::move(opened.trace);
  trace.ranks = std::move(ranks);
  resolve_communicators(trace);
  check_calls(trace);
  return trace;
}

}  // namespace hamtune
