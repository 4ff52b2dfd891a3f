#include "searchspace/kernels/mapping/mapper/gain_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "searchspace/kernels/graph/instructions.hpp"

namespace hamtune::mapper {
namespace {

constexpr std::size_t kThresholds = 4096;
constexpr std::uint64_t kAhead = 16;    ///< drawn before the first of them is judged
constexpr std::uint64_t kScreened = 8;  ///< of these, how many are screened together
constexpr std::uint32_t kAnywhere = 8;  ///< of 256 proposals, how many have candidates anywhere
constexpr std::uint32_t kTurned = 96;   ///< of 256 others, how many are turned where that can be
constexpr std::size_t kTurnedAxes = 3;  ///< with two axes nothing is gained by it
constexpr std::size_t kSparse = 16;     ///< times as many corners as slots: too many for a table

/// Rises, in temperatures, that are just accepted: quantiles of the exponential distribution, in an
/// order that has nothing to do with their size.
const std::vector<double>& patiences() {
  static const std::vector<double> shuffled = [] {
    std::vector<double> found;
    for (std::size_t at = 0; at < kThresholds; ++at)
      found.push_back(-std::log((static_cast<double>(at) + 0.5) / kThresholds));
    Random random(1);
    for (std::size_t at = kThresholds; at-- > 1;)
      std::swap(found[at], found[random.below(static_cast<std::uint32_t>(at + 1))]);
    return found;
  }();
  return shuffled;
}

/// Rows of so many entries stay in the cache of one core.
constexpr std::size_t kNearEntries = 1U << 17U;

/// Whether all slots may be candidates at once. Of more slots a class, the least that one of them
/// costs would say little of the others, and many would have to be looked at.
bool may_scan(const Parts& parts) {
  constexpr std::size_t kSlotsOfClass = 4;
  return parts.parts.size() == 1 && !parts.parts[0].hops.empty() &&
         parts.places.size() <= kSlotsOfClass * parts.width;
}

GainForm fastest_form(const Parts& parts, std::size_t width) {
  const std::size_t count = parts.parts.size();
#ifdef HAMTUNE_X86_LEVELS
  // A move changes few of the many entries of a row of levels: it would cost more to look at all.
  if (!parts.parts[0].hops.empty() && usable_instructions() == Instructions::kAvx512)
    return avx512_gain_form(count, width);
#endif
  return portable_gain_form(count, may_scan(parts));
}

/// So much of a number below 2^32 as `limit` is of all.
std::uint32_t share_of(std::uint32_t number, std::size_t limit) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(number) * limit) >> 32U);
}

}  // namespace

bool GainTable::hold(const Flows& flows, int diameter) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 8;
  for (Rank rank = 0; rank < flows.ranks(); ++rank) {
    std::int64_t sum = 0;
    for (const Arc* arc = flows.begin(rank); arc != flows.end(rank); ++arc) sum += arc->weight;
    if (sum * diameter > kMost) return false;
  }
  return true;
}

GainTable::GainTable(const Flows& flows, Parts parts, const std::vector<Slot>& near, std::size_t most_entries)
    : flows_(flows),
      parts_(std::move(parts)),
      width_((parts_.width + kLanes - 1) / kLanes * kLanes),
      kept_(!levels() || near.size() / kLanes * width_ <= most_entries),
      candidates_(near.begin(), near.end()),
      steps_(width_, 0),
      thresholds_(kThresholds + std::max(width_, kLanes), 0),
      form_(fastest_form(parts_, width_)) {
  const std::size_t slots = candidates_.size() / kLanes, count = parts_.parts.size();
  find_corners(slots);
  for (std::size_t part = 0; part < count; ++part)
    for (Slot slot = 0; slot < slots; ++slot) place_.push_back(parts_.of(slot)[part]);
  std::map<std::vector<std::uint16_t>, std::uint32_t> kinds;
  for (Slot slot = 0; slot < slots; ++slot) {
    const std::vector<std::uint16_t> classes(parts_.of(slot), parts_.of(slot) + count);
    kind_.push_back(kinds.emplace(classes, static_cast<std::uint32_t>(kinds.size())).first->second);
  }
  list_candidates(near);
  if (may_scan(parts_)) {
    class_least_.resize(width_);
    hopeful_.resize(width_ + kLanes);
    class_slots_.resize(slots);
    std::iota(class_slots_.begin(), class_slots_.end(), 0);
    std::stable_sort(class_slots_.begin(), class_slots_.end(),
                     [this](Slot one, Slot other) { return place_[one] < place_[other]; });
    class_first_.assign(width_ + 1, 0);
    for (const std::uint32_t one : place_) ++class_first_[one + 1];
    std::partial_sum(class_first_.begin(), class_first_.end(), class_first_.begin());
  }
  for (const Parts::Part& part : parts_.parts)
    begins_.push_back(static_cast<std::uint32_t>(part.offset));
  begins_.push_back(static_cast<std::uint32_t>(parts_.width));
  rank_.resize(slots);
  if (kept_) rows_.resize(slots * width_);
  least_.resize(slots);
  far_ = rows_.size() > kNearEntries;
  members_.assign(count * width_ / kLanes, 0);
  for (std::size_t part = 0; part < count; ++part)
    for (std::size_t one = 0; one < parts_.parts[part].classes; ++one) {
      const std::size_t at = parts_.parts[part].offset + one;
      std::uint16_t& members = members_[part * (width_ / kLanes) + at / kLanes];
      members = static_cast<std::uint16_t>(members | (1U << (at % kLanes)));
    }
}

