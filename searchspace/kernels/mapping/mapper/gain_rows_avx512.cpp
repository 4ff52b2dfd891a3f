// Judging swaps and updating rows, compiled for processors with AVX-512 (x86-64-v4). No inline function
// of the standard library is called: one compiled here could end up in the rest of the program and would
// not run on every processor.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 warns of what its own header leaves undefined
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "searchspace/kernels/mapping/mapper/gain_rows.hpp"

namespace hamtune::mapper {
namespace {

/// So many slots that are worth a look at a row each; for more of them, all rows at once.
constexpr int kFew = 4;

/// The entries of a row for 16 classes. A row has so many vectors, 0: any number.
template <std::size_t Vectors>
class Row {
 public:
  explicit Row(const std::int32_t* entries) : entries_(entries) {
    for (std::size_t at = 0; at < kHeld; ++at)
      vector_[at] = _mm512_loadu_si512(entries + at * kLanes);
  }
  __m512i at(__m512i classes) const {
    if constexpr (kHeld == 0) {
      return _mm512_i32gather_epi32(classes, entries_, 4);
    } else if constexpr (kHeld == 1) {
      return _mm512_permutexvar_epi32(classes, vector_[0]);
    } else if constexpr (kHeld == 2) {
      return _mm512_permutex2var_epi32(vector_[0], classes, vector_[1]);
    } else {
      const __mmask16 upper = _mm512_test_epi32_mask(classes, _mm512_set1_epi32(2 * kLanes));
      const __m512i low = _mm512_permutex2var_epi32(vector_[0], classes, vector_[1]);
      const __m512i high = _mm512_permutex2var_epi32(vector_[2], classes, vector_[kHeld - 1]);
      return _mm512_mask_blend_epi32(upper, low, high);
    }
  }

 private:
  static constexpr std::size_t kHeld = Vectors <= 4 ? Vectors : 0;
  const std::int32_t* entries_;
  __m512i vector_[kHeld > 0 ? kHeld : 1];
};

/// Looks only at what each rank gains at the slots, and the most that the rank there can gain anywhere: as
/// most often they are refused by that, no row is read of who is there. No branch here hangs on what is
/// found, so that one proposal does not wait for another.
/// `Count` parts, 0: any number.
template <std::size_t Count, std::size_t Vectors>
std::uint32_t screen(const GainRows& gains, const Candidates* proposals, std::size_t proposed,
                     Screened* screened) {
  const std::size_t count = Count > 0 ? Count : gains.parts;
  std::uint32_t any = 0;
  for (std::size_t at = 0; at < proposed; ++at) {
    const auto& [from, first, thresholds] = proposals[at];
    const Row<Vectors> mine(gains.rows + from * gains.width);
    __m512i sum = _mm512_i32gather_epi32(_mm512_loadu_si512(gains.candidates + first), gains.least, 4);
    __m512i own = _mm512_setzero_si512();
    const std::uint32_t* const place = gains.place + from;
    __mmask16 differ = 0;
    for (std::size_t part = 0; part < count; ++part) {
      const __m512i classes = _mm512_cvtepu16_epi32(_mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(gains.candidate_class + part * gains.listed + first)));
      const __m512i here = _mm512_set1_epi32(static_cast<int>(place[part * gains.slots]));
      differ = static_cast<__mmask16>(differ | _mm512_cmpneq_epi32_mask(classes, here));
      own = _mm512_add_epi32(own, mine.at(classes));
    }
    sum = _mm512_add_epi32(sum, own);
    const std::uint32_t hopeful =
        _mm512_mask_cmple_epi32_mask(differ, sum, _mm512_loadu_si512(thresholds));
    _mm512_storeu_si512(screened[at].rises, own);
    screened[at].hopeful = hopeful;
    any |= static_cast<std::uint32_t>(hopeful != 0) << at;
  }
  return any;
}

/// `Count` parts, 0: any number.
template <std::size_t Count>
std::uint32_t judge(const GainRows& gains, const Candidates& candidates, Screened& screened) {
  const std::size_t count = Count > 0 ? Count : gains.parts;
  const std::uint32_t* const place = gains.place + candidates.from;
  const std::uint32_t hopeful = screened.hopeful;
  if (__builtin_popcount(hopeful) > kFew) {
    const auto lanes = static_cast<__mmask16>(hopeful);
    const __m512i rows = _mm512_loadu_si512(gains.candidate_row + candidates.first);
    __m512i sum = _mm512_loadu_si512(screened.rises);
    for (std::size_t part = 0; part < count; ++part) {
      const std::int32_t* const theirs = gains.rows + place[part * gains.slots];
      sum = _mm512_add_epi32(
          sum, _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, rows, theirs, 4));
    }
    _mm512_storeu_si512(screened.rises, sum);
    return _mm512_mask_cmple_epi32_mask(lanes, sum, _mm512_loadu_si512(candidates.thresholds));
  }
  std::uint32_t good = 0;
  for (std::uint32_t left = hopeful; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(left));
    const std::int32_t* const theirs = gains.rows + gains.candidate_row[candidates.first + lane];
    std::int32_t rise = screened.rises[lane];
    for (std::size_t part = 0; part < count; ++part) rise += theirs[place[part * gains.slots]];
    screened.rises[lane] = rise;
    good |= static_cast<std::uint32_t>(rise <= candidates.thresholds[lane]) << lane;
  }
  return good;
}

