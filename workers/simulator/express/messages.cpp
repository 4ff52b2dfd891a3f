#include "workers/simulator/express/messages.hpp"

#include <algorithm>
#include <cstring>

#include "workers/simulator/express/requests.hpp"
#include "workers/simulator/payload.hpp"
#include "workers/simulator/platform.hpp"

namespace hamtune::express {

namespace {

constexpr std::size_t kBookkeeping = 4096;  // bytes of SMPI's largest header

bool is_moved(const void* from, std::size_t size) {
  return from != nullptr && size > 0 && size <= kBookkeeping && !scratch::contains(from);
}

}  // namespace

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

void Messages::release(Message& message) {
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

Message* Messages::post_send(Request& request, Actor& source, Actor& target, double size,
                             const void* from, std::size_t from_size, bool detached) {
  Mailbox& box = mailbox(target);
  Message* message = box.receives.first();
  while (message != nullptr && !match(request, *message->receive, false))
    message = Mailbox::Queue::after(message);
  const bool matched = message != nullptr;
  if (matched) {
    box.receives.erase(message);  // held by the network from now on
  } else {
    message = &take();
    message->holders = 1;
    box.sends.push_back(message);
  }
  message->source = &source;
  message->send = &request;
  message->size = size;
  message->detached = detached;
  message->from = from;
  message->from_size = from_size;
  if (detached && is_moved(from, from_size)) {  // the sender may overwrite it before it arrives
    const auto* const bytes = static_cast<const unsigned char*>(from);
    message->copy.assign(bytes, bytes + from_size);
    message->from = message->copy.data();
  }
  if (!detached) ++message->holders;
  if (matched) set_out(*message);
  return detached ? nullptr : message;
}

Message* Messages::post_receive(Request& request, Actor& target, void* into,
                                std::size_t* into_size) {
  Mailbox& box = mailbox(target);
  Message* message = box.sends.first();
  while (message != nullptr && !match(*message->send, request, false))
    message = Mailbox::Queue::after(message);
  const bool matched = message != nullptr;
  if (matched) {
    box.sends.erase(message);
  } else {
    message = &take();
    message->holders = 1;
    box.receives.push_back(message);
  }
  message->target = &target;
  message->receive = &request;
  message->into = into;
  message->into_size = into_size;
  ++message->holders;
  if (matched) set_out(*message);
  return message;
}

Request* Messages::probe(Request& request, const Actor& target) {
  for (Message* message = mailbox(target).sends.first(); message != nullptr;
       message = Mailbox::Queue::after(message))
    if (match(*message->send, request, true)) return message->send;
  return nullptr;
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
  network.sharing.start(message.variable, &message, latency > 0 ? 0.0 : 1.0, route.bound,
                        route.links.size() + route.back.size());
  if (latency > 0) network.pay_latency_until(message, latency + now);
  for (Constraint* const link : route.links) network.sharing.use(message.variable, *link, 1.0);
  for (Constraint* const link : route.back) network.sharing.use(message.variable, *link, .05);
}

void Message::at_end() { messages->arrive(*this); }

void Messages::arrive(Message& message) {
  message.state = Message::State::done;
  kernel_.network().end(message);
  for (std::size_t index = 0; index < message.idle_count; ++index)
    kernel_.end_idle(message.idle_hosts[index]);
  message.idle_count = 0;
  finish(message);
  release(message);
}

/// Moves what matters of the payload, and wakes who waits.
void Messages::finish(Message& message) {
  if (message.from != nullptr && message.into != nullptr) {
    const std::size_t size = std::min(message.from_size, *message.into_size);
    *message.into_size = size;
    if (is_moved(message.from, message.from_size) && !scratch::contains(message.into))
      std::memcpy(message.into, message.from, size);
    message.from = nullptr;
  }
  while (message.waiter_count > 0) {
    Actor& actor = *message.waiters.front();
    const auto drop = [&actor](Message& waited_for) {
      Actor** const end = waited_for.waiters.data() + waited_for.waiter_count;
      waited_for.waiter_count = static_cast<std::uint8_t>(
          std::remove(waited_for.waiters.data(), end, &actor) - waited_for.waiters.data());
    };
    if (actor.awaited != nullptr) {
      for (Message* const other : *actor.awaited) drop(*other);
      actor.arrived = static_cast<std::size_t>(
          std::find(actor.awaited->begin(), actor.awaited->end(), &message) -
          actor.awaited->begin());
      actor.awaited = nullptr;
    } else {
      drop(message);
    }
    kernel_.wake(actor);
  }
}

void Messages::add_waiter(Message& message, Actor& actor) {
  message.waiters.at(message.waiter_count++) = &actor;
}

void Messages::wait(Message& message) {
  Actor& actor = kernel_.running();
  kernel_.call(0, [this, &message, &actor] {
    add_waiter(message, actor);
    if (message.state == Message::State::done) {
      finish(message);
      return;
    }
    message.idle_hosts.at(message.idle_count++) = actor.host;
    kernel_.start_idle(actor);
  });
}

std::size_t Messages::wait_any(const std::vector<Message*>& messages) {
  Actor& actor = kernel_.running();
  kernel_.call(0, [this, &messages, &actor] {
    actor.awaited = &messages;
    for (Message* const message : messages) {
      add_waiter(*message, actor);
      if (message->state == Message::State::done) {
        finish(*message);
        return;
      }
    }
  });
  return actor.arrived;
}

bool Messages::test(Message& message) {
  Actor& actor = kernel_.running();
  bool arrived = false;
  kernel_.call(0, [this, &message, &actor, &arrived] {
    arrived = message.state == Message::State::done;
    kernel_.wake(actor);
  });
  return arrived;
}

}  // namespace hamtune::express
