"""Who waits for the events of a job, woken by one poller for all of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi.concurrency import run_in_threadpool

from storage.errors import Unavailable
from storage.storage import Storage

__all__ = ["EventFeed"]

POLL_SECONDS = 0.1
POLL_LIMIT = 1000
AWAY_SECONDS = 1.0  # between looks at a database that is away

log = logging.getLogger("hamtune.service")


class EventFeed:
    """Wakes watchers when the event log has grown.

    However many watch, the log is polled once an interval; a watcher reads it only when
    there is something for it. Each event loop that has watchers polls for its own.

    Args:
        whole: Gives the storage of all projects, whose log is polled; by default that of the first
            watcher.
    """

    def __init__(self, whole: Callable[[], Storage] | None = None) -> None:
        self._whole = whole
        self._tails: dict[asyncio.AbstractEventLoop, _Tail] = {}
        self.closed = False

    @asynccontextmanager
    async def watch(self, storage: Storage, job_id: str) -> AsyncIterator[asyncio.Event]:
        """An event that is set whenever the job may have news; the watcher clears it."""
        loop = asyncio.get_running_loop()
        tail = self._tails.get(loop)
        if tail is None:
            tail = self._tails[loop] = _Tail(storage if self._whole is None else self._whole())
        wake = asyncio.Event()
        tail.add(job_id, wake)
        try:
            yield wake
        finally:
            if tail.remove(job_id, wake):
                self._tails.pop(loop, None)

    def close(self) -> None:
        """End all watching, so that a server can stop. May be called from any thread."""
        self.closed = True
        for loop, tail in list(self._tails.items()):
            loop.call_soon_threadsafe(tail.wake_all)


class _Tail:
    """The poller of one event loop; it runs while somebody watches."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, job_id: str, wake: asyncio.Event) -> None:
        self._watchers.setdefault(job_id, set()).add(wake)
        if self._task is None:
            self._task = asyncio.create_task(self._poll())

    def remove(self, job_id: str, wake: asyncio.Event) -> bool:
        """Take a watcher out; whether it was the last, so that the tail is done."""
        self._watchers[job_id].discard(wake)
        if not self._watchers[job_id]:
            del self._watchers[job_id]
        if self._watchers or self._task is None:
            return False
        self._task.cancel()
        return True

    def wake_all(self) -> None:
        for watchers in self._watchers.values():
            for wake in watchers:
                wake.set()

    async def _poll(self) -> None:
        cursor: int | None = None
        away = False
        while True:
            try:
                if cursor is None:
                    cursor = await run_in_threadpool(self._storage.last_event_id)
                    self.wake_all()  # whatever came between a watcher's first read and this
                for event in await run_in_threadpool(
                    self._storage.events_after, cursor, limit=POLL_LIMIT
                ):
                    cursor = event.id
                    for wake in self._watchers.get(event.job_id, ()):
                        wake.set()
                if away:
                    away = False
                    self.wake_all()
            except Unavailable as error:
                # Watchers wait and lose nothing.
                if not away:
                    log.warning("events wait: %s", error)
                away = True
            await asyncio.sleep(AWAY_SECONDS if away else POLL_SECONDS)
