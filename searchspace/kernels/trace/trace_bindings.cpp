// Traces for Python.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "searchspace/kernels/graph/bindings.hpp"
#include "searchspace/kernels/trace/sparse_traffic_bindings.hpp"
#include "searchspace/kernels/trace/collective_messages.hpp"
#include "searchspace/kernels/trace/message_rounds.hpp"
#include "searchspace/kernels/trace/shared_parts.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"
#include "searchspace/kernels/trace/trace_summary.hpp"
#include "searchspace/kernels/trace/trace_writer.hpp"
#include "searchspace/kernels/trace/truncation.hpp"

namespace nb = nanobind;

namespace {

hamtune::Trace read(const std::string& path) {
  const nb::gil_scoped_release released;
  return hamtune::read_trace(path);
}

nb::dict trace_summary(const std::string& path) {
  const hamtune::Trace trace = read(path);
  hamtune::TraceSummary summary;
  {
    const nb::gil_scoped_release released;
    summary = hamtune::summarize(trace);
  }
  nb::dict result;
  result["ranks"] = trace.ranks.size();
  result["program"] = trace.program;
  result["arguments"] = trace.arguments;
  result["captured_by"] = trace.captured_by;
  result["host_speed"] = trace.host_speed;
  result["operations"] = trace.recorded_operations;
  result["calls"] = summary.calls;
  result["communicators"] = summary.communicators;
  result["non_commutative"] = std::vector<std::string>(summary.non_commutative.begin(), summary.non_commutative.end());
  nb::dict sizes;
  for (const auto& [collective, bins] : summary.sizes) {
    nb::list listed;
    for (const auto& [power, bin] : bins) listed.append(nb::make_tuple(bin.least, bin.most, bin.calls));
    sizes[collective.c_str()] = listed;
  }
  result["sizes"] = sizes;
  result["messages"] = summary.messages;
  result["bytes"] = summary.bytes;
  result["pairs"] = summary.pairs;
  result["least_partners"] = summary.least_partners;
  result["most_partners"] = summary.most_partners;
  result["flops"] = summary.flops;
  return result;
}

nb::ndarray<nb::numpy, std::int64_t> traffic_matrix(const std::string& path) {
  const hamtune::Trace trace = read(path);
  std::vector<std::int64_t> bytes;
  {
    const nb::gil_scoped_release released;
    bytes = hamtune::traffic_matrix(trace);
  }
  return hamtune::to_numpy(std::move(bytes), {trace.ranks.size(), trace.ranks.size()});
}

/// `spreads` are numbers of hamtune::Spread, one for each collective from the barrier on.
/// (first, receiver, size): what each rank sends, in compressed sparse rows.
nb::tuple filtered_traffic(const std::string& path, bool point_to_point, const std::vector<unsigned>& spreads,
                           std::int64_t phase, std::vector<std::uint32_t> members) {
  const hamtune::Trace trace = read(path);
  hamtune::MessageFilter filter{point_to_point, {}, phase, std::move(members)};
  for (const unsigned spread : spreads)
    filter.collectives.push_back(static_cast<hamtune::Spread>(spread));
  hamtune::SparseTraffic sent;
  {
    const nb::gil_scoped_release released;
    sent = hamtune::filtered_traffic(trace, filter);
  }
  return hamtune::to_tuple(std::move(sent));
}

/// (round, sender, receiver, size) of each message, and how often each round comes.
nb::tuple message_rounds(const std::string& path, const std::vector<unsigned>& spreads,
                         std::size_t most) {
  hamtune::MessageRounds found;
  {
    const nb::gil_scoped_release released;
    hamtune::MessageFilter filter;
    for (const unsigned spread : spreads)
      filter.collectives.push_back(static_cast<hamtune::Spread>(spread));
    found = hamtune::message_rounds(hamtune::read_trace(path), filter, most);
  }
  std::vector<std::uint32_t> round, sender, receiver;
  std::vector<std::int64_t> size;
  for (const hamtune::RoundMessage& message : found.messages) {
    round.push_back(message.round);
    sender.push_back(message.sender);
    receiver.push_back(message.receiver);
    size.push_back(message.size);
  }
  const std::vector<std::size_t> messages{size.size()}, rounds{found.count.size()};
  return nb::make_tuple(hamtune::to_numpy(std::move(round), messages),
                        hamtune::to_numpy(std::move(sender), messages),
                        hamtune::to_numpy(std::move(receiver), messages),
                        hamtune::to_numpy(std::move(size), messages),
                        hamtune::to_numpy(std::move(found.count), rounds));
}

const char* name_of(hamtune::Regularity regularity) {
  switch (regularity) {
    case hamtune::Regularity::exact:
      return "exact";
    case hamtune::Regularity::sizes:
      return "sizes";
    case hamtune::Regularity::shape:
      return "shape";
    default:
      return "uneven";
  }
}

nb::list trace_loops(const std::string& path) {
  std::vector<hamtune::LoopSummary> loops;
  {
    const nb::gil_scoped_release released;
    loops = hamtune::describe_loops(hamtune::read_trace(path));
  }
  nb::list result;
  for (const hamtune::LoopSummary& loop : loops) {
    nb::dict entry;
    entry["depth"] = loop.depth;
    entry["iterations"] = loop.iterations;
    entry["regularity"] = name_of(loop.regularity);
    entry["marked"] = loop.marked;
    entry["calls"] = loop.calls;
    result.append(entry);
  }
  return result;
}

nb::dict truncate_trace(const std::string& path, std::size_t kept) {
  hamtune::Truncated truncated;
  {
    const nb::gil_scoped_release released;
    truncated = hamtune::truncate_trace(path, kept);
  }
  nb::list blocks;
  for (const auto& block : truncated.blocks)
    blocks.append(nb::bytes(reinterpret_cast<const char*>(block.data()), block.size()));
  nb::dict result;
  result["blocks"] = blocks;
  result["operations"] = truncated.operations;
  result["weights"] = truncated.weights;
  result["whole_operations"] = truncated.whole_operations;
  return result;
}

nb::bytes as_bytes(const hamtune::Bytes& bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

nb::bytes rank_operations(const std::string& path, std::size_t rank) {
  hamtune::Bytes bytes;
  {
    const nb::gil_scoped_release released;
    bytes = hamtune::rank_operations(path, rank);
  }
  return as_bytes(bytes);
}

/// (calls, flops, entries, operations of calls): bytes, arrays, and (calls, flops, parties) of a rank.
nb::tuple shared_parts(const std::string& path) {
  hamtune::SharedParts parts;
  {
    const nb::gil_scoped_release released;
    parts = hamtune::read_parts(path);
  }
  nb::list calls, flops, entries;
  for (const hamtune::Bytes& block : parts.calls) calls.append(as_bytes(block));
  for (std::vector<double>& block : parts.flops) {
    const std::vector<std::size_t> shape{block.size()};
    flops.append(hamtune::to_numpy(std::move(block), shape));
  }
  for (hamtune::Entry& entry : parts.entries) {
    const std::vector<std::size_t> shape{entry.parties.size()};
    entries.append(nb::make_tuple(entry.calls, entry.flops,
                                  hamtune::to_numpy(std::move(entry.parties), shape)));
  }
  return nb::make_tuple(calls, flops, entries, parts.operations);
}

/// A writer of the blocks of a trace into two open files.
class PythonTraceWriter {
 public:
  PythonTraceWriter(int calls, int flops) : writer_(calls, flops) {}

  void feed(const nb::bytes& bytes) {
    const auto* const data = static_cast<const std::uint8_t*>(bytes.data());
    const std::size_t size = bytes.size();
    const nb::gil_scoped_release released;
    writer_.feed(data, size);
  }

  void end_rank() {
    const nb::gil_scoped_release released;
    writer_.end_rank();
  }

  nb::dict blocks() const {
    nb::dict result;
    nb::list calls, flops;
    for (const hamtune::WrittenBlock& block : writer_.calls())
      calls.append(nb::make_tuple(block.compressed, block.bytes, block.operations, block.ranks));
    for (const hamtune::WrittenBlock& block : writer_.flops())
      flops.append(nb::make_tuple(block.compressed, block.bytes));
    result["calls"] = calls;
    result["flops"] = flops;
    result["table"] = as_bytes(writer_.table());
    return result;
  }

 private:
  hamtune::TraceWriter writer_;
};

}  // namespace

void bind_trace(nb::module_& module) {
  // A TraceError is a std::runtime_error, RuntimeError in Python; the typed face turns it into
  // InvalidInput.
  module.def("trace_summary", &trace_summary, nb::arg("path"));
  module.def("traffic_matrix", &traffic_matrix, nb::arg("path"));
  module.def("filtered_traffic", &filtered_traffic, nb::arg("path"), nb::arg("point_to_point"),
             nb::arg("spreads"), nb::arg("phase"), nb::arg("members"));
  module.def("message_rounds", &message_rounds, nb::arg("path"), nb::arg("spreads"),
             nb::arg("most"));
  module.def("rank_operations", &rank_operations, nb::arg("path"), nb::arg("rank"));
  module.def("shared_parts", &shared_parts, nb::arg("path"));
  nb::class_<PythonTraceWriter>(module, "TraceWriter")
      .def(nb::init<int, int>(), nb::arg("calls"), nb::arg("flops"))
      .def("feed", &PythonTraceWriter::feed, nb::arg("bytes"))
      .def("end_rank", &PythonTraceWriter::end_rank)
      .def("blocks", &PythonTraceWriter::blocks);
  // NOLINTNEXTLINE(bugprone-throw-keyword-missing,bugprone-unused-raii): to make it is to register it
  nb::exception<hamtune::CannotCut>(module, "CannotCut");
  module.def("trace_loops", &trace_loops, nb::arg("path"));
  module.def("truncate_trace", &truncate_trace, nb::arg("path"), nb::arg("kept"));
}
