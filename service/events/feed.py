"""Who waits for the events of a job: one poller reads and encodes them for all."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from operator import attrgetter

from fastapi.concurrency import run_in_threadpool

from service.events.wire import Line
from storage.errors import Unavailable
from storage.records import Event
from storage.storage import Storage

__all__ = ["EventFeed", "Watcher"]

POLL_SECONDS = 0.1
POLL_LIMIT = 1000
AWAY_SECONDS = 1.0  # between looks at a database that is away
KEPT_LINES = 2000  # of a job; who is further behind reads the database

log = logging.getLogger("hamtune.service")


class EventFeed:
    """Hands new events to watchers.

    However many watch, the event log is polled once an interval, and each event is encoded once; a
    watcher reads the log itself only to catch up. Each event loop that has watchers polls for its
    own.

    Args:
        whole: Gives the storage of all projects, whose log is polled.
    """

    def __init__(self, whole: Callable[[], Storage]) -> None:
        self._whole = whole
        self._tails: dict[asyncio.AbstractEventLoop, _Tail] = {}
        self.closed = False

    @asynccontextmanager
    async def watch(self, job_id: str) -> AsyncIterator[Watcher]:
        """Follow a job, whose watcher must be allowed to see it."""
        loop = asyncio.get_running_loop()
        tail = self._tails.get(loop)
        if tail is None:
            tail = self._tails[loop] = _Tail(self._whole())
        watcher = tail.add(job_id)
        try:
            yield watcher
        finally:
            if tail.remove(job_id, watcher):
                self._tails.pop(loop, None)

    def close(self) -> None:
        """End all watching, so that a server can stop. May be called from any thread."""
        self.closed = True
        for loop, tail in list(self._tails.items()):
            loop.call_soon_threadsafe(tail.wake_all)


class Watcher:
    """Somebody who follows a job.

    Attributes:
        wake: Set whenever there may be news; the watcher clears it.
    """

    def __init__(self, tail: _Tail, recent: _Recent) -> None:
        self.wake = asyncio.Event()
        self._tail = tail
        self._recent = recent

    @property
    def horizon(self) -> int:
        """All events with ids up to this one can be read in the database."""
        return self._tail.cursor or 0

    def after(self, cursor: int) -> list[Line] | None:
        """The events behind the cursor that are there; None where they are not all at hand."""
        return self._recent.after(cursor)


class _Recent:
    """The last events of a job that is watched: all whose ids are above `since`."""

    def __init__(self, since: int | None) -> None:
        self.since = since
        self.watchers: set[Watcher] = set()
        self._lines: list[Line] = []

    def add(self, line: Line) -> None:
        self._lines.append(line)
        if len(self._lines) > KEPT_LINES:
            half = len(self._lines) // 2
            self.since = self._lines[half - 1].id
            del self._lines[:half]

    def after(self, cursor: int) -> list[Line] | None:
        if self.since is None or cursor < self.since:
            return None
        return self._lines[bisect_right(self._lines, cursor, key=attrgetter("id")) :]


class _Tail:
    """The poller of one event loop; it runs while somebody watches."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._watched: dict[str, _Recent] = {}
        self._task: asyncio.Task[None] | None = None
        self.cursor: int | None = None

    def add(self, job_id: str) -> Watcher:
        recent = self._watched.setdefault(job_id, _Recent(self.cursor))
        watcher = Watcher(self, recent)
        recent.watchers.add(watcher)
        if self._task is None:
            self._task = asyncio.create_task(self._poll())
        return watcher

    def remove(self, job_id: str, watcher: Watcher) -> bool:
        """Take a watcher out; whether it was the last, so that the tail is done."""
        recent = self._watched[job_id]
        recent.watchers.discard(watcher)
        if not recent.watchers:
            del self._watched[job_id]
        if self._watched or self._task is None:
            return False
        self._task.cancel()
        return True

    def wake_all(self) -> None:
        for recent in self._watched.values():
            for watcher in recent.watchers:
                watcher.wake.set()

    async def _read_on(self) -> list[Event]:
        """What came since the last look; the first look begins with what comes after it."""
        if self.cursor is None:
            self.cursor = await run_in_threadpool(self._storage.events.last_id)
            for recent in self._watched.values():
                recent.since = self.cursor
            self.wake_all()  # whatever came between a watcher's first read and this
        return await run_in_threadpool(self._storage.events.after, self.cursor, limit=POLL_LIMIT)

    def _hand_on(self, event: Event) -> None:
        """Give an event to those who watch its job."""
        self.cursor = event.id
        watched = self._watched.get(event.job_id)
        if watched is not None:
            watched.add(Line.of(event))
            for watcher in watched.watchers:
                watcher.wake.set()

    async def _poll(self) -> None:
        away = False
        while True:
            found = 0
            try:
                events = await self._read_on()
                found = len(events)
                for event in events:
                    self._hand_on(event)
                if away:
                    away = False
                    self.wake_all()
            except Unavailable as error:
                # Watchers wait and lose nothing.
                if not away:
                    log.warning("events wait: %s", error)
                away = True
            except Exception:  # a poller that ended here would leave all watchers without a word
                if not away:
                    log.exception("events wait")
                away = True
            if found < POLL_LIMIT:
                await asyncio.sleep(AWAY_SECONDS if away else POLL_SECONDS)
