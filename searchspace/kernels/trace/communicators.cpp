#include "searchspace/kernels/trace/communicators.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "searchspace/kernels/trace/trace_reader.hpp"

namespace hamtune {

namespace {

// A few hundred MB in memory; MPI libraries have some thousands at a time.
constexpr std::size_t kMostCommunicators = 1'000'000;
constexpr std::size_t kMostKnown = 50'000'000;  // by all ranks together; 36 bytes each
// All but 16 have a single coordinate, since traces have 65,536 ranks at most; cutting a grid takes time and
// memory with ranks x dimensions.
constexpr std::int32_t kMostDimensions = 128;

/// A group that is given as a list of ranks of a parent.
struct Group {
  Members ranks;                         // of the world
  std::vector<bool> chosen;              // by rank of the parent
  std::shared_ptr<std::size_t> arrived;  // how many have come to its creation, where they come by themselves
};

/// A communicator while it is being resolved. Creations on it happen one after the other.
struct Communicator {
  std::shared_ptr<const Members> members;
  std::vector<std::int32_t> extents;   // of a Cartesian communicator
  std::vector<std::uint32_t> arrived;  // members that have come to the next creation
  std::map<Members, std::shared_ptr<std::size_t>> arrived_of;  // of each group that is being created
};

using Handle = std::shared_ptr<Communicator>;

/// Groups by the list that gives them. Ranks that share their calls share the list: if each read it anew,
/// that would take time with the square of their number.
using Groups = std::map<const std::int32_t*, Group>;

class Resolver {
 public:
  explicit Resolver(Trace& trace) : trace_(trace), at_(trace.ranks.size()), owned_(trace.ranks.size()) {
    std::size_t known = 0;
    for (const RankTrace& rank : trace.ranks) known += rank.creations.size();
    if (known > kMostKnown)
      throw TraceError("the ranks of the trace create communicators more than " +
                       std::to_string(kMostKnown) + " times together");
  }

  void resolve() {
    Members everyone(trace_.ranks.size());
    std::iota(everyone.begin(), everyone.end(), 0U);
    const Handle world = make(std::move(everyone));
    for (std::uint32_t rank = 0; rank < trace_.ranks.size(); ++rank) {
      owned_[rank] = {world, make(Members{rank})};
      trace_.ranks[rank].places = {rank, 0};
    }
    for (std::uint32_t rank = 0; rank < trace_.ranks.size(); ++rank) advance(rank);
    while (!complete_.empty() || !complete_groups_.empty()) {
      if (complete_groups_.empty()) {
        const Handle parent = complete_.back();
        complete_.pop_back();
        create(*parent);
      } else {
        const Members group = std::move(complete_groups_.back());
        complete_groups_.pop_back();
        give(group, make(group));
        go_on(group);
      }
    }
    for (std::uint32_t rank = 0; rank < trace_.ranks.size(); ++rank) {
      if (at_[rank] < creations(rank).size())
        throw TraceError(place(rank) + ": not every member of the communicator comes to it");
      for (const Handle& handle : owned_[rank])
        trace_.ranks[rank].communicators.push_back(handle ? handle->members : nullptr);
    }
  }

 private:
  Handle make(Members members, std::vector<std::int32_t> extents = {}) {
    if (made_++ == kMostCommunicators + trace_.ranks.size() + 1)
      throw TraceError("the trace has more than " + std::to_string(kMostCommunicators) +
                       " communicators");
    return std::make_shared<Communicator>(
        Communicator{std::make_shared<const Members>(std::move(members)), std::move(extents), {}, {}});
  }

  const SharedList<std::uint32_t>& creations(std::uint32_t rank) const {
    return trace_.ranks[rank].creations;
  }
  const Operation& current(std::uint32_t rank) const {
    return trace_.ranks[rank].operations[creations(rank)[at_[rank]]];
  }
  const std::int32_t* values(std::uint32_t rank) const {
    return trace_.ranks[rank].values.data() + current(rank).more;
  }
  std::string place(std::uint32_t rank) const {
    return "rank " + std::to_string(rank) + ", " + operation_name(current(rank).code, false);
  }

  /// Moves a rank on to its next creation of a communicator and lets it arrive there.
  void advance(std::uint32_t rank) {
    if (at_[rank] == creations(rank).size()) return;
    const Handle& parent = owned_[rank][current(rank).communicator];
    if (!parent) throw TraceError(place(rank) + ": the rank is not in the communicator");
    if (current(rank).code == Code::comm_create_group) {
      arrive_in_group(*parent, rank);
      return;
    }
    parent->arrived.push_back(rank);
    if (parent->arrived.size() == parent->members->size()) complete_.push_back(parent);
  }

