// JSON of strangers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hamtune {

/// Reads JSON that is nested at most 64 deep; discarded where it is anything else. To copy or to
/// write a value takes stack for each level, and a few megabytes of brackets would exhaust it.
nlohmann::json parse_shallow(const std::string& text);

}  // namespace hamtune
