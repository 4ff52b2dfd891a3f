#include "workers/simulator/express/messages.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "workers/simulator/express/requests.hpp"
#include "workers/simulator/payload.hpp"
#include "workers/simulator/platform.hpp"
#include "workers/simulator/progress.hpp"

namespace hamtune::express {

Messages::Messages(Kernel& kernel, Messages* before) : kernel_(kernel) {
  if (before != nullptr) spare_.swap(before->spare_);
}

/// Messages that somebody still holds are left to them.
Messages::~Messages() {
  for (const Message* const message : spare_) delete message;
}

Mailbox& Messages::mailbox(const Actor& target) {
  const auto number = static_cast<std::size_t>(target.number);
  if (mailboxes_.size() <= number) mailboxes_.resize(number + 1);
  return mailboxes_[number];
}

Message& Messages::take() {
  if (spare_.empty()) spare_.push_back(new Message);
  Message& message = *spare_.back();
  spare_.pop_back();
  message.messages = this;
  return message;
}

void Messages::release(Pending& pending) { let_go(static_cast<Message&>(pending)); }

void Messages::let_go(Message& message) {
  if (--message.holders > 0) return;
  message.state = Message::State::waiting;
  message.detached = false;
  message.source = message.target = nullptr;
  message.send = message.receive = nullptr;
  message.from = nullptr;
  message.from_size = 0;
  message.into = nullptr;
  message.into_size = nullptr;
  message.waiter_count = 0;
  message.idle_count = 0;
  message.finished = false;
  message.last_rate = 0;
  spare_.push_back(&message);
}

Message* Messages::post_send(SmpiRequest& request, Actor& source, Actor& target, double size,
                             const void* from, std::size_t from_size, bool detached) {
  progress::send_message();
  Mailbox& box = mailbox(target);
  const Envelope envelope = envelope_of(request);
  Message* message = box.receives.find(envelope.key, [&request](const Message& waiting) {
    return match(request, *waiting.receive, false);
  });
  const bool matched = message != nullptr;
  if (matched) {
    box.receives.erase(*message);  // held by the network from now on
  } else {
    message = &take();
    message->holders = 1;
    message->key = envelope.key;
    message->is_wild = false;
    box.sends.push_back(*message);
    if (box.prober.actor != nullptr && match(request, *box.prober.request, true))
      kernel_.wake(*std::exchange(box.prober, {}).actor);
  }
  message->source = &source;
  message->send = &request;
  message->size = size;
  message->detached = detached;
  message->from = from;
  message->from_size = from_size;
  if (detached && is_bookkeeping(from, from_size)) {  // the sender may overwrite it before it arrives
    const auto* const bytes = static_cast<const unsigned char*>(from);
    message->copy.assign(bytes, bytes + from_size);
    message->from = message->copy.data();
  }
  if (!detached) ++message->holders;
  if (matched) set_out(*message);
  return detached ? nullptr : message;
}

Message* Messages::post_receive(SmpiRequest& request, Actor& target, void* into,
                                std::size_t* into_size) {
  Mailbox& box = mailbox(target);
  const Envelope envelope = envelope_of(request);
  Message* message =
      box.sends.find(envelope.wanted(), [&request](const Message& waiting) {
        return match(*waiting.send, request, false);
      });
  const bool matched = message != nullptr;
  if (matched) {
    box.sends.erase(*message);
  } else {
    message = &take();
    message->holders = 1;
    message->key = envelope.key;
    message->is_wild = envelope.is_wild;
    box.receives.push_back(*message);
  }
  message->target = &target;
  message->receive = &request;
  message->into = into;
  message->into_size = into_size;
  ++message->holders;
  if (matched) set_out(*message);
  return message;
}

std::optional<Probed> Messages::iprobe(SmpiRequest& request, const Actor& target) {
  const Message* const message =
      mailbox(target).sends.find(envelope_of(request).wanted(), [&request](const Message& waiting) {
        return match(*waiting.send, request, true);
      });
  if (message == nullptr) return std::nullopt;
  return probed(*message->send);
}

Probed Messages::probe(SmpiRequest& request) {
  Actor& actor = kernel_.running();
  kernel_.call(0, [this, &request, &actor] {
    if (iprobe(request, actor))
      kernel_.wake(actor);
    else
      mailbox(actor).prober = {&actor, &request};
  });
  return iprobe(request, actor).value();
}

/// Both ends are there: the message enters the network.
void Messages::set_out(Message& message) {
  const double now = Kernel::now();
  Machine& machine = kernel_.machine();
  const Machine::Route& route = machine.route(message.source->host, message.target->host);
  for (double* const load : route.loads) *load += message.size - kEnvelope;
  message.state = Message::State::running;
  message.started = true;
  message.remains = message.size;
  message.factor = machine.bandwidth_factor(message.size);
  message.last_update = now;
  message.penalty = route.penalty;
  const double latency = route.latency * machine.latency_factor(message.size);
  Model& network = kernel_.network();
  network.system.start(message.variable, &message, latency > 0 ? 0.0 : 1.0, route.bound,
                       route.links.size() + route.back.size());
  if (latency > 0) network.pay_latency_until(message, latency + now);
  for (Constraint* const link : route.links) network.system.expand(message.variable, *link, 1.0);
  for (Constraint* const link : route.back) network.system.expand(message.variable, *link, .05);
}

void Message::at_end() { messages->arrive(*this); }

void Messages::arrive(Message& message) {
  message.state = Message::State::done;
  kernel_.network().end(message);
  for (std::size_t index = 0; index < message.idle_count; ++index)
    kernel_.end_idle(message.idle_hosts[index]);
  message.idle_count = 0;
  finish(message);
  let_go(message);
}

/// Moves what matters of the payload, and wakes who waits.
void Messages::finish(Message& message) {
  if (message.from != nullptr && message.into != nullptr) {
    const std::size_t size = std::min(message.from_size, *message.into_size);
    *message.into_size = size;
    if (is_bookkeeping(message.from, message.from_size) && !scratch::contains(message.into))
      std::memcpy(message.into, message.from, size);
    message.from = nullptr;
  }
  const std::size_t waiters = std::exchange(message.waiter_count, std::uint8_t{0});
  // Who has waited longer goes on first.
  if (waiters == 2 && since(message.waiters[1]) < since(message.waiters[0]))
    std::swap(message.waiters[0], message.waiters[1]);
  for (std::size_t index = 0; index < waiters; ++index) {
    const Waiter& waiter = message.waiters.at(index);
    Awaited* const among = waiter.among;
    if (among == nullptr) {
      kernel_.wake(*waiter.actor);
    } else if (std::exchange(among->blocks, false)) {
      among->told = waiter.position;
      kernel_.wake(*waiter.actor);
    } else {
      among->arrived.push_back(waiter.position);
      std::push_heap(among->arrived.begin(), among->arrived.end(), std::greater<>());
    }
  }
}

void Messages::add_waiter(Message& message, const Waiter& waiter) {
  message.waiters.at(message.waiter_count++) = waiter;
}

std::uint64_t Messages::since(const Waiter& waiter) {
  return waiter.among == nullptr ? waiter.since : waiter.among->since;
}

void Messages::wait(Pending& pending) {
  auto& message = static_cast<Message&>(pending);
  Actor& actor = kernel_.running();
  kernel_.call(0, [this, &message, &actor] {
    add_waiter(message, {&actor, nullptr, 0, waits_++});
    if (message.state == Message::State::done) {
      finish(message);
      return;
    }
    message.idle_hosts.at(message.idle_count++) = actor.host;
    kernel_.start_idle(actor);
  });
}

void Messages::expect(Awaited& awaited) {
  Actor& actor = kernel_.running();
  for (std::size_t position = 0; position < awaited.messages.size(); ++position) {
    auto& message = static_cast<Message&>(*awaited.messages[position]);
    if (message.state == Message::State::done)
      awaited.arrived.push_back(position);  // in order, which is a heap
    else
      add_waiter(message, {&actor, &awaited, position, 0});
  }
}

void Messages::forget(Awaited& awaited) {
  for (Pending* const pending : awaited.messages) {
    auto* const message = static_cast<Message*>(pending);
    Waiter* const end = message->waiters.data() + message->waiter_count;
    message->waiter_count = static_cast<std::uint8_t>(
        std::remove_if(message->waiters.data(), end,
                       [&awaited](const Waiter& waiter) { return waiter.among == &awaited; }) -
        message->waiters.data());
  }
}

std::size_t Messages::wait_next(Awaited& awaited) {
  Actor& actor = kernel_.running();
  kernel_.call(0, [this, &awaited, &actor] {
    std::vector<std::size_t>& arrived = awaited.arrived;
    if (arrived.empty()) {
      awaited.blocks = true;
      awaited.since = waits_++;
      return;
    }
    std::pop_heap(arrived.begin(), arrived.end(), std::greater<>());
    awaited.told = arrived.back();
    arrived.pop_back();
    kernel_.wake(actor);
  });
  return awaited.told;
}

bool Messages::is_done(const Pending& pending) const {
  return static_cast<const Message&>(pending).state == Message::State::done;
}

bool Messages::test(Pending& pending) {
  Actor& actor = kernel_.running();
  bool arrived = false;
  kernel_.call(0, [this, &pending, &actor, &arrived] {
    arrived = is_done(pending);
    kernel_.wake(actor);
  });
  return arrived;
}

}  // namespace hamtune::express
