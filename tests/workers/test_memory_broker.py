"""The broker within a process: messages arrive in order, wake who waits, and come again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kombu.connection import Connection
from kombu.entity import Exchange, Queue
from kombu.message import Message

from storage.identifiers import new_id

LONG = 60.0
"""Far longer than any message takes; a test that waits so long fails."""


class Client:
    """A connection with a queue of its own."""

    def __init__(self, name: str) -> None:
        self.connection = Connection(
            "memory://localhost", transport="workers.memory_broker:Transport"
        )
        exchange = Exchange(name, "direct")
        self.queue = Queue(name, exchange, routing_key=name)
        self.got: list[Any] = []
        self.messages: list[Message] = []

    def send(self, *bodies: Any) -> None:
        producer = self.connection.Producer()
        for body in bodies:
            producer.publish(
                body,
                exchange=self.queue.exchange,
                routing_key=self.queue.routing_key,
                declare=[self.queue],
            )

    def listen(self, *, most: int = 0, acknowledge: bool = True) -> None:
        """Begin to receive, so many at once that are not acknowledged (0: any number)."""

        def receive(body: Any, message: Message) -> None:
            self.got.append(body)
            self.messages.append(message)
            if acknowledge:
                message.ack()

        consumer = self.connection.Consumer([self.queue], callbacks=[receive])
        consumer.qos(prefetch_count=most)
        consumer.consume()

    def drain(self, seconds: float = LONG) -> None:
        self.connection.drain_events(timeout=seconds)


@pytest.fixture
def client() -> Iterator[Callable[[str], Client]]:
    """Makes clients; those with the same name share a queue."""
    made: list[Client] = []
    suffix = new_id()

    def make(name: str = "queue") -> Client:
        made.append(Client(f"{name}-{suffix}"))
        return made[-1]

    yield make
    for each in made:
        each.connection.release()


def test_messages_arrive_in_the_order_in_which_they_were_sent(
    client: Callable[..., Client],
) -> None:
    one = client()
    one.send("a", "b", "c")
    one.listen()
    while len(one.got) < 3:
        one.drain()
    assert one.got == ["a", "b", "c"]


def test_a_consumer_without_messages_gives_up_in_time(client: Callable[..., Client]) -> None:
    one = client()
    one.listen()
    with pytest.raises(TimeoutError):
        one.drain(0.01)
    assert one.got == []


def test_a_waiting_consumer_is_woken_by_a_message(client: Callable[..., Client]) -> None:
    """Not by the end of its patience, which is too long for the test to pass."""
    sender, receiver = client(), client()
    receiver.listen()
    thread = threading.Thread(target=receiver.drain)
    thread.start()
    time.sleep(0.05)  # most likely it waits by now; it must arrive all the same if not
    sender.send("wake")
    thread.join(LONG / 2)
    assert not thread.is_alive()
    assert receiver.got == ["wake"]


def test_a_consumer_at_its_limit_goes_on_when_another_thread_acknowledges(
    client: Callable[..., Client],
) -> None:
    one = client()
    one.listen(most=1, acknowledge=False)
    one.send("first", "second")
    one.drain()
    with pytest.raises(TimeoutError):
        one.drain(0.05)
    assert one.got == ["first"]

    thread = threading.Thread(target=one.drain)
    thread.start()
    one.messages[0].ack()
    thread.join(LONG / 2)
    assert not thread.is_alive()
    assert one.got == ["first", "second"]


def test_a_message_that_is_given_back_comes_again(client: Callable[..., Client]) -> None:
    one = client()
    one.listen(acknowledge=False)
    one.send("again")
    one.drain()
    one.messages[0].requeue()
    one.drain()
    one.messages[1].reject()
    with pytest.raises(TimeoutError):
        one.drain(0.01)
    assert one.got == ["again", "again"]


def test_a_message_goes_to_one_of_several_consumers(client: Callable[..., Client]) -> None:
    sender, *receivers = client(), client(), client()
    for receiver in receivers:
        receiver.listen()
    sent = list(range(20))
    sender.send(*sent)
    while sum(len(receiver.got) for receiver in receivers) < len(sent):
        for receiver in receivers:
            try:
                receiver.drain(0.0)
            except TimeoutError:
                continue
    assert sorted(receivers[0].got + receivers[1].got) == sent


def test_queues_of_other_names_keep_apart(client: Callable[..., Client]) -> None:
    one, another = client("one"), client("another")
    one.listen()
    another.listen()
    one.send("mine")
    with pytest.raises(TimeoutError):
        another.drain(0.01)
    one.drain()
    assert (one.got, another.got) == (["mine"], [])
