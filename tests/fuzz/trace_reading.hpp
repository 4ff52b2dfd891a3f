// What is done with every trace: it is refused in one plain line, or all that reads it goes through.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hamtune::fuzz {

/// The end of the fuzzer's run, with a message, where a promise is broken.
void require(bool kept, const char* promise);

/// Whether the words of an error are one line that can be shown.
bool is_plain_line(const char* words);

/// Reads a file of these bytes as the service and the simulator do.
void read_as_trace(const std::uint8_t* data, std::size_t size);

}  // namespace hamtune::fuzz