void GainTable::list_candidates(const std::vector<Slot>& near) {
  const std::size_t slots = near.size() / kLanes;
  for (std::size_t at = 0; at < slots + kLanes; ++at)
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a machine has slots
    candidates_.push_back(static_cast<Slot>(at % slots));
  around_ = static_cast<std::uint32_t>(candidates_.size());
  for (Slot slot = 0; turns() && slot < slots; ++slot) {
    candidates_.push_back(slot);
    for (std::size_t at = 0; at + 1 < kLanes; ++at) candidates_.push_back(near[slot * kLanes + at]);
  }
  for (std::size_t part = 0; part < parts_.parts.size(); ++part)
    for (const Slot slot : candidates_) candidate_class_.push_back(parts_.of(slot)[part]);
  for (const Slot slot : candidates_) {
    if (kept_) candidate_row_.push_back(static_cast<std::uint32_t>(slot * width_));
    candidate_kind_.push_back(kind_[slot]);
  }
}

void GainTable::find_corners(std::size_t slots) {
  if (levels() || parts_.parts.size() < kTurnedAxes) return;
  std::size_t corners = 1;
  std::vector<std::size_t> strides;
  for (const Parts::Part& part : parts_.parts) {
    strides.push_back(corners);
    corners *= part.classes;
    if (corners > kSparse * slots) return;
  }
  strides_ = std::move(strides);
  slot_of_corner_.assign(corners, kFree);
  for (Slot slot = 0; slot < slots; ++slot) {
    std::size_t corner = 0;
    for (std::size_t part = 0; part < strides_.size(); ++part)
      corner += strides_[part] * (parts_.of(slot)[part] - parts_.parts[part].offset);
    corner_.push_back(corner);
    slot_of_corner_[corner] = slot;
  }
}

GainRows GainTable::data() {
  GainRows found;
  found.parts = parts_.parts.size();
  found.slots = rank_.size();
  found.width = width_;
  found.listed = candidates_.size();
  found.rows = rows_.data();
  found.least = least_.data();
  found.steps = steps_.data();
  found.class_least = class_least_.data();
  found.place = place_.data();
  found.members = members_.data();
  found.begins = begins_.data();
  found.kind = kind_.data();
  found.candidates = candidates_.data();
  found.candidate_row = candidate_row_.data();
  found.candidate_kind = candidate_kind_.data();
  found.candidate_class = candidate_class_.data();
  return found;
}

void GainTable::reset(std::vector<Slot> slots) {
  slot_ = std::move(slots);
  std::fill(rank_.begin(), rank_.end(), kFree);
  for (Rank rank = 0; rank < slot_.size(); ++rank) rank_[slot_[rank]] = rank;
  if (!kept_) return;
  std::fill(rows_.begin(), rows_.end(), 0);
  std::fill(least_.begin(), least_.end(), 0);
  const GainRows rows = data();
  for (Rank rank = 0; rank < slot_.size(); ++rank) {
    std::int32_t* const mine = row(slot_[rank]);
    for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
      const std::uint16_t* const there = parts_.of(slot_[arc->to]);
      const auto weight = static_cast<std::int32_t>(arc->weight);
      for (std::size_t at = 0; at < parts_.parts.size(); ++at) {
        const Parts::Part& part = parts_.parts[at];
        if (part.hops.empty()) mine[there[at]] += weight * part.same;
        for (std::size_t one = 0; !part.hops.empty() && one < part.classes; ++one)
          mine[part.offset + one] += weight * part.at(there[at] - part.offset, one);
      }
    }
    settle(slot_[rank]);
    if (form_.weigh != nullptr) form_.weigh(rows, slot_[rank]);
  }
  // Nobody is in a class without slots; a rank gains less anywhere than this.
  std::fill(class_least_.begin(), class_least_.end(), std::numeric_limits<std::int32_t>::max() / 4 * 3);
  for (Slot slot = 0; scans() && slot < rank_.size(); ++slot) bound(slot);
}

