#include "searchspace/kernels/trace/message_rounds.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace hamtune {
namespace {

constexpr std::size_t kMostMessages = std::size_t{1} << 23U;

bool same_pair(const RoundMessage& one, const RoundMessage& other) {
  return one.round == other.round && one.sender == other.sender && one.receiver == other.receiver;
}

/// Sorts, and adds up what a pair sends within a round.
void gather(std::vector<RoundMessage>& messages) {
  std::sort(messages.begin(), messages.end(), [](const RoundMessage& a, const RoundMessage& b) {
    return std::tie(a.round, a.sender, a.receiver) < std::tie(b.round, b.sender, b.receiver);
  });
  std::size_t kept = 0;
  for (const RoundMessage& message : messages) {
    if (kept > 0 && same_pair(messages[kept - 1], message))
      messages[kept - 1].size += message.size;
    else
      messages[kept++] = message;
  }
  messages.resize(kept);
}

/// Each different round once, with how often it comes; numbered as they come first.
MessageRounds distinct(const std::vector<RoundMessage>& messages) {
  using Content = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>>;
  std::map<Content, std::uint32_t> known;
  MessageRounds found;
  for (std::size_t begin = 0; begin < messages.size();) {
    std::size_t end = begin;
    Content content;
    for (; end < messages.size() && messages[end].round == messages[begin].round; ++end)
      content.emplace_back(messages[end].sender, messages[end].receiver, messages[end].size);
    const auto number = static_cast<std::uint32_t>(found.count.size());
    const auto [entry, fresh] = known.emplace(std::move(content), number);
    if (fresh) {
      found.count.push_back(0);
      for (std::size_t at = begin; at < end; ++at) {
        found.messages.push_back(messages[at]);
        found.messages.back().round = number;
      }
    }
    found.count[entry->second] += 1;
    begin = end;
  }
  return found;
}

}  // namespace

MessageRounds message_rounds(const Trace& trace, const MessageFilter& filter, std::size_t most) {
  std::vector<RoundMessage> messages;
  bool too_many = false;
  visit_messages(trace, filter, [&](const CountedMessage& message) {
    too_many = messages.size() == kMostMessages;
    if (message.size > 0 && message.sender != message.receiver && !too_many)
      messages.push_back({message.round, static_cast<std::uint32_t>(message.sender),
                          static_cast<std::uint32_t>(message.receiver), message.size});
    return !too_many;
  });
  if (too_many) return {};
  gather(messages);
  MessageRounds found = distinct(messages);
  while (found.count.size() > std::max<std::size_t>(most, 1)) {
    for (RoundMessage& message : messages) message.round /= 2;
    gather(messages);
    found = distinct(messages);
  }
  return found;
}

}  // namespace hamtune
