#include "searchspace/kernels/trace/shallow_json.hpp"

#include <cstddef>

namespace hamtune {

namespace {

constexpr std::size_t kDeepest = 64;

bool is_deep(const std::string& text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '"') quoted = !quoted;
    if (quoted) {
      if (letter == '\\') ++at;
    } else if (letter == '[' || letter == '{') {
      if (++depth > kDeepest) return true;
    } else if (depth > 0 && (letter == ']' || letter == '}')) {
      --depth;
    }
  }
  return false;
}

}  // namespace

nlohmann::json parse_shallow(const std::string& text) {
  if (is_deep(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace hamtune