void GainTable::bound(Slot slot) {
  std::int32_t& least = class_least_[place_[slot]];
  least = std::min(least, least_[slot]);
}

void GainTable::lower(Slot slot, std::int32_t by) {
  // An entry of each part is added up, so it is enough to lower those of one part.
  std::int32_t* const mine = row(slot);
  for (std::size_t one = 0; one < parts_.parts[0].classes; ++one) mine[one] -= by;
  least_[slot] -= by;
}

void GainTable::settle(Slot slot) {
  std::int32_t own = 0;
  for (std::size_t part = 0; part < parts_.parts.size(); ++part) own += row(slot)[place(part)[slot]];
  lower(slot, own);
}

std::int32_t GainTable::between(Rank rank, Rank other, Slot from, Slot to) const {
  // Two rows together take both hops of a slot to itself for those between the two.
  for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
    if (arc->to != other) continue;
    std::int32_t detour = 0;
    for (std::size_t at = 0; at < parts_.parts.size(); ++at) {
      const Parts::Part& part = parts_.parts[at];
      const std::size_t one = place(at)[from] - part.offset, two = place(at)[to] - part.offset;
      detour += 2 * part.at(one, two) - part.at(one, one) - part.at(two, two);
    }
    return static_cast<std::int32_t>(arc->weight) * detour;
  }
  return 0;
}

std::int32_t GainTable::toll(Slot at, Slot to) const {
  if (!kept_) return counted_toll(at, to);
  std::int32_t sum = 0;
  for (std::size_t part = 0; part < parts_.parts.size(); ++part) sum += row(at)[place(part)[to]];
  return sum;
}

std::int32_t GainTable::counted_toll(Slot at, Slot to) const {
  const Rank rank = rank_[at];
  std::int32_t sum = 0;
  for (std::size_t part = 0; rank != kFree && part < parts_.parts.size(); ++part) {
    const std::uint32_t* const classes = place(part);
    const std::uint32_t here = classes[at], there = classes[to];
    std::int32_t shared = 0;  // the weight of partners in the class there, less that of those here
    for (const Arc* arc = flows_.begin(rank); here != there && arc != flows_.end(rank); ++arc) {
      const std::uint32_t its = classes[slot_[arc->to]];
      shared += static_cast<std::int32_t>(arc->weight) * ((its == there ? 1 : 0) - (its == here ? 1 : 0));
    }
    sum += parts_.parts[part].same * shared;
  }
  return sum;
}

std::uint32_t GainTable::judge(const Candidates& candidates, Screened& screened) const {
  std::uint32_t good = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const Slot to = candidates_[candidates.first + lane];
    if (alike(candidates.from, to)) continue;
    const std::int32_t rise = toll(candidates.from, to) + toll(to, candidates.from);
    screened.rises[lane] = rise;
    good |= (rise <= candidates.thresholds[lane] ? 1U : 0U) << lane;
  }
  return good;
}

std::int32_t GainTable::change(Rank rank, Slot to) const {
  const Slot from = slot_[rank];
  const std::int32_t change = toll(from, to) + toll(to, from);
  const Rank other = rank_[to];
  return other == kFree ? change : change + between(rank, other, from, to);
}

void GainTable::fetch_row(Slot slot) const {
  for (std::size_t one = 0; one < width_; one += kLanes) __builtin_prefetch(row(slot) + one);
}

void GainTable::tell_partners(Rank rank, Slot from, Slot to, std::int32_t sign) {
  if (levels()) return tell_levels(rank, from, to, sign);
  if (far_)
    for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc)
      fetch_row(slot_[arc->to]);
  form_.tell(data(), flows_.begin(rank), flows_.end(rank), slot_.data(), sign);
  if (!scans()) return;
  for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) bound(slot_[arc->to]);
}

