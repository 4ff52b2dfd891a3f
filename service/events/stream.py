"""A job's events as Server-Sent Events (HTML standard, section 9.2)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable

from fastapi.concurrency import run_in_threadpool

from service.events.feed import EventFeed
from storage.errors import NotFound, Unavailable
from storage.records import FINAL_JOB_STATES, Event
from storage.storage import Storage

__all__ = ["HEARTBEAT_SECONDS", "encode", "stream"]

HEARTBEAT_SECONDS = 10.0
ADMISSION_SECONDS = 3.0
PAGE = 500
RETRY_MILLISECONDS = 1000


def encode(event: Event) -> bytes:
    """One event on the wire: its id is the cursor to come back with."""
    data = json.dumps(
        {
            "id": event.id,
            "job_id": event.job_id,
            "kind": event.kind,
            "at": event.at,
            "data": event.data,
        },
        separators=(",", ":"),
    )
    return f"id: {event.id}\nevent: {event.kind}\ndata: {data}\n\n".encode()


async def stream(
    storage: Storage,
    feed: EventFeed,
    job_id: str,
    after: int,
    *,
    heartbeat: float = HEARTBEAT_SECONDS,
    may_stay: Callable[[], bool] = lambda: True,
    admission: float = ADMISSION_SECONDS,
) -> AsyncGenerator[bytes]:
    """The job's events after `after`, then new ones as they come, until the job is final.

    Every event is sent once and in order. In silence a comment goes out every `heartbeat`
    seconds, so that proxies keep the connection and a dead one is noticed.

    Args:
        storage: Where the job is.
        feed: Wakes the stream.
        job_id: Which one.
        after: Only events with a higher id.
        heartbeat: Seconds of silence at most.
        may_stay: Whether the watcher may watch on; the stream ends where not.
        admission: Seconds after which that is asked again.
    """
    yield f"retry: {RETRY_MILLISECONDS}\n\n".encode()
    cursor = after
    heard = asked = time.monotonic()
    async with feed.watch(storage, job_id) as wake:
        while not feed.closed:
            wake.clear()
            if time.monotonic() - asked >= admission:
                if not await run_in_threadpool(may_stay):
                    return
                asked = time.monotonic()
            try:
                over, page = await run_in_threadpool(_look, storage, job_id, cursor)
            except Unavailable:  # for a while; the poller logs it and wakes when it is over
                over, page = False, []
            for event in page:
                yield encode(event)
                cursor = event.id
                heard = time.monotonic()
            if page:
                continue
            if over:
                return
            try:
                await asyncio.wait_for(wake.wait(), min(heartbeat, admission))
            except TimeoutError:
                if time.monotonic() - heard >= heartbeat:
                    yield b": still here\n\n"
                    heard = time.monotonic()


def _look(storage: Storage, job_id: str, cursor: int) -> tuple[bool, list[Event]]:
    """Whether the job is over, and its next events."""
    try:
        # The state is read first: what led to a final one is then among the events.
        over = storage.get_job(job_id).state in FINAL_JOB_STATES
    except NotFound:  # deleted while it was watched
        over = True
    return over, storage.events_after(cursor, job_id=job_id, limit=PAGE)
