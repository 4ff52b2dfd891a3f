#include "searchspace/kernels/trace/shared_parts.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "searchspace/kernels/trace/byte_cursor.hpp"

namespace hamtune {

namespace {

constexpr std::int32_t kAnyInt = std::numeric_limits<std::int32_t>::min();

Entry read_entry(ByteCursor& table, std::size_t rank, const Layout& layout) {
  Entry entry{static_cast<std::size_t>(table.number()), static_cast<std::size_t>(table.number()), {}};
  if (entry.calls >= layout.calls.size()) throw TraceError("it has calls that are not there");
  if (entry.flops > layout.flops.size()) throw TraceError("it has flops that are not there");
  const std::int32_t parties = table.length();
  entry.parties.reserve(static_cast<std::size_t>(parties));
  for (std::int32_t place = 0; place < parties; ++place) {
    const std::int64_t party = static_cast<std::int64_t>(rank) + table.signed_number(kAnyInt);
    if (party > std::numeric_limits<std::int32_t>::max()) throw TraceError("a party exceeds 31 bits");
    entry.parties.push_back(static_cast<std::int32_t>(party));
  }
  return entry;
}

/// Numbers equal things once.
template <typename Thing>
std::size_t number_of(Thing thing, std::map<Thing, std::size_t>& known, std::vector<Thing>& things) {
  const auto [found, is_new] = known.try_emplace(std::move(thing), things.size());
  if (is_new) things.push_back(found->first);
  return found->second;
}

SharedParts take_ranks_apart(Opened& opened) {
  SharedParts parts;
  std::map<Bytes, std::size_t> calls;
  std::map<std::vector<double>, std::size_t> flops{{{}, 0}};
  for (std::size_t rank = 0; rank < opened.layout.ranks; ++rank)
    within("rank", rank, [&] {
      const Bytes bytes = inflate_block(opened.file, opened.layout.calls[rank]);
      TakingApart taking;
      taking.feed(bytes.data(), bytes.size());
      taking.finish();
      RankParts own = std::move(taking.parts);
      const std::size_t calls_number = number_of(std::move(own.calls), calls, parts.calls);
      parts.operations.resize(parts.calls.size(), own.operations);
      const std::size_t flops_number = number_of(std::move(own.flops), flops, parts.flops);
      parts.entries.push_back({calls_number, flops_number, std::move(own.parties)});
    });
  return parts;
}

}  // namespace

std::vector<double> inflate_flops(File& file, const Block& block) {
  const Bytes bytes = inflate_block(file, block);
  std::vector<double> flops(bytes.size() / sizeof(double));
  if (bytes.size() % sizeof(double) != 0) throw TraceError("it is no list of flops");
  std::memcpy(flops.data(), bytes.data(), bytes.size());
  for (const double one : flops)
    if (!std::isfinite(one) || !(one > 0)) throw TraceError("flops are not positive or not finite");
  return flops;
}

std::vector<Entry> read_table(File& file, const Layout& layout) {
  std::vector<Entry> entries;
  std::vector<std::uint64_t> users(layout.calls.size(), 0);
  Bytes bytes;
  try {
    bytes = inflate_block(file, layout.table);
  } catch (const TraceError& error) {
    throw TraceError("the table of the trace: " + std::string(error.what()));
  }
  ByteCursor table(bytes);
  for (std::size_t rank = 0; rank < layout.ranks; ++rank) {
    within("rank", rank, [&] { entries.push_back(read_entry(table, rank, layout)); });
    ++users[entries.back().calls];
  }
  if (!table.at_end()) throw TraceError("the table of the trace goes on behind its last rank");
  if (users != layout.users)
    throw TraceError("the trace's header counts other ranks for its blocks of calls than have them");
  return entries;
}

Bytes SharedParts::rank(std::size_t number) const {
  const Entry& entry = entries[number];
  return put_together(calls[entry.calls], entry.parties, flops[entry.flops].data(),
                      flops[entry.flops].size());
}

SharedParts read_parts(Opened& opened) {
  SharedParts parts;
  for (const Block& block : opened.layout.calls)
    within("calls", parts.calls.size(),
           [&] { parts.calls.push_back(inflate_block(opened.file, block)); });
  for (const Block& block : opened.layout.flops)
    within("flops", parts.flops.size() - 1,
           [&] { parts.flops.push_back(inflate_flops(opened.file, block)); });
  for (const Block& block : opened.layout.calls) parts.operations.push_back(block.operations);
  parts.entries = read_table(opened.file, opened.layout);
  return parts;
}

SharedParts read_parts(const std::string& path) {
  Opened opened = open_trace(path);
  return opened.version == kVersion ? read_parts(opened) : take_ranks_apart(opened);
}

}  // namespace hamtune