void GainTable::tell_levels(Rank rank, Slot from, Slot to, std::int32_t sign) {
  for (const Arc* arc = flows_.begin(rank); arc != flows_.end(rank); ++arc) {
    const Slot there = slot_[arc->to];
    const std::int32_t weight = sign * static_cast<std::int32_t>(arc->weight);
    std::int32_t* const its = row(there);
    std::int32_t own = 0;
    for (std::size_t part = 0; part < parts_.parts.size(); ++part) {  // two entries a part change
      const std::uint32_t left = place(part)[from], next = place(part)[to];
      if (left == next) continue;
      const std::int32_t change = weight * parts_.parts[part].same;
      its[left] -= change;
      its[next] += change;
      const std::uint32_t mine = place(part)[there];
      own += (mine == next ? change : 0) - (mine == left ? change : 0);
    }
    lower(there, own);
  }
}

void GainTable::swap(Rank rank, Slot to) {
  const Slot from = slot_[rank];
  const Rank other = rank_[to];
  for (std::size_t at = 0; at < parts_.parts.size(); ++at) {
    const Parts::Part& part = parts_.parts[at];
    if (part.hops.empty()) break;
    const std::int32_t* const before =
        part.hops.data() + (place(at)[from] - part.offset) * part.classes;
    const std::int32_t* const after =
        part.hops.data() + (place(at)[to] - part.offset) * part.classes;
    for (std::size_t one = 0; one < part.classes; ++one)
      steps_[part.offset + one] = after[one] - before[one];
  }
  if (kept_) {
    tell_partners(rank, from, to, 1);
    if (other != kFree) tell_partners(other, from, to, -1);
    std::swap_ranges(row(from), row(from) + width_, row(to));
    std::swap(least_[from], least_[to]);
  }
  slot_[rank] = to;
  rank_[to] = rank;
  rank_[from] = other;
  if (other != kFree) slot_[other] = from;
  if (!kept_) return;
  settle(to);
  if (other != kFree) settle(from);
  if (!scans()) return;
  bound(from);
  bound(to);
}

Slot GainTable::turned(Slot near, Slot from, std::uint32_t draw, const GainRows& rows) const {
  const std::size_t part = (draw >> 8U) % 256 * strides_.size() / 256;
  const std::size_t there = form_.favourite(rows, from, part);
  const Slot found = slot_of_corner_[corner_[near] + strides_[part] * (there - place(part)[near])];
  return found == kFree ? near : found;
}

Rank GainTable::drawn_rank(std::uint64_t draw) const {
  return share_of(static_cast<std::uint32_t>(draw >> 32U), slot_.size());
}

GainTable::Accepted GainTable::propose(std::uint64_t proposals, double temperature, Random& random) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max() / 2;
  const std::vector<double>& patience = patiences();
  for (std::size_t at = 0; at < thresholds_.size(); ++at)
    thresholds_[at] =
        static_cast<std::int32_t>(std::min(temperature * patience[at % kThresholds], double{kMost}));
  // Several proposals are drawn before the first is judged, which does not wait for memory then. Where
  // a partner moves meanwhile, the candidates are slots close to where it was.
  struct Draw {
    Rank rank;
    std::uint32_t first, chance;
  } drawn[kAhead];
  Candidates made[kScreened];
  Screened screened[kScreened];
  const auto anywhere = static_cast<std::uint32_t>(rank_.size() * kLanes);
  const GainRows rows = data();
  Accepted accepted;
  for (std::uint64_t begin = 0; begin < proposals; begin += kAhead) {
    const std::uint64_t ahead = std::min(kAhead, proposals - begin);
    std::uint64_t draws[kAhead];
    for (std::uint64_t at = 0; at < ahead; ++at) {
      draws[at] = random.next();
      if (far_) fetch_row(slot_[drawn_rank(draws[at])]);
    }
    for (std::uint64_t at = 0; at < ahead; ++at) {
      const auto low = static_cast<std::uint32_t>(draws[at]), mixed = low * 2654435769U;
      const Rank rank = drawn_rank(draws[at]);
      const std::uint32_t degree = flows_.degree(rank);
      if (degree > 0 && low % 256 >= kAnywhere) {
        const Slot partner = slot_[flows_.begin(rank)[share_of(low, degree)].to];
        drawn[at].first = partner * kLanes;
        const auto spare = static_cast<std::uint32_t>(draws[at] >> 32U);  // the upper ones tell the rank
        if (turns() && spare % 256 < kTurned) {
          const Slot slot = turned(partner, slot_[rank], spare, rows);
          drawn[at].first = around_ + slot * static_cast<std::uint32_t>(kLanes);
        }
      } else {
        drawn[at].first = anywhere + share_of(mixed, rank_.size());
      }
      drawn[at].rank = rank;
      drawn[at].chance = (mixed >> 8U) % kThresholds;
      if (!far_) continue;
      __builtin_prefetch(rows.candidates + drawn[at].first);
      for (std::size_t part = 0; part < rows.parts; ++part)
        __builtin_prefetch(rows.candidate_class + part * rows.listed + drawn[at].first);
    }
    // A few are screened together; what stands after a swap is screened anew, which costs more where
    // rows are far away.
    const std::uint64_t together = far_ ? kScreened / 2 : kScreened;
    for (std::uint64_t at = 0; at < ahead;) {
      const std::uint64_t count = std::min(together, ahead - at);
      for (std::uint64_t one = 0; one < count; ++one) {
        const auto& [rank, first, chance] = drawn[at + one];
        made[one] = {slot_[rank], first, thresholds_.data() + chance};
      }
      std::uint64_t next = at + count;
      for (std::uint32_t left = form_.screen(rows, made, count, screened); left != 0;
           left &= left - 1) {
        const auto one = static_cast<std::size_t>(__builtin_ctz(left));
        const std::uint32_t good = kept_ ? form_.judge(rows, made[one], screened[one])
                                         : judge(made[one], screened[one]);
        if (!take(drawn[at + one].rank, made[one], good, screened[one].rises, accepted)) continue;
        next = at + one + 1;
        break;
      }
      at = next;
    }
  }
  return accepted;
}

