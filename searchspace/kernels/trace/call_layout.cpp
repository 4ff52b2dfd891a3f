#include "searchspace/kernels/trace/call_layout.hpp"

#include <array>
#include <string>

#include "searchspace/kernels/trace/trace.hpp"

namespace hamtune {

namespace {

constexpr std::uint8_t kLast = static_cast<std::uint8_t>(Code::exscan);
constexpr std::uint8_t kFirstCollective = static_cast<std::uint8_t>(Code::barrier);

constexpr std::array<const char*, kLast + 1> kFields = {
    nullptr,  "f",       "cpznn",    "cpznn",    "cpznn",   "ncpznn",  "ncpznn",  "ncpznn",
    "cpznnpznn", "n",    "N",        "nqz",      "cpz",     "",        "z",       "",
    "n",      "cpznn",   nullptr,    nullptr,    "c",       "cky",     "cN",      "cPn",
    "cN",     "c",       "cN",       nullptr,    nullptr,   nullptr,   nullptr,   nullptr,
    "c",      "cnnn",    "cnnnn",    "cnnn",     "cnnnnnn", "cnnnnnn", "cnnnnn",  "cnnnnn",
    "cnnnnnN", "cnnnnnN", "cnnnnN",  "cnnnNM",   "cnNM",    "cnnN",    "cnnn",    "cnnn",
    "cnnn"};

}  // namespace

const char* fields_of(std::uint8_t code) {
  if (code <= kLast) return kFields[code];
  static const std::array<std::string, kLast + 1 - kFirstCollective> nonblocking = [] {
    std::array<std::string, kLast + 1 - kFirstCollective> fields;
    for (std::size_t kind = 0; kind < fields.size(); ++kind)
      fields[kind] = std::string("n") + kFields[kFirstCollective + kind];
    return fields;
  }();
  const auto kind = static_cast<std::size_t>(code) - kNonblocking - kFirstCollective;
  return code >= kFirstCollective + kNonblocking && kind < nonblocking.size()
             ? nonblocking[kind].c_str()
             : nullptr;
}

}  // namespace hamtune
