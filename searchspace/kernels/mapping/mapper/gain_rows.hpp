// Judging swaps by the rows of `GainTable`, and updating them, in the forms that processors run. Plain C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "searchspace/kernels/mapping/mapper/flows.hpp"

namespace hamtune::mapper {

/// How many candidate slots a rank has at once; the width of a row is a multiple of it.
constexpr std::size_t kLanes = 16;

/// Where the data of `GainTable` are: of each slot a row, which has an entry for each class of each part.
struct GainRows {
  std::size_t parts = 0, slots = 0, width = 0;
  std::size_t listed = 0;         ///< slots on the candidate list
  std::int32_t* rows = nullptr;   ///< slots x width
  std::int32_t* least = nullptr;  ///< of each slot: the sum of the least entries of all parts
  const std::int32_t* class_least = nullptr;  ///< of each class of one part: at most the `least` in it
  const std::int32_t* steps = nullptr;      ///< of each class: how much farther it is after a move
  const std::uint32_t* place = nullptr;     ///< parts x slots: the class, counted over all parts
  const std::uint16_t* members = nullptr;   ///< parts x width / kLanes: a bit for each class of the part
  const std::uint32_t* begins = nullptr;    ///< of each part: its first class; then the number of classes
  const std::uint32_t* kind = nullptr;      ///< of each slot: the same where all its classes are
  const Slot* candidates = nullptr;         ///< the list; of each slot on it:
  const std::uint32_t* candidate_row = nullptr;    ///< where its row begins
  const std::uint32_t* candidate_kind = nullptr;   ///< its kind
  const std::uint16_t* candidate_class = nullptr;  ///< parts x listed: its class
};

/// What is proposed to a rank: to swap with whoever is at one of kLanes slots of the candidate list.
struct Candidates {
  Slot from;                       ///< where the rank is
  std::uint32_t first;             ///< where on the list the slots begin
  const std::int32_t* thresholds;  ///< up to which each may cost more
};

/// What is known of the swaps with candidates, as if nobody there were a partner.
struct Screened {
  std::uint32_t hopeful;       ///< a bit for each that could be within its threshold
  std::int32_t rises[kLanes];  ///< what the rank itself gains at each, at most
};

/// Screens so many proposals, at most kLanes. Returns a bit for each of them that has anything hopeful.
using Screen = std::uint32_t (*)(const GainRows& gains, const Candidates* proposals, std::size_t count,
                                 Screened* screened);

/// Returns a bit for each swap with a candidate that is within its threshold, and no swap of slots that are
/// alike; its rise is the change of the cost then.
using Judge = std::uint32_t (*)(const GainRows& gains, const Candidates& candidates, Screened& screened);

/// The classes, but that of `from`, in which a swap of the rank there could be within the threshold of the
/// class, if nobody in it were a partner. There is one part. Returns how many; `classes` has room for as many
/// as a row has entries, and kLanes more.
using Scan = std::size_t (*)(const GainRows& gains, Slot from, const std::int32_t* thresholds,
                             std::int32_t* classes);

/// A rank has moved by `steps`: changes the rows of its partners, whose slots are `slots` of them, each
/// so that it costs nothing where the partner is. `sign` is -1 for who moves the other way.
using Tell = void (*)(const GainRows& gains, const Arc* begin, const Arc* end, const Slot* slots,
                      std::int32_t sign);

/// Finds `least` of a slot anew.
using Weigh = void (*)(const GainRows& gains, Slot slot);

/// The class of a part in which the rank at a slot would cost least; the first of several.
using Favourite = std::uint32_t (*)(const GainRows& gains, Slot slot, std::size_t part);

/// All forms give the same results. `tell` keeps `least` where there is `weigh`; `scan` needs it.
struct GainForm {
  Screen screen;
  Judge judge;
  Scan scan;
  Tell tell;
  Weigh weigh;
  Favourite favourite;
};

/// `scanned`: `scan` is to be used; there is one part then.
GainForm portable_gain_form(std::size_t parts, bool scanned);
/// For processors with the instructions of x86-64-v4.
GainForm avx512_gain_form(std::size_t parts, std::size_t width);

}  // namespace hamtune::mapper
