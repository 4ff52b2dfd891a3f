"""A job's events as Server-Sent Events (HTML standard, section 9.2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable

from fastapi.concurrency import run_in_threadpool

from service.events.feed import EventFeed, Watcher
from service.events.wire import Line
from storage.errors import NotFound, Unavailable
from storage.records import FINAL_JOB_STATES
from storage.view import StorageView

__all__ = ["HEARTBEAT_SECONDS", "stream"]

HEARTBEAT_SECONDS = 10.0
ADMISSION_SECONDS = 3.0
PAGE = 500
RETRY_MILLISECONDS = 1000


async def stream(
    storage: StorageView,
    feed: EventFeed,
    job_id: str,
    after: int,
    *,
    heartbeat: float = HEARTBEAT_SECONDS,
    may_stay: Callable[[], bool] = lambda: True,
    admission: float = ADMISSION_SECONDS,
) -> AsyncGenerator[bytes]:
    """The job's events after `after`, then new ones as they come, until the job is final.

    Every event is sent once and in order, in one chunk with those that came with it. In silence a
    comment goes out every `heartbeat` seconds, so that proxies keep the connection and a dead one
    is noticed.

    Args:
        storage: Where the job is.
        feed: Hands over what happens.
        job_id: Which one.
        after: Only events with a higher id.
        heartbeat: Seconds of silence at most.
        may_stay: Whether the watcher may watch on; the stream ends where not.
        admission: Seconds after which that is asked again.
    """
    yield f"retry: {RETRY_MILLISECONDS}\n\n".encode()
    heard = asked = time.monotonic()
    async with feed.watch(job_id) as watcher:
        reader = _Reader(storage, job_id, watcher, after)
        while not feed.closed:
            watcher.wake.clear()
            if time.monotonic() - asked >= admission:
                if not await run_in_threadpool(may_stay):
                    return
                asked = time.monotonic()
            lines = await reader.read()
            if lines:
                yield b"".join(line.data for line in lines)
                heard = time.monotonic()
            if reader.over:
                return
            if lines:
                continue
            try:
                await asyncio.wait_for(watcher.wake.wait(), min(heartbeat, admission))
            except TimeoutError:
                if time.monotonic() - heard >= heartbeat:
                    yield b": still here\n\n"
                    heard = time.monotonic()
                    reader.look()


class _Reader:
    """What a watcher reads: the database to catch up, then what all watchers share.

    Attributes:
        over: Whether the job has ended, and everything was read.
    """

    def __init__(self, storage: StorageView, job_id: str, watcher: Watcher, after: int) -> None:
        self._storage = storage
        self._job_id = job_id
        self._watcher = watcher
        self._seen = after  # all up to this id
        self._looks = True  # into the database, which alone knows whether the job has ended
        self.over = False

    def look(self) -> None:
        """Look into the database the next time."""
        self._looks = True

    async def read(self) -> list[Line]:
        """The next events; none where there are none now."""
        lines = None if self._looks else self._watcher.after(self._seen)
        if lines is None:
            lines = await self._read_stored()
        else:
            self._looks = any(line.kind == "job" for line in lines)
        if lines:
            self._seen = max(self._seen, lines[-1].id)
        return lines

    async def _read_stored(self) -> list[Line]:
        horizon = self._watcher.horizon
        try:
            over, lines = await run_in_threadpool(self._look, self._seen)
        except Unavailable:  # for a while; the poller logs it and wakes when it is over
            return []
        self._looks = len(lines) == PAGE
        if not self._looks:
            self._seen = max(self._seen, horizon)
            self.over = over
        return lines

    def _look(self, cursor: int) -> tuple[bool, list[Line]]:
        """Whether the job is over, and its next events."""
        try:
            # The state is read first: what led to a final one is then among the events.
            over = self._storage.jobs.get(self._job_id).state in FINAL_JOB_STATES
        except NotFound:  # deleted while it was watched
            over = True
        events = self._storage.events.after(cursor, job_id=self._job_id, limit=PAGE)
        return over, [Line.of(event) for event in events]