  /// The ranks of a group come to its creation by themselves, in any order.
  void arrive_in_group(Communicator& parent, std::uint32_t rank) {
    Groups& given = given_[&parent];
    Group& group = group_of(parent, rank, given);
    if (!is_in(group, rank)) throw TraceError(place(rank) + ": the rank is not in the group");
    if (!group.arrived) {
      std::shared_ptr<std::size_t>& arrived = parent.arrived_of[group.ranks];
      if (!arrived) arrived = std::make_shared<std::size_t>(0);
      group.arrived = arrived;
    }
    if (++*group.arrived < group.ranks.size()) return;
    parent.arrived_of.erase(group.ranks);
    complete_groups_.push_back(std::move(group.ranks));
    given.erase(values(rank));
  }

  void create(Communicator& parent) {
    parent.arrived.clear();
    const Members& members = *parent.members;
    const Code code = current(members[0]).code;
    for (const std::uint32_t rank : members)
      if (current(rank).code != code)
        throw TraceError(place(rank) + ": rank " + std::to_string(members[0]) + " calls " +
                         operation_name(code, false) + " instead");
    switch (code) {
      case Code::comm_dup:
        give(members, make(members, parent.extents));
        break;
      case Code::comm_split:
        split(parent);
        break;
      case Code::comm_create:
        create_group(parent);
        break;
      case Code::cart_create:
        create_grid(parent);
        break;
      default:
        create_subgrids(parent);
    }
    go_on(members);
  }

  void go_on(const Members& ranks) {
    for (const std::uint32_t rank : ranks) {
      ++at_[rank];
      advance(rank);
    }
  }

  /// To ranks in their order in the communicator.
  void give(const Members& ranks, const Handle& handle) {
    std::uint32_t place = 0;
    for (const std::uint32_t rank : ranks) {
      owned_[rank].push_back(handle);
      trace_.ranks[rank].places.push_back(place++);
    }
  }

  void give_none(std::uint32_t rank) {
    owned_[rank].push_back(nullptr);
    trace_.ranks[rank].places.push_back(0);
  }

  /// Ranks that share a color form a communicator, ordered by key, then by rank in the parent.
  void split(const Communicator& parent) {
    std::map<std::int32_t, std::vector<std::pair<std::int32_t, std::size_t>>> by_color;
    for (std::size_t index = 0; index < parent.members->size(); ++index) {
      const std::uint32_t rank = (*parent.members)[index];
      const RankTrace& own = trace_.ranks[rank];
      const std::int32_t color = own.party(current(rank).party);
      if (color < 0 && current(rank).party != kNoColor)
        throw TraceError(place(rank) + ": a color is below 0");
      if (color == kNoColor)
        give_none(rank);
      else
        by_color[color].emplace_back(own.party(current(rank).tag), index);
    }
    for (auto& [color, keyed] : by_color) {
      std::sort(keyed.begin(), keyed.end());
      Members ranks;
      for (const auto& [key, index] : keyed) ranks.push_back((*parent.members)[index]);
      give(ranks, make(ranks));
    }
  }

  /// The group that a rank gives; `given` are those that others gave, to which it is added.
  Group& group_of(const Communicator& parent, std::uint32_t rank, Groups& given) const {
    const std::int32_t* const list = values(rank);
    const auto [found, is_new] = given.try_emplace(list);
    Group& group = found->second;
    if (!is_new) return group;
    group.chosen.assign(parent.members->size(), false);
    for (std::int32_t item = 1; item <= list[0]; ++item) {
      const auto index = static_cast<std::size_t>(list[item]);
      if (index >= group.chosen.size() || group.chosen[index])
        throw TraceError(place(rank) + ": a rank of the group does not exist or comes twice");
      group.chosen[index] = true;
      group.ranks.push_back((*parent.members)[index]);
    }
    return group;
  }

  bool is_in(const Group& group, std::uint32_t rank) const {
    return group.chosen[trace_.ranks[rank].places[current(rank).communicator]];
  }

