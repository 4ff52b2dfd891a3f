"""Notifications of jobs: who waits for events is woken when they are committed, and need not poll.

Within a process the database notifies by itself. Several processes over PostgreSQL hear of each
other's commits by NOTIFY. Notifications are hints, never the truth: one may come twice, and whoever
waits looks at the database once in a while all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["CHANNEL", "Notification", "Notifications", "Wakeup"]

CHANNEL = "hamtune"


@dataclass(frozen=True)
class Notification:
    """An event was committed.

    Attributes:
        job_id: Of which job.
        kind: `job`, `trial` or `message`.
        state: The new state of the job or trial; empty where the event tells of none.
    """

    job_id: str
    kind: str
    state: str

    def encode(self) -> str:
        """As one line of a notification."""
        return f"{self.job_id} {self.kind} {self.state}"

    @classmethod
    def decode(cls, line: str) -> Notification:
        """From a line of a notification; a line of another version is taken as far as it goes."""
        job_id, kind, state, *_ = (*line.split(" "), "", "")
        return cls(job_id, kind, state)


Subscriber = Callable[[Notification | None], object]
"""Called with each notification, or with None where some may have been missed."""


class Notifications:
    """Passes notifications on to those who subscribed. Safe for use by many threads."""

    def __init__(self) -> None:
        self._subscribers: dict[int, Subscriber] = {}
        self._made = 0
        self._lock = threading.Lock()

    @contextmanager
    def subscribed(self, subscriber: Subscriber) -> Iterator[None]:
        """Within the block, it is called for every notification, in whichever thread has it."""
        with self._lock:
            self._made += 1
            key = self._made
            self._subscribers[key] = subscriber
        try:
            yield
        finally:
            with self._lock:
                del self._subscribers[key]

    def announce(self, notifications: Iterable[Notification | None]) -> None:
        """Tell all subscribers."""
        with self._lock:
            subscribers = list(self._subscribers.values())
        if subscribers:
            for notification in notifications:
                for subscriber in subscribers:
                    subscriber(notification)


class Wakeup:
    """Something that one thread waits for and others set.

    Example:
        >>> wakeup = Wakeup(lambda notification: notification.kind == "job")
        >>> with storage.notifications.subscribed(wakeup.hear):  # doctest: +SKIP
        ...     wakeup.wait(1.0)
    """

    def __init__(self, wanted: Callable[[Notification], bool]) -> None:
        self._wanted = wanted
        self._set = threading.Event()

    def hear(self, notification: Notification | None) -> None:
        """Wake whoever waits, if the notification is wanted."""
        if notification is None or self._wanted(notification):
            self._set.set()

    def wait(self, seconds: float) -> bool:
        """Whether it was woken since the last time; waits for it as long as this."""
        woken = self._set.wait(seconds)
        self._set.clear()
        return woken
