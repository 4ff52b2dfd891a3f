// Judging swaps and updating rows, compiled for every processor.
#include <algorithm>

#include "searchspace/kernels/mapping/mapper/gain_rows.hpp"

namespace hamtune::mapper {
namespace {

/// All are: what the most is that a rank can gain anywhere is not kept.
std::uint32_t screen(const GainRows&, const Candidates*, std::size_t count, Screened*) {
  return (1U << count) - 1;
}

/// `Count` parts, 0: any number.
template <std::size_t Count>
std::uint32_t judge(const GainRows& gains, const Candidates& candidates, Screened& screened) {
  const std::size_t count = Count > 0 ? Count : gains.parts;
  const std::int32_t* const mine = gains.rows + candidates.from * gains.width;
  const std::uint32_t* const rows = gains.candidate_row + candidates.first;
  std::int32_t sums[kLanes] = {};
  for (std::size_t part = 0; part < count; ++part) {
    const std::uint16_t* const its_class = gains.candidate_class + part * gains.listed + candidates.first;
    const std::int32_t* const theirs = gains.rows + gains.place[part * gains.slots + candidates.from];
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += mine[its_class[lane]] + theirs[rows[lane]];
  }
  const std::uint32_t* const kinds = gains.candidate_kind + candidates.first;
  const std::uint32_t kind = gains.kind[candidates.from];
  std::uint32_t good = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    screened.rises[lane] = sums[lane];
    good |= static_cast<std::uint32_t>((sums[lane] <= candidates.thresholds[lane]) & (kinds[lane] != kind))
            << lane;
  }
  return good;
}

std::size_t scan(const GainRows& gains, Slot from, const std::int32_t* thresholds,
                 std::int32_t* classes) {
  const std::int32_t* const mine = gains.rows + from * gains.width;
  std::size_t count = 0;
  for (std::size_t one = 0; one < gains.width; ++one) {
    classes[count] = static_cast<std::int32_t>(one);
    const bool hopeful = mine[one] + gains.class_least[one] <= thresholds[one];
    count += static_cast<std::size_t>(hopeful & (one != gains.place[from]));
  }
  return count;
}

/// Where there is one part.
void weigh(const GainRows& gains, Slot slot) {
  const std::int32_t* const its = gains.rows + slot * gains.width;
  gains.least[slot] = *std::min_element(its, its + gains.begins[1]);
}

/// `Weighed`: keeps `least`.
template <bool Weighed>
void tell(const GainRows& gains, const Arc* begin, const Arc* end, const Slot* slots,
          std::int32_t sign) {
  const std::int32_t* const __restrict steps = gains.steps;
  const std::size_t width = gains.width, classes = gains.begins[1];
  for (const Arc* arc = begin; arc != end; ++arc) {
    const Slot there = slots[arc->to];
    const std::int32_t weight = sign * static_cast<std::int32_t>(arc->weight);
    std::int32_t* const __restrict its = gains.rows + there * width;
    std::int32_t own = 0;
    for (std::size_t part = 0; part < gains.parts; ++part)
      own += weight * steps[gains.place[part * gains.slots + there]];
    for (std::size_t one = 0; one < classes; ++one) its[one] += weight * steps[one] - own;
    for (std::size_t one = classes; one < width; ++one) its[one] += weight * steps[one];
    if constexpr (Weighed) weigh(gains, there);
  }
}

std::uint32_t favourite(const GainRows& gains, Slot slot, std::size_t part) {
  const std::int32_t* const its = gains.rows + slot * gains.width;
  return static_cast<std::uint32_t>(
      std::min_element(its + gains.begins[part], its + gains.begins[part + 1]) - its);
}

}  // namespace

GainForm portable_gain_form(std::size_t parts, bool scanned) {
  if (scanned) return {screen, judge<1>, scan, tell<true>, weigh, favourite};
  switch (parts) {
    case 1: return {screen, judge<1>, scan, tell<false>, nullptr, favourite};
    case 2: return {screen, judge<2>, scan, tell<false>, nullptr, favourite};
    case 3: return {screen, judge<3>, scan, tell<false>, nullptr, favourite};
    default: return {screen, judge<0>, scan, tell<false>, nullptr, favourite};
  }
}

}  // namespace hamtune::mapper
