// The fields of every operation of the format, for passes over encoded operations.
#pragma once

#include <cstdint>

namespace hamtune {

/// One letter a field: c communicator, p peer (in the communicator before it), q peer of a match,
/// k color, y key, n varint, z signed, f flops, N counted list of n, M list as long as the one
/// before it, P counted list of pairs of n. Null where there is no such operation.
const char* fields_of(std::uint8_t code);

}  // namespace hamtune
