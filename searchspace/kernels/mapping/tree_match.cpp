#include "searchspace/kernels/mapping/tree_match.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace hamtune {

namespace {

using Item = std::uint32_t;

/// What the (virtual) processes of a level exchange.
struct Level {
  struct Link {
    Item other;
    std::int64_t bytes;
  };
  std::vector<std::vector<Link>> links;  ///< of each, by increasing other
  std::vector<std::int64_t> total;       ///< of all links of each

  std::size_t count() const { return links.size(); }

  /// Adds processes that communicate with nobody.
  void extend(std::size_t size) {
    links.resize(size);
    total.resize(size, 0);
  }

  std::int64_t between(Item one, Item other) const {
    const std::vector<Link>& list = links[one];
    const auto at = std::lower_bound(list.begin(), list.end(), other,
                                     [](const Link& link, Item item) { return link.other < item; });
    return at != list.end() && at->other == other ? at->bytes : 0;
  }
};

/// Groups of `width` processes each, one after another.
struct Groups {
  std::size_t width;
  std::vector<Item> members;
  std::vector<std::int64_t> value;  ///< bytes that leave the group

  std::size_t count() const { return value.size(); }
  const Item* begin(std::size_t group) const { return members.data() + group * width; }
  const Item* end(std::size_t group) const { return begin(group) + width; }

  void add(const Level& level, const std::vector<Item>& group) {
    std::int64_t leaving = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      leaving += level.total[group[i]];
      for (std::size_t j = 0; j < i; ++j) leaving -= 2 * level.between(group[i], group[j]);
    }
    members.insert(members.end(), group.begin(), group.end());
    value.push_back(leaving);
  }
};

Level first_level(const TrafficView& traffic) {
  Level level;
  level.extend(traffic.ranks);
  for (std::size_t rank = 0; rank < traffic.ranks; ++rank)
    for (std::size_t i = traffic.begin(rank); i < traffic.end(rank); ++i) {
      level.links[rank].push_back({traffic.partner[i], traffic.size[i]});
      level.total[rank] += traffic.size[i];
    }
  return level;
}

/// What the groups of a level exchange with each other.
Level aggregate(const Level& level, const std::vector<Item>& group_of, std::size_t groups) {
  std::vector<std::vector<Item>> members(groups);
  for (Item item = 0; item < level.count(); ++item) members[group_of[item]].push_back(item);
  Level above;
  above.extend(groups);
  std::vector<std::int64_t> bytes(groups, 0);
  std::vector<Item> touched;
  for (Item group = 0; group < groups; ++group) {
    touched.clear();
    for (const Item item : members[group])
      for (const Level::Link& link : level.links[item]) {
        const Item other = group_of[link.other];
        if (other == group) continue;
        if (bytes[other] == 0) touched.push_back(other);
        bytes[other] += link.bytes;
      }
    std::sort(touched.begin(), touched.end());
    for (const Item other : touched) {
      above.links[group].push_back({other, bytes[other]});
      above.total[group] += bytes[other];
      bytes[other] = 0;
    }
  }
  return above;
}

/// How many groups of `width` out of `count` there are, or `limit` + 1 when that is less.
std::uint64_t possible_groups(std::uint64_t count, std::uint64_t width, std::uint64_t limit) {
  std::uint64_t groups = 1;
  for (std::uint64_t i = 1; i <= width; ++i) {
    if (groups > std::numeric_limits<std::uint64_t>::max() / count) return limit + 1;
    groups = groups * (count - width + i) / i;
    if (groups > limit) return limit + 1;
  }
  return groups;
}

Groups all_groups(const Level& level, std::size_t width) {
  Groups groups{width, {}, {}};
  std::vector<Item> group(width);
  std::iota(group.begin(), group.end(), 0U);
  const auto count = static_cast<Item>(level.count());
  while (true) {
    groups.add(level, group);
    std::size_t at = width;
    while (at > 0 && group[at - 1] == count - (width - at) - 1) --at;
    if (at == 0) return groups;
    ++group[at - 1];
    for (std::size_t next = at; next < width; ++next) group[next] = group[next - 1] + 1;
  }
}

