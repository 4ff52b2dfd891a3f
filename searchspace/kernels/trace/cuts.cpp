#include "searchspace/kernels/trace/cuts.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace hamtune {

namespace {

constexpr std::uint64_t kMixer = 0x9E3779B97F4A7C15U;  // the golden ratio, as in SplitMix64

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t mixed = (hash ^ value) * kMixer;
  mixed ^= mixed >> 29;
  mixed *= 0xBF58476D1CE4E5B9U;
  return mixed ^ (mixed >> 32);
}

std::uint32_t fold(std::uint64_t hash) { return static_cast<std::uint32_t>(hash ^ (hash >> 32)); }

std::uint64_t as_word(std::int32_t high, std::int32_t low) {
  return std::uint64_t{static_cast<std::uint32_t>(high)} << 32U | static_cast<std::uint32_t>(low);
}

/// How many of the rank's values belong to an operation.
std::size_t value_count(const Operation& operation, const std::int32_t* values) {
  const auto length = [values](std::size_t index) { return static_cast<std::size_t>(values[index]); };
  switch (operation.code) {
    case Code::sendrecv:
      return 4;
    case Code::waitall:
    case Code::comm_create:
    case Code::comm_create_group:
    case Code::cart_sub:
    case Code::reduce_scatter:
      return 1 + length(0);
    case Code::cart_create:
      return 2 + 2 * length(0);
    case Code::gather:
    case Code::scatter:
    case Code::allgather:
    case Code::alltoall:
      return 2;
    case Code::gatherv:
    case Code::allgatherv:
      return 2 + length(1);
    case Code::scatterv:
      return 3 + length(2);
    case Code::alltoallv:
      return 2 + 2 * length(1);
    case Code::alltoallw:
      return 1 + 2 * length(0);
    default:
      return 0;
  }
}

/// The peer, root or color of an operation.
std::int32_t peer_of(const RankTrace& rank, const Operation& operation) {
  return names_party(operation.code) ? rank.party(operation.party) : operation.party;
}

std::uint32_t exact_signature(const RankTrace& rank, const Operation& operation) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(operation.code),
                           std::uint64_t{operation.nonblocking} << 8U | operation.flags);
  const bool is_split = operation.code == Code::comm_split;
  const std::int32_t peer = peer_of(rank, operation);
  hash = mix(hash, as_word(static_cast<std::int32_t>(operation.communicator),
                           static_cast<std::int32_t>(operation.slot)));
  hash = mix(hash, as_word(peer, is_split ? rank.party(operation.tag) : operation.tag));
  hash = mix(hash, as_word(operation.count, operation.type_size));
  const std::int32_t* const values = rank.values.data() + operation.more;
  const std::size_t count = value_count(operation, values);
  for (std::size_t item = 0; item < count; ++item)
    hash = mix(hash, static_cast<std::uint32_t>(values[item]));
  return fold(hash);
}

bool is_receive(Code code) {
  return code == Code::recv || code == Code::irecv || code == Code::sendrecv;
}

/// Requests that an operation leaves open, less those that it completes.
std::int64_t requests_opened(const Operation& operation, const std::int32_t* values) {
  if (operation.nonblocking) return 1;
  switch (operation.code) {
    case Code::isend:
    case Code::issend:
    case Code::irecv:
      return 1;
    case Code::wait:
    case Code::request_free:
      return -1;
    case Code::waitall:
      return -std::int64_t{values[0]};
    default:
      return 0;
  }
}

/// Messages of one sender to one receiver in one communicator with one tag arrive in order.
struct Channel {
  std::uint32_t sender;
  std::uint32_t receiver;
  std::vector<std::uint32_t> sent;      // indices among the messages of the sender
  std::vector<std::uint32_t> received;  // and of the receiver
};

struct ChannelKey {
  const Members* context;
  std::uint32_t sender;
  std::uint32_t receiver;
  std::int32_t tag;

  bool operator==(const ChannelKey& other) const {
    return context == other.context && sender == other.sender && receiver == other.receiver &&
           tag == other.tag;
  }
};

struct ChannelHash {
  std::size_t operator()(const ChannelKey& key) const {
    const auto context = reinterpret_cast<std::uintptr_t>(key.context);
    return mix(mix(context, std::uint64_t{key.sender} << 32U | key.receiver),
               static_cast<std::uint32_t>(key.tag));
  }
};

}  // namespace