template <std::size_t Vectors>
std::size_t scan(const GainRows& gains, Slot from, const std::int32_t* thresholds,
                 std::int32_t* classes) {
  const std::size_t vectors = Vectors > 0 ? Vectors : gains.width / kLanes;
  const std::int32_t* const mine = gains.rows + from * gains.width;
  const __m512i own = _mm512_set1_epi32(static_cast<int>(gains.place[from]));
  __m512i number = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  std::size_t count = 0;
  for (std::size_t at = 0; at < vectors * kLanes; at += kLanes) {
    const __m512i bound =
        _mm512_add_epi32(_mm512_loadu_si512(mine + at), _mm512_loadu_si512(gains.class_least + at));
    const __mmask16 hopeful = _mm512_mask_cmple_epi32_mask(
        _mm512_cmpneq_epi32_mask(number, own), bound, _mm512_loadu_si512(thresholds + at));
    _mm512_storeu_si512(classes + count, _mm512_maskz_compress_epi32(hopeful, number));
    count += static_cast<std::size_t>(__builtin_popcount(hopeful));
    number = _mm512_add_epi32(number, _mm512_set1_epi32(kLanes));
  }
  return count;
}

/// The sum over parts of the least entry, of a row of `vectors` vectors that `entries` gives.
template <typename Entries>
std::int32_t least_of(const GainRows& gains, std::size_t vectors, const Entries& entries) {
  std::int32_t sum = 0;
  for (std::size_t part = 0; part < gains.parts; ++part) {
    const std::uint16_t* const members = gains.members + part * vectors;
    __m512i least = _mm512_set1_epi32(0x7fffffff);
    for (std::size_t at = 0; at < vectors; ++at)
      least = _mm512_mask_min_epi32(least, members[at], least, entries(at));
    sum += _mm512_reduce_min_epi32(least);
  }
  return sum;
}

template <std::size_t Vectors>
void tell(const GainRows& gains, const Arc* begin, const Arc* end, const Slot* slots,
          std::int32_t sign) {
  const std::size_t vectors = Vectors > 0 ? Vectors : gains.width / kLanes;
  const std::int32_t* const steps = gains.steps;
  for (const Arc* arc = begin; arc != end; ++arc) {
    const Slot there = slots[arc->to];
    const std::int32_t weight = sign * static_cast<std::int32_t>(arc->weight);
    std::int32_t* const its = gains.rows + there * gains.width;
    std::int32_t own = 0;
    for (std::size_t part = 0; part < gains.parts; ++part)
      own += weight * steps[gains.place[part * gains.slots + there]];
    const __m512i weights = _mm512_set1_epi32(weight), owns = _mm512_set1_epi32(own);
    __m512i entries[Vectors > 0 ? Vectors : 1];
    for (std::size_t at = 0; at < vectors; ++at) {
      const __m512i change = _mm512_mullo_epi32(weights, _mm512_loadu_si512(steps + at * kLanes));
      const __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(its + at * kLanes), change);
      const __m512i entry = _mm512_mask_sub_epi32(sum, gains.members[at], sum, owns);
      _mm512_storeu_si512(its + at * kLanes, entry);
      if constexpr (Vectors > 0) entries[at] = entry;
    }
    gains.least[there] = least_of(gains, vectors, [&](std::size_t at) {
      if constexpr (Vectors > 0) return entries[at];
      else return _mm512_loadu_si512(its + at * kLanes);
    });
  }
}

void weigh(const GainRows& gains, Slot slot) {
  const std::int32_t* const its = gains.rows + slot * gains.width;
  gains.least[slot] = least_of(gains, gains.width / kLanes, [&](std::size_t at) {
    return _mm512_loadu_si512(its + at * kLanes);
  });
}

std::uint32_t favourite(const GainRows& gains, Slot slot, std::size_t part) {
  const std::int32_t* const its = gains.rows + slot * gains.width;
  const std::uint16_t* const members = gains.members + part * (gains.width / kLanes);
  const std::size_t first = gains.begins[part] / kLanes;
  const std::size_t last = (gains.begins[part + 1] - 1) / kLanes;
  __m512i least = _mm512_set1_epi32(0x7fffffff);
  for (std::size_t at = first; at <= last; ++at)
    least = _mm512_mask_min_epi32(least, members[at], least, _mm512_loadu_si512(its + at * kLanes));
  least = _mm512_set1_epi32(_mm512_reduce_min_epi32(least));
  std::size_t at = first;
  std::uint32_t found = 0;
  while (found == 0 && at <= last) {
    found = _mm512_mask_cmpeq_epi32_mask(members[at], _mm512_loadu_si512(its + at * kLanes), least);
    ++at;
  }
  return static_cast<std::uint32_t>((at - 1) * kLanes) +
         static_cast<std::uint32_t>(__builtin_ctz(found));
}

template <std::size_t Vectors>
GainForm form(std::size_t parts) {
  switch (parts) {
    case 1: return {screen<1, Vectors>, judge<1>, scan<Vectors>, tell<Vectors>, weigh, favourite};
    case 2: return {screen<2, Vectors>, judge<2>, scan<Vectors>, tell<Vectors>, weigh, favourite};
    case 3: return {screen<3, Vectors>, judge<3>, scan<Vectors>, tell<Vectors>, weigh, favourite};
    default: return {screen<0, Vectors>, judge<0>, scan<Vectors>, tell<Vectors>, weigh, favourite};
  }
}

}  // namespace

GainForm avx512_gain_form(std::size_t parts, std::size_t width) {
  switch (width / kLanes) {
    case 1: return form<1>(parts);
    case 2: return form<2>(parts);
    case 3: return form<3>(parts);
    case 4: return form<4>(parts);
    case 5: return form<5>(parts);
    case 6: return form<6>(parts);
    case 7: return form<7>(parts);
    case 8: return form<8>(parts);
    default: return form<0>(parts);
  }
}

}  // namespace hamtune::mapper