/// A group around each free process: the one with the most traffic to the group comes in until it is
/// full. Processes that find no partner have none.
Groups grown_groups(const Level& level, std::size_t width, const std::vector<bool>& taken) {
  Groups groups{width, {}, {}};
  std::vector<std::int64_t> pull(level.count(), 0);
  std::vector<Item> touched;
  std::vector<Item> group;
  if (width == 2) {  // these are simply all pairs that exchange something
    for (Item one = 0; one < level.count(); ++one)
      for (const Level::Link& link : level.links[one])
        if (one < link.other && !taken[one] && !taken[link.other]) groups.add(level, {one, link.other});
    return groups;
  }
  for (Item seed = 0; seed < level.count(); ++seed) {
    if (taken[seed]) continue;
    group.assign(1, seed);
    touched.clear();
    while (group.size() < width) {
      for (const Level::Link& link : level.links[group.back()]) {
        if (taken[link.other]) continue;
        if (pull[link.other] == 0) touched.push_back(link.other);
        pull[link.other] += link.bytes;
      }
      Item best = seed;
      std::int64_t strongest = 0;
      for (const Item item : touched)
        if ((pull[item] > strongest || (pull[item] == strongest && item < best)) &&
            std::find(group.begin(), group.end(), item) == group.end()) {
          best = item;
          strongest = pull[item];
        }
      if (strongest == 0) break;
      group.push_back(best);
    }
    for (const Item item : touched) pull[item] = 0;
    if (group.size() < width) continue;
    std::sort(group.begin(), group.end());
    groups.add(level, group);
  }
  return groups;
}

/// Picks groups in the order given that share no process with those before.
class Picker {
 public:
  Picker(const Groups& groups, std::vector<bool>& taken) : groups_(groups), taken_(taken) {}

  bool pick(std::size_t group) {
    for (const Item* item = groups_.begin(group); item != groups_.end(group); ++item)
      if (taken_[*item]) return false;
    for (const Item* item = groups_.begin(group); item != groups_.end(group); ++item)
      taken_[*item] = true;
    picked.push_back(group);
    return true;
  }

  std::vector<std::size_t> picked;

 private:
  const Groups& groups_;
  std::vector<bool>& taken_;
};

std::vector<std::size_t> by_value(const Groups& groups) {
  std::vector<std::size_t> order(groups.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return groups.value[a] < groups.value[b];
  });
  return order;
}

/// By decreasing weighted degree, which Kako et al. ("Approximation algorithms for the weighted
/// independent set problem", 2005) divide by a vertex's own weight: the mean value of the groups that
/// share a process with each one, over its own. A group that shares several counts as often.
std::vector<std::size_t> by_degree(const Groups& groups, std::size_t processes) {
  std::vector<double> sum(processes, 0);
  std::vector<double> count(processes, 0);
  for (std::size_t group = 0; group < groups.count(); ++group)
    for (const Item* item = groups.begin(group); item != groups.end(group); ++item) {
      sum[*item] += static_cast<double>(groups.value[group]);
      count[*item] += 1;
    }
  std::vector<double> degree(groups.count(), 0);
  for (std::size_t group = 0; group < groups.count(); ++group) {
    const auto width = static_cast<double>(groups.width);
    double others = -width;
    double total = -width * static_cast<double>(groups.value[group]);
    for (const Item* item = groups.begin(group); item != groups.end(group); ++item) {
      others += count[*item];
      total += sum[*item];
    }
    const auto own = static_cast<double>(groups.value[group]);
    const double mean = others > 0 ? total / others : 0;
    degree[group] = own > 0 ? mean / own : std::numeric_limits<double>::infinity();
  }
  std::vector<std::size_t> order = by_value(groups);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return degree[a] > degree[b]; });
  return order;
}

constexpr std::size_t kBeginnings = 64;