AllCalls::AllCalls(const Trace& trace) : trace_(trace), calls_(trace.ranks.size()) {
  std::unordered_map<const Members*, std::uint32_t> numbers;
  for (std::uint32_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const RankTrace& operations = trace.ranks[rank];
    std::vector<Place> places;
    for (std::size_t made = 0; made < operations.communicators.size(); ++made) {
      const auto& members = operations.communicators[made];
      if (!members) {
        places.push_back({0, 0});
        continue;
      }
      const auto number = static_cast<std::uint32_t>(contexts_.size());
      const auto [found, is_new] = numbers.try_emplace(members.get(), number);
      if (is_new) contexts_.push_back({members.get(), {}});
      Context& context = contexts_[found->second];
      context.calls.resize(members->size());
      places.push_back({found->second, std::size_t{operations.places[made]}});
    }
    read_rank(rank);
    number_collectives(rank, places);
  }
  for (const Context& context : contexts_)
    for (const auto& made : context.calls)
      if (made.size() != context.calls.front().size())
        throw CannotCut("its ranks do not call the same number of collectives");
  match_messages();
}

void AllCalls::read_rank(std::uint32_t rank) {
  const RankTrace& trace = trace_.ranks[rank];
  Calls& calls = calls_[rank];
  std::int64_t open = 0;
  calls.idle.push_back(true);
  for (std::size_t index = 0; index < trace.operations.size(); ++index) {
    const Operation& operation = trace.operations[index];
    if (operation.code == Code::compute) continue;
    calls.operation.push_back(static_cast<std::uint32_t>(index));
    calls.exact.push_back(exact_signature(trace, operation));
    open += requests_opened(operation, trace.values.data() + operation.more);
    calls.idle.push_back(open == 0);
  }
}

void AllCalls::number_collectives(std::uint32_t rank, const std::vector<Place>& places) {
  const RankTrace& trace = trace_.ranks[rank];
  Calls& calls = calls_[rank];
  std::size_t made = 2;  // communicators so far: the world and the rank's own
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    const Operation& operation = trace.operations[calls.operation[call]];
    const bool creates = creates_communicator(operation.code);
    const bool sets = creates || operation.code == Code::comm_free;
    if (sets) calls.settings.push_back(call);
    if (!sets && !is_collective(operation.code)) continue;
    // Only the ranks of its group come to this one: it is the first collective in what it makes. All others
    // that make communicators are collectives of the parent.
    const bool of_group = operation.code == Code::comm_create_group;
    const auto [context, member] = places[of_group ? made : operation.communicator];
    if (creates) ++made;
    std::vector<std::uint32_t>& here = contexts_[context].calls[member];
    calls.collectives.push_back({call, context, static_cast<std::uint32_t>(here.size())});
    here.push_back(call);
  }
}

void AllCalls::match_messages() {
  std::vector<Channel> channels;
  std::unordered_map<ChannelKey, std::size_t, ChannelHash> numbers;
  const auto channel_of = [&](const ChannelKey& key) -> Channel& {
    const auto [found, is_new] = numbers.try_emplace(key, channels.size());
    if (is_new) channels.push_back({key.sender, key.receiver, {}, {}});
    return channels[found->second];
  };
  for (std::uint32_t rank = 0; rank < calls_.size(); ++rank) {
    const RankTrace& trace = trace_.ranks[rank];
    Calls& calls = calls_[rank];
    for (std::uint32_t call = 0; call < calls.size(); ++call) {
      const Operation& operation = trace.operations[calls.operation[call]];
      const bool sends = is_send(operation.code) && operation.party != kNoPeer;
      if (!sends && !is_receive(operation.code)) continue;
      const Members* const context = trace.communicators[operation.communicator].get();
      const auto number = static_cast<std::uint32_t>(calls.messages.size());
      if (sends) {
        const std::uint32_t peer = (*context)[static_cast<std::size_t>(trace.party(operation.party))];
        channel_of({context, rank, peer, operation.tag}).sent.push_back(number);
        calls.messages.push_back({call, peer, 0, true});
      }
      if (!is_receive(operation.code)) continue;
      const bool both = operation.code == Code::sendrecv;
      const std::int32_t* const values = trace.values.data() + operation.more;
      const std::int32_t source = trace.party(both ? values[0] : operation.party);
      const std::int32_t tag = both ? values[1] : operation.tag;
      if (source == kNoPeer) continue;
      if (source == kAnySource || tag == kAnyTag)
        throw CannotCut("a receive takes messages from anyone or with any tag");
      const std::uint32_t peer = (*context)[static_cast<std::size_t>(source)];
      channel_of({context, peer, rank, tag})
          .received.push_back(static_cast<std::uint32_t>(calls.messages.size()));
      calls.messages.push_back({call, peer, 0, false});
    }
  }
  for (const Channel& channel : channels) {
    if (channel.sent.size() != channel.received.size())
      throw CannotCut("rank " + std::to_string(channel.sender) + " sends " +
                      std::to_string(channel.sent.size()) + " messages to rank " +
                      std::to_string(channel.receiver) + ", which receives " +
                      std::to_string(channel.received.size()));
    for (std::size_t item = 0; item < channel.sent.size(); ++item) {
      MessageEnd& sent = calls_[channel.sender].messages[channel.sent[item]];
      MessageEnd& received = calls_[channel.receiver].messages[channel.received[item]];
      sent.partner = received.call;
      received.partner = sent.call;
    }
  }
}

