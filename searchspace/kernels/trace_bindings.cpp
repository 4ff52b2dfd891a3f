// Traces for Python.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "searchspace/kernels/bindings.hpp"
#include "searchspace/kernels/trace_reader.hpp"
#include "searchspace/kernels/trace_summary.hpp"

namespace nb = nanobind;

namespace {

hamtune::Trace read(const std::string& path) {
  const nb::gil_scoped_release released;
  return hamtune::read_trace(path);
}

nb::dict trace_summary(const std::string& path) {
  const hamtune::Trace trace = read(path);
  const hamtune::TraceSummary summary = hamtune::summarize(trace);
  nb::dict result;
  result["ranks"] = trace.ranks.size();
  result["program"] = trace.program;
  result["arguments"] = trace.arguments;
  result["captured_by"] = trace.captured_by;
  result["host_speed"] = trace.host_speed;
  result["operations"] = trace.recorded_operations;
  result["calls"] = summary.calls;
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
  return hamtune::to_numpy(hamtune::traffic_matrix(trace), {trace.ranks.size(), trace.ranks.size()});
}

}  // namespace

void bind_trace(nb::module_& module) {
  // A TraceError is a std::runtime_error, RuntimeError in Python; the typed face turns it into
  // InvalidInput.
  module.def("trace_summary", &trace_summary, nb::arg("path"));
  module.def("traffic_matrix", &traffic_matrix, nb::arg("path"));
}
