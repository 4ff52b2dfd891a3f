#include "searchspace/kernels/mapping/greedy_mapping.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

namespace hamtune {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Hop-bytes of a rank at a place, when its partners stay; ranks without a place do not count.
template <typename Distance>
std::int64_t cost_at(const TrafficView& traffic, const Distance& distance,
                     const std::vector<std::uint32_t>& places, std::uint32_t rank,
                     std::uint32_t place) {
  std::int64_t cost = 0;
  for (std::size_t i = traffic.begin(rank); i < traffic.end(rank); ++i)
    cost += traffic.size[i] *
            static_cast<std::int64_t>(distance(place, places[traffic.partner[i]]));
  return cost;
}

std::int64_t between(const TrafficView& traffic, std::uint32_t one, std::uint32_t other) {
  const std::uint32_t* const from = traffic.partner + traffic.begin(one);
  const std::uint32_t* const to = traffic.partner + traffic.end(one);
  const std::uint32_t* const at = std::lower_bound(from, to, other);
  return at != to && *at == other ? traffic.size[at - traffic.partner] : 0;
}

}  // namespace

std::vector<std::uint32_t> greedy_mapping(const TrafficView& traffic, const CoreHops& cores) {
  std::vector<std::uint32_t> places(traffic.ranks, kNone);
  std::vector<std::uint32_t> free(cores.cores());
  std::iota(free.begin(), free.end(), 0U);
  std::vector<std::uint32_t> by_traffic(traffic.ranks);
  std::iota(by_traffic.begin(), by_traffic.end(), 0U);
  std::vector<std::int64_t> total(traffic.ranks, 0);
  for (std::size_t rank = 0; rank < traffic.ranks; ++rank)
    for (std::size_t i = traffic.begin(rank); i < traffic.end(rank); ++i)
      total[rank] += traffic.size[i];
  std::stable_sort(by_traffic.begin(), by_traffic.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return total[a] > total[b]; });

  // Bytes, then the lowest numbers of the rank to place and of its partner.
  std::priority_queue<std::tuple<std::int64_t, std::uint32_t, std::uint32_t>> heaviest;
  const auto put = [&](std::uint32_t rank, std::size_t at) {
    places[rank] = free[at];
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(at));
    for (std::size_t i = traffic.begin(rank); i < traffic.end(rank); ++i)
      if (places[traffic.partner[i]] == kNone)
        heaviest.emplace(traffic.size[i], ~traffic.partner[i], ~rank);
  };
  cores.visit([&](const auto& distance) {
    for (const std::uint32_t start : by_traffic) {
      if (places[start] != kNone) continue;
      put(start, 0);
      while (!heaviest.empty()) {
        const auto [bytes, rank, partner] = heaviest.top();
        heaviest.pop();
        if (places[~rank] != kNone) continue;
        std::size_t closest = 0;
        std::uint32_t nearest = kNone;
        for (std::size_t at = 0; at < free.size(); ++at) {
          const std::uint32_t hops = distance(places[~partner], free[at]);
          if (hops < nearest) {
            nearest = hops;
            closest = at;
          }
        }
        put(~rank, closest);
      }
    }
  });
  return places;
}

void descend_by_swaps(const TrafficView& traffic, const CoreHops& cores,
                      std::vector<std::uint32_t>& places) {
  std::vector<std::uint32_t> rank_at(cores.cores(), kNone);
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) rank_at[places[rank]] = rank;
  cores.visit([&](const auto& distance) {
    bool fell = true;
    while (fell) {
      fell = false;
      for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
        const std::uint32_t here = places[rank];
        const std::int64_t now = cost_at(traffic, distance, places, rank, here);
        std::int64_t most = 0;
        std::uint32_t best = here;
        for (std::uint32_t there = 0; there < rank_at.size(); ++there) {
          if (there == here) continue;
          std::int64_t saved = now - cost_at(traffic, distance, places, rank, there);
          const std::uint32_t other = rank_at[there];
          if (other != kNone) {
            saved += cost_at(traffic, distance, places, other, there) -
                     cost_at(traffic, distance, places, other, here);
            // What the two exchange goes as far as before.
            saved -= 2 * between(traffic, rank, other) *
                     static_cast<std::int64_t>(distance(here, there));
          }
          if (saved > most) {
            most = saved;
            best = there;
          }
        }
        if (best == here) continue;
        fell = true;
        const std::uint32_t other = rank_at[best];
        rank_at[here] = other;
        if (other != kNone) places[other] = here;
        rank_at[best] = rank;
        places[rank] = best;
      }
    }
  });
}

void relieve_hosts(const TrafficView& traffic, const HostHops& hops,
                   const std::vector<std::size_t>& holds, std::vector<std::uint32_t>& host_of) {
  std::vector<std::int64_t> room(holds.begin(), holds.end());
  for (const std::uint32_t host : host_of) --room[host];
  std::visit(
      [&](const auto& distance) {
        for (std::uint32_t full = 0; full < room.size(); ++full)
          while (room[full] < 0) {
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            std::uint32_t leaving = 0;
            std::uint32_t target = 0;
            for (std::uint32_t rank = 0; rank < host_of.size(); ++rank) {
              if (host_of[rank] != full) continue;
              const std::int64_t now = cost_at(traffic, distance, host_of, rank, full);
              for (std::uint32_t host = 0; host < room.size(); ++host) {
                if (room[host] <= 0) continue;
                const std::int64_t more = cost_at(traffic, distance, host_of, rank, host) - now;
                if (more < least) {
                  least = more;
                  leaving = rank;
                  target = host;
                }
              }
            }
            host_of[leaving] = target;
            ++room[full];
            --room[target];
          }
      },
      hops);
}

}  // namespace hamtune