std::uint32_t AllCalls::call_signature(std::size_t rank, std::uint32_t call,
                                       Likeness likeness) const {
  if (likeness == Likeness::exact) return of(rank).exact[call];
  const Operation& operation = trace_.ranks[rank].operations[of(rank).operation[call]];
  const std::uint64_t shape = mix(static_cast<std::uint64_t>(operation.code),
                                      std::uint64_t{operation.nonblocking} << 32U |
                                      operation.communicator);
  if (likeness == Likeness::shape) return fold(shape);
  return fold(mix(shape, static_cast<std::uint32_t>(peer_of(trace_.ranks[rank], operation))));
}

bool AllCalls::alike(std::size_t rank, std::uint32_t first, std::uint32_t last,
                     std::uint32_t other_first, std::uint32_t other_last,
                     Likeness likeness) const {
  const std::uint32_t length = last - first;
  const std::uint32_t calls = of(rank).size();
  if (other_last - other_first != length || std::max(last, other_last) > calls) return false;
  for (std::uint32_t item = 0; item < length; ++item)
    if (signature(rank, first + item, likeness) != signature(rank, other_first + item, likeness))
      return false;
  return true;
}

bool AllCalls::same_call(std::size_t rank, std::uint32_t call, std::uint32_t other,
                         Likeness likeness) const {
  return call_signature(rank, call, likeness) == call_signature(rank, other, likeness);
}

MovingCut::MovingCut(const AllCalls& all, Cut start)
    : all_(all), at_(std::move(start)), wanted_(at_), matched_(0) {
  for (std::size_t rank = 0; rank < all.ranks(); ++rank) {
    const Calls& calls = all.of(rank);
    const auto before = [&](const auto& item, std::uint32_t call) { return item.call < call; };
    next_message_.push_back(static_cast<std::size_t>(
        std::lower_bound(calls.messages.begin(), calls.messages.end(), at_[rank], before) -
        calls.messages.begin()));
    next_collective_.push_back(static_cast<std::size_t>(
        std::lower_bound(calls.collectives.begin(), calls.collectives.end(), at_[rank], before) -
        calls.collectives.begin()));
  }
}

const Cut& MovingCut::reach(const Cut& targets) {
  for (std::uint32_t rank = 0; rank < targets.size(); ++rank) require(rank, targets[rank]);
  while (!behind_.empty()) {
    const std::uint32_t rank = behind_.back();
    behind_.pop_back();
    move(rank);
  }
  return at_;
}

void MovingCut::require(std::uint32_t rank, std::uint32_t calls) {
  if (calls <= wanted_[rank]) return;
  wanted_[rank] = calls;
  behind_.push_back(rank);
}

void MovingCut::move(std::uint32_t rank) {
  const Calls& calls = all_.of(rank);
  std::uint32_t to = wanted_[rank];
  while (to < calls.size() && !calls.idle[to]) ++to;
  wanted_[rank] = to;
  at_[rank] = std::max(at_[rank], to);
  std::size_t& message = next_message_[rank];
  for (; message < calls.messages.size() && calls.messages[message].call < to; ++message)
    require(calls.messages[message].peer, calls.messages[message].partner + 1);
  std::size_t& collective = next_collective_[rank];
  for (; collective < calls.collectives.size() && calls.collectives[collective].call < to; ++collective) {
    const CollectiveCall& here = calls.collectives[collective];
    if (matched_.size() <= here.context) matched_.resize(here.context + 1, 0);
    if (matched_[here.context] > here.instance) continue;
    matched_[here.context] = here.instance + 1;
    const Members& members = all_.members(here.context);
    for (std::size_t member = 0; member < members.size(); ++member)
      require(members[member], all_.collective(here.context, member, here.instance) + 1);
  }
}

}  // namespace hamtune
