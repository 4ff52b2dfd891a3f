// The bytes are a trace's file.
#include "tests/fuzz/trace_reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hamtune::fuzz::read_as_trace(data, size);
  return 0;
}
