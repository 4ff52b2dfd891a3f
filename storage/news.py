"""News of jobs: who waits for events is woken when they are committed, instead of asking often.

Within a process the database rings the bells itself. Several processes over PostgreSQL hear of each
other's commits by NOTIFY. News are hints, never the truth: one may come twice, and whoever waits
looks at the database once in a while all the same.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

__all__ = ["CHANNEL", "Bell", "Listener", "News", "Notice"]

CHANNEL = "hamtune"
_RETRY_SECONDS = 1.0
_LISTEN_SECONDS = 0.5  # after which the listener sees that it is to end

log = logging.getLogger("hamtune.storage")


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


class Listener:
    """Hears the notifications of a PostgreSQL database in a thread and announces them.

    Args:
        conninfo: Where the database is, as libpq spells it.
        news: Where to announce.
    """

    def __init__(self, conninfo: str, news: News) -> None:
        self._conninfo = conninfo
        self._news = news
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="news", daemon=True)
        self.hears = False  # whether nothing can be missed just now
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                with psycopg.connect(self._conninfo, autocommit=True) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    self.hears = True
                    self._news.announce([None])
                    while not self._ended.is_set():
                        for notification in connection.notifies(timeout=_LISTEN_SECONDS):
                            lines = notification.payload.splitlines()
                            self._news.announce(
                                [Notice.decode(line) for line in lines] if lines else [None]
                            )
            except psycopg.Error as error:
                log.debug("no news for a while: %s", error)
            finally:
                self.hears = False
            self._ended.wait(_RETRY_SECONDS)