  /// Whether the groups, or the extents of grids, that two ranks give are the same.
  bool give_alike(std::uint32_t one, std::uint32_t other) const {
    const std::int32_t *const list = values(one), *const second = values(other);
    return list == second || std::equal(list, list + 1 + list[0], second, second + 1 + second[0]);
  }

  /// Ranks may give groups that differ, as long as all of a group give the same one.
  void create_group(const Communicator& parent) {
    std::set<std::uint32_t> served;
    Groups given;
    for (const std::uint32_t rank : *parent.members) {
      if (served.count(rank) != 0) continue;
      const Group& group = group_of(parent, rank, given);
      if (!is_in(group, rank)) {
        give_none(rank);
        continue;
      }
      for (const std::uint32_t other : group.ranks) {
        if (!give_alike(rank, other))
          throw TraceError(place(other) + ": its group is not that of rank " + std::to_string(rank));
        served.insert(other);
      }
      give(group.ranks, make(group.ranks));
    }
  }

  /// The first ranks of the parent keep their order in the grid (SMPI does not reorder).
  void create_grid(const Communicator& parent) {
    const std::uint32_t first = parent.members->front();
    const std::int32_t* const list = values(first);
    const std::int32_t dims = list[0];
    if (dims == 0) throw TraceError(place(first) + ": a grid without dimensions");
    if (dims > kMostDimensions)
      throw TraceError(place(first) + ": a grid of more than " + std::to_string(kMostDimensions) +
                       " dimensions");
    std::size_t nodes = 1;
    for (std::int32_t dim = 1; dim <= dims; ++dim) {
      nodes *= static_cast<std::size_t>(list[dim]);
      if (nodes == 0 || nodes > parent.members->size())
        throw TraceError(place(first) + ": the grid does not fit the communicator");
    }
    for (const std::uint32_t rank : *parent.members)
      if (!give_alike(first, rank))
        throw TraceError(place(rank) + ": its grid is not that of rank " + std::to_string(first));
    const auto end = parent.members->begin() + static_cast<std::ptrdiff_t>(nodes);
    const Members ranks(parent.members->begin(), end);
    give(ranks, make(ranks, {list + 1, list + dims + 1}));
    for (auto rank = end; rank != parent.members->end(); ++rank) give_none(*rank);
  }

  /// Ranks whose coordinates agree in every dropped dimension form a grid of the remaining ones.
  void create_subgrids(const Communicator& parent) {
    const std::size_t dims = parent.extents.size();
    const std::uint32_t first = parent.members->front();
    for (const std::uint32_t rank : *parent.members) {
      if (dims == 0) throw TraceError(place(rank) + ": the communicator is not Cartesian");
      if (static_cast<std::size_t>(values(rank)[0]) != dims)
        throw TraceError(place(rank) + ": the communicator has another number of dimensions");
      if (!std::equal(values(rank), values(rank) + dims + 1, values(first)))
        throw TraceError(place(rank) + ": it keeps other dimensions than rank " +
                         std::to_string(first));
    }
    const std::int32_t* const remain = values(first) + 1;
    std::vector<std::int32_t> extents;
    for (std::size_t dim = 0; dim < dims; ++dim)
      if (remain[dim] != 0) extents.push_back(parent.extents[dim]);
    if (extents.empty()) extents.push_back(1);

    std::map<std::vector<std::size_t>, Members> groups;
    for (std::size_t index = 0; index < parent.members->size(); ++index) {
      std::vector<std::size_t> dropped;
      std::size_t rest = index;
      for (std::size_t dim = dims; dim-- > 0;) {
        const auto extent = static_cast<std::size_t>(parent.extents[dim]);
        if (remain[dim] == 0) dropped.push_back(rest % extent);
        rest /= extent;
      }
      groups[dropped].push_back((*parent.members)[index]);
    }
    for (const auto& [coordinates, ranks] : groups) give(ranks, make(ranks, extents));
  }

  Trace& trace_;
  std::size_t made_ = 0;                    // communicators, with the world and self of each rank
  std::vector<std::size_t> at_;             // of each rank, the creation it has come to
  std::vector<std::vector<Handle>> owned_;  // of each rank, its communicators by number
  std::vector<Handle> complete_;            // whose members have all come to a creation
  std::map<const Communicator*, Groups> given_;  // to creations by groups that are not complete
  std::vector<Members> complete_groups_;    // whose ranks have all come to its creation
};

}  // namespace

void resolve_communicators(Trace& trace) { Resolver(trace).resolve(); }

}  // namespace hamtune
