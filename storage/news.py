"""News of jobs: who waits for events is woken when they are committed, instead of asking often.

Within a process the database rings the bells itself. Several processes over PostgreSQL hear of each
other's commits by NOTIFY. News are hints, never the truth: one may come twice, and whoever waits
looks at the database once in a while all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["CHANNEL", "Bell", "News", "Notice"]

CHANNEL = "hamtune"


@dataclass(frozen=True)
class Notice:
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
    def decode(cls, line: str) -> Notice:
        """From a line of a notification; a line of another version is taken as far as it goes."""
        job_id, kind, state, *_ = (*line.split(" "), "", "")
        return cls(job_id, kind, state)


Ring = Callable[[Notice | None], object]
"""Called with each notice, or with None where some may have been missed."""


class News:
    """Passes notices on to those who subscribed. Safe for use by many threads."""

    def __init__(self) -> None:
        self._rings: dict[int, Ring] = {}
        self._made = 0
        self._lock = threading.Lock()

    @contextmanager
    def subscribed(self, ring: Ring) -> Iterator[None]:
        """Within the block, `ring` is called for every notice, in whichever thread has it."""
        with self._lock:
            self._made += 1
            key = self._made
            self._rings[key] = ring
        try:
            yield
        finally:
            with self._lock:
                del self._rings[key]

    def announce(self, notices: Iterable[Notice | None]) -> None:
        """Tell all subscribers."""
        with self._lock:
            rings = list(self._rings.values())
        if rings:
            for notice in notices:
                for ring in rings:
                    ring(notice)


class Bell:
    """Something that one thread waits for and others ring.

    Example:
        >>> bell = Bell(lambda notice: notice.kind == "job")
        >>> with storage.news.subscribed(bell.hear):  # doctest: +SKIP
        ...     bell.wait(1.0)
    """

    def __init__(self, wanted: Callable[[Notice], bool]) -> None:
        self._wanted = wanted
        self._rung = threading.Event()

    def hear(self, notice: Notice | None) -> None:
        """Ring if the notice is wanted."""
        if notice is None or self._wanted(notice):
            self._rung.set()

    def wait(self, seconds: float) -> bool:
        """Whether it was rung since the last time; waits for it as long as this."""
        rung = self._rung.wait(seconds)
        self._rung.clear()
        return rung