std::vector<std::size_t> independent(const Groups& groups, GroupChoice choice,
                                     std::vector<bool>& taken) {
  const std::vector<std::size_t> order =
      choice == GroupChoice::kDegreeFirst ? by_degree(groups, taken.size()) : by_value(groups);
  const std::size_t beginnings =
      choice == GroupChoice::kLargestLast ? std::min(kBeginnings, order.size()) : 1;
  std::vector<std::size_t> best;
  std::vector<bool> best_taken = taken;
  std::size_t best_last = std::numeric_limits<std::size_t>::max();
  for (std::size_t beginning = 0; beginning < beginnings; ++beginning) {
    std::vector<bool> used = taken;
    Picker picker(groups, used);
    picker.pick(order[beginning]);
    std::size_t last = beginning;
    for (std::size_t at = 0; at < order.size() && at < best_last; ++at)
      if (picker.pick(order[at])) last = std::max(last, at);
    if (last < best_last && picker.picked.size() >= best.size()) {
      best_last = last;
      best = std::move(picker.picked);
      best_taken = std::move(used);
    }
  }
  taken = std::move(best_taken);
  return best;
}

/// Groups the processes of a level, whose number `width` divides; returns the group of each.
std::vector<Item> group_processes(const Level& level, std::size_t width, GroupChoice choice,
                                  std::uint64_t most_groups) {
  std::vector<Item> group_of(level.count(), 0);
  std::vector<bool> taken(level.count(), false);
  Item next = 0;
  const auto take = [&](const Groups& groups) {
    const std::vector<std::size_t> chosen = independent(groups, choice, taken);
    for (const std::size_t group : chosen) {
      for (const Item* item = groups.begin(group); item != groups.end(group); ++item)
        group_of[*item] = next;
      ++next;
    }
  };
  if (width == 1) {
    std::iota(group_of.begin(), group_of.end(), 0U);
    return group_of;
  }
  if (possible_groups(level.count(), width, most_groups) <= most_groups) {
    take(all_groups(level, width));
    return group_of;
  }
  while (true) {
    const Groups groups = grown_groups(level, width, taken);
    if (groups.count() == 0) break;
    take(groups);
  }
  std::vector<Item> rest;
  for (Item item = 0; item < level.count(); ++item)
    if (!taken[item]) rest.push_back(item);
  std::stable_sort(rest.begin(), rest.end(),
                   [&](Item a, Item b) { return level.total[a] < level.total[b]; });
  for (std::size_t at = 0; at < rest.size(); ++at)
    group_of[rest[at]] = next + static_cast<Item>(at / width);
  return group_of;
}

std::vector<std::uint32_t> prime_factors(std::uint32_t number) {
  std::vector<std::uint32_t> factors;
  for (std::uint32_t factor = 2; factor * factor <= number; ++factor)
    while (number % factor == 0) {
      factors.push_back(factor);
      number /= factor;
    }
  if (number > 1) factors.push_back(number);
  return factors;
}

std::size_t rounded_up(std::size_t count, std::size_t width) {
  return (count + width - 1) / width * width;
}

}  // namespace

std::vector<std::uint32_t> tree_match(const TrafficView& traffic,
                                      const std::vector<std::uint32_t>& arity, GroupChoice choice,
                                      bool split, std::uint64_t most_groups) {
  // What each level made of the one below: the group of each process, and how many are in a group.
  std::vector<std::pair<std::size_t, std::vector<Item>>> grouped;
  Level level = first_level(traffic);
  for (std::size_t depth = arity.size(); depth-- > 0;) {
    std::vector<std::uint32_t> widths{arity[depth]};
    const std::size_t padded = rounded_up(level.count(), arity[depth]);
    if (split && possible_groups(padded, arity[depth], most_groups) > most_groups)
      widths = prime_factors(arity[depth]);
    for (const std::size_t width : widths) {
      level.extend(rounded_up(level.count(), width));
      std::vector<Item> group_of = group_processes(level, width, choice, most_groups);
      level = aggregate(level, group_of, level.count() / width);
      grouped.emplace_back(width, std::move(group_of));
    }
  }
  // Down from the root: the members of a group are its children in increasing number.
  std::vector<std::uint32_t> position(level.count());
  std::iota(position.begin(), position.end(), 0U);
  for (std::size_t at = grouped.size(); at-- > 0;) {
    const auto& [width, group_of] = grouped[at];
    std::vector<std::uint32_t> seen(position.size(), 0);
    std::vector<std::uint32_t> below(group_of.size());
    for (std::size_t item = 0; item < group_of.size(); ++item)
      below[item] = position[group_of[item]] * static_cast<std::uint32_t>(width) + seen[group_of[item]]++;
    position = std::move(below);
  }
  position.resize(traffic.ranks);
  return position;
}

}  // namespace hamtune
