#include "searchspace/kernels/trace/call_sharing.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "searchspace/kernels/trace/byte_cursor.hpp"
#include "searchspace/kernels/trace/call_layout.hpp"
#include "searchspace/kernels/trace/party_places.hpp"
#include "searchspace/kernels/trace/trace.hpp"
#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {

namespace {

constexpr std::int32_t kAnyInt = std::numeric_limits<std::int32_t>::min();
constexpr std::size_t kLongest = std::size_t{4} << 20U;  // bytes of an operation; lists of a million numbers
constexpr std::uint32_t kOfMatches = std::numeric_limits<std::uint32_t>::max();
constexpr auto kCompute = static_cast<std::uint8_t>(Code::compute);

/// Goes over encoded operations and copies their fields, but for those that `Edit` writes.
template <typename Edit>
class CallPass {
 public:
  CallPass(const std::uint8_t* bytes, std::size_t size, Edit& edit)
      : in_(bytes, size), edit_(edit) {}

  bool at_end() const { return in_.at_end(); }
  std::size_t passed() const { return in_.offset(); }

  /// Passes over one operation; returns whether it was kept.
  bool step(Bytes& out) {
    const std::uint8_t code = in_.byte();
    const char* fields = fields_of(code);
    if (fields == nullptr) throw TraceError("unknown operation code " + std::to_string(code));
    if (code == kCompute) return edit_.compute(in_, out);
    out.push_back(code);
    std::uint32_t communicator = kOfMatches;
    std::int32_t length = 0;
    for (; *fields != '\0'; ++fields) {
      switch (*fields) {
        case 'c':
          communicator = static_cast<std::uint32_t>(in_.number());
          append_varint(communicator, out);
          break;
        case 'p':
        case 'q':
        case 'k':
        case 'y':
          edit_.party(*fields, communicator, in_, out);
          break;
        case 'N':
        case 'P':
          length = in_.length();
          append_varint(static_cast<std::uint64_t>(length), out);
          if (*fields == 'P') copy_numbers(length, out);
          [[fallthrough]];
        case 'M':
          copy_numbers(length, out);
          break;
        default:
          copy_numbers(1, out);
      }
    }
    return true;
  }

 private:
  void copy_numbers(std::int32_t many, Bytes& out) {
    const std::uint8_t* const from = in_.here();
    for (std::int32_t item = 0; item < many; ++item) in_.varint();
    out.insert(out.end(), from, in_.here());
  }

  ByteCursor in_;
  Edit& edit_;
};

/// Puts parties and flops back.
class Together {
 public:
  Together(const std::vector<std::int32_t>& parties, const double* flops, std::size_t computations)
      : parties_(parties), flops_(flops), left_(computations) {}

  bool compute(ByteCursor& /*in*/, Bytes& out) {
    if (left_ == 0) throw TraceError("it has more computations than flops");
    --left_;
    std::array<std::uint8_t, sizeof(double)> bytes{};
    std::memcpy(bytes.data(), flops_++, bytes.size());
    out.push_back(kCompute);
    out.insert(out.end(), bytes.begin(), bytes.end());
    return true;
  }

  void party(char /*field*/, std::uint32_t /*communicator*/, ByteCursor& in, Bytes& out) {
    const std::int32_t place = in.signed_number(kAnyInt);
    if (place >= 0 && static_cast<std::size_t>(place) >= parties_.size())
      throw TraceError("it names more parties than the rank has");
    append_signed(place < 0 ? place : parties_[static_cast<std::size_t>(place)], out);
  }

 private:
  const std::vector<std::int32_t>& parties_;
  const double* flops_;
  std::size_t left_;
};

}  // namespace

void append_varint(std::uint64_t value, Bytes& to) {
  for (; value >= 0x80; value >>= 7U) to.push_back(static_cast<std::uint8_t>(value | 0x80U));
  to.push_back(static_cast<std::uint8_t>(value));
}

void append_signed(std::int64_t value, Bytes& to) {
  append_varint(static_cast<std::uint64_t>(value < 0 ? -2 * value - 1 : 2 * value), to);
}

/// Puts places where parties stood, and keeps flops aside.
struct TakingApart::Edit {
  explicit Edit(RankParts& parts) : own(parts) {}

  bool compute(ByteCursor& in, Bytes& out) {
    const double flops = in.real();
    if (!std::isfinite(flops) || flops < 0) throw TraceError("flops are negative or not finite");
    if (flops == 0) return false;
    own.flops.push_back(flops);
    out.push_back(kCompute);
    return true;
  }

  void party(char field, std::uint32_t communicator, ByteCursor& in, Bytes& out) {
    const std::int32_t party = in.signed_number(kAnyInt);
    if (party < 0 && field != 'y') return append_signed(party, out);
    auto place = static_cast<std::int32_t>(own.parties.size());
    bool is_new = true;
    // What splits name comes once and is nobody's peer.
    if (field == 'p' || field == 'q')
      std::tie(place, is_new) = places.place_of({communicator, party}, own.parties.size());
    if (is_new) own.parties.push_back(party);
    append_signed(place, out);
  }

  RankParts& own;
  PartyPlaces places;
};

TakingApart::TakingApart() : edit_(std::make_unique<Edit>(parts)) {}
TakingApart::~TakingApart() = default;

void TakingApart::feed(const std::uint8_t* bytes, std::size_t size) {
  waiting_.insert(waiting_.end(), bytes, bytes + size);
  pass(false);
}

void TakingApart::finish() { pass(true); }

void TakingApart::pass(bool is_all) {
  CallPass pass(waiting_.data(), waiting_.size(), *edit_);
  while (!pass.at_end() && (is_all || waiting_.size() - pass.passed() > kLongest))
    if (pass.step(parts.calls)) ++parts.operations;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(pass.passed()));
}

Bytes put_together(const Bytes& shared, const std::vector<std::int32_t>& parties,
                   const double* flops, std::size_t computations) {
  Together together(parties, flops, computations);
  CallPass pass(shared.data(), shared.size(), together);
  Bytes out;
  while (!pass.at_end()) pass.step(out);
  return out;
}

}  // namespace hamtune