bool GainTable::take(Rank rank, const Candidates& candidates, std::uint32_t good, const std::int32_t* rises,
                     Accepted& accepted) {
  for (; good != 0; good &= good - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(good));
    const Slot to = candidates_[candidates.first + lane];
    const Rank other = rank_[to];
    std::int32_t rise = rises[lane];
    if (other != kFree) rise += between(rank, other, candidates.from, to);
    if (rise > candidates.thresholds[lane]) continue;
    swap(rank, to);
    accepted.add(rise);
    return true;
  }
  return false;
}

GainTable::Accepted GainTable::propose_all(std::uint64_t times, Random& random) {
  const GainRows rows = data();
  Accepted accepted;
  for (std::uint64_t begin = 0; begin < times; begin += kAhead) {
    const std::uint64_t ahead = std::min(kAhead, times - begin);
    std::uint64_t draws[kAhead];
    for (std::uint64_t at = 0; at < ahead; ++at) {
      draws[at] = random.next();
      if (far_) fetch_row(slot_[drawn_rank(draws[at])]);
    }
    for (std::uint64_t at = 0; at < ahead; ++at)
      try_all(drawn_rank(draws[at]), static_cast<std::uint32_t>(draws[at]), rows, accepted);
  }
  return accepted;
}

void GainTable::try_all(Rank rank, std::uint32_t draw, const GainRows& rows, Accepted& accepted) {
  const Slot from = slot_[rank];
  const std::uint32_t here = place_[from], mixed = draw * 2654435769U;
  const std::int32_t* const most = thresholds_.data() + mixed % kThresholds;
  const std::size_t count = form_.scan(rows, from, most, hopeful_.data());
  // From any class on, and any of its slots: what costs nothing could be taken forever before the others
  // are seen.
  std::size_t at = share_of(draw, count);
  for (std::size_t classes = count; classes > 0; --classes, at = at + 1 < count ? at + 1 : 0) {
    const auto there = static_cast<std::size_t>(hopeful_[at]);
    const std::int32_t gain = row(from)[there];
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    const std::uint32_t begin = class_first_[there], end = class_first_[there + 1];
    std::uint32_t one = begin + share_of(mixed, end - begin);
    for (std::uint32_t left = end - begin; left > 0; --left, one = one + 1 < end ? one + 1 : begin) {
      const Slot to = class_slots_[one];
      least = std::min(least, least_[to]);
      if (gain + least_[to] > most[there]) continue;
      std::int32_t rise = gain + row(to)[here];
      if (rise > most[there]) continue;
      const Rank other = rank_[to];
      if (other != kFree) rise += between(rank, other, from, to);
      if (rise > most[there]) continue;
      swap(rank, to);
      return accepted.add(rise);
    }
    class_least_[there] = least;
  }
}

}  // namespace hamtune::mapper
