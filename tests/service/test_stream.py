import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.events.feed import EventFeed
from service.events.stream import stream
from storage.errors import Unavailable
from storage.events import Events
from storage.records import Event
from storage.scopes import EveryProject
from storage.storage import Storage

SECONDS = 300.0
"""How long anything may take."""


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = Storage.open(f"sqlite:///{tmp_path}/test.db", (tmp_path / "artifacts").as_uri())
    opened.upgrade()
    yield opened
    opened.close()


def job_in(storage: Storage) -> str:
    return storage.jobs.create(name="test", spec={}, seed=1).id


def parse(chunk: bytes) -> list[dict[str, Any]]:
    return [
        json.loads(line.removeprefix("data: "))
        for line in chunk.decode().splitlines()
        if line.startswith("data: ")
    ]


async def read(chunks: AsyncIterator[bytes], count: int) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while len(events) < count:
        events += parse(await asyncio.wait_for(anext(chunks), SECONDS))
    assert len(events) == count, "they come with those that were stored meanwhile"
    return events


def test_an_event_carries_its_id_and_kind(storage: Storage) -> None:
    job = job_in(storage)
    storage.jobs.transition(job, "cancelled")

    async def watch() -> list[bytes]:
        return [chunk async for chunk in stream(storage, EventFeed(lambda: storage), job, 0)]

    retry, both = asyncio.run(watch())
    assert retry.startswith(b"retry: ")
    first, second, rest = both.split(b"\n\n")
    assert rest == b""
    identifier, kind, data = first.decode().split("\n")
    event = json.loads(data.removeprefix("data: "))
    assert identifier == f"id: {event['id']}"
    assert kind == "event: job"
    assert event["job_id"] == job
    (last,) = parse(second)
    assert last["data"]["state"] == "cancelled"


def test_a_watcher_that_comes_back_sees_every_event_once_and_in_order(storage: Storage) -> None:
    job, other = job_in(storage), job_in(storage)
    feed = EventFeed(lambda: storage)

    async def watch() -> list[Any]:
        seen: list[Any] = []
        cursor = 0
        for visit in range(4):
            chunks = stream(storage, feed, job, cursor)
            for number in range(3):
                storage.events.append(other, "message", {"noise": number})
                storage.events.append(job, "message", {"number": 3 * visit + number})
            # The first visit also sees that the job was created.
            for event in await read(chunks, 4 if visit == 0 else 3):
                seen.append(event["data"].get("number"))
                cursor = event["id"]
            await chunks.aclose()
        return seen

    assert asyncio.run(watch()) == [None, *range(12)]


def test_events_reach_all_watchers_as_they_come_and_the_end_ends_them(storage: Storage) -> None:
    job = job_in(storage)
    feed = EventFeed(lambda: storage)

    async def collect() -> list[int]:
        return [
            event["id"] async for chunk in stream(storage, feed, job, 0) for event in parse(chunk)
        ]

    async def act() -> None:
        for number in range(20):
            storage.events.append(job, "message", {"number": number})
            await asyncio.sleep(0.01)
        storage.jobs.transition(job, "cancelled")

    async def watch() -> list[list[int]]:
        watchers = asyncio.gather(*(collect() for _ in range(20)))
        seen, _ = await asyncio.wait_for(asyncio.gather(watchers, act()), 60)
        return seen

    seen = asyncio.run(watch())
    expected = [event.id for event in storage.events.after(0, job_id=job)]
    assert len(expected) == 22
    assert seen == [expected] * 20


def test_silence_is_broken_by_comments(storage: Storage) -> None:
    job = job_in(storage)

    async def watch() -> bytes:
        chunks = stream(
            storage, EventFeed(lambda: storage), job, storage.events.last_id(), heartbeat=0.01
        )
        await anext(chunks)
        comment = await asyncio.wait_for(anext(chunks), SECONDS)
        await chunks.aclose()
        return comment

    assert asyncio.run(watch()).startswith(b": ")


def test_closing_the_feed_ends_the_stream(storage: Storage) -> None:
    job = job_in(storage)
    feed = EventFeed(lambda: storage)

    async def watch() -> None:
        chunks = stream(storage, feed, job, 0)
        await read(chunks, 1)
        feed.close()
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(chunks), SECONDS)

    asyncio.run(watch())


def test_a_watcher_who_may_not_watch_any_more_is_sent_off(storage: Storage) -> None:
    job = job_in(storage)
    may = [True, True, False]

    async def watch() -> list[dict[str, Any]]:
        chunks = stream(
            storage, EventFeed(lambda: storage), job, 0, may_stay=lambda: may.pop(0), admission=0.01
        )
        return [event async for chunk in chunks for event in parse(chunk)]

    assert len(asyncio.run(asyncio.wait_for(watch(), SECONDS))) == 1
    assert may == []


def test_deleting_the_job_ends_the_stream(storage: Storage) -> None:
    job = job_in(storage)
    storage.jobs.transition(job, "paused")

    async def watch() -> list[dict[str, Any]]:
        chunks = stream(storage, EventFeed(lambda: storage), job, 0)
        await read(chunks, 2)
        storage.trash.delete(job)
        return [event async for event in _events(chunks)]

    (last,) = asyncio.run(watch())
    assert last["data"]["state"] == "deleted"


def test_watchers_of_a_job_share_what_is_read(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the first look each watcher is served from memory, also with what others do."""
    monkeypatch.setattr("service.events.feed.POLL_SECONDS", 0.005)
    job, other = job_in(storage), job_in(storage)
    reads: list[str | None] = []

    class Counted(Events):
        """The event log, which notes who is read."""

        def after(
            self, cursor: int, *, job_id: str | None = None, limit: int = 1000
        ) -> list[Event]:
            reads.append(job_id)
            return super().after(cursor, job_id=job_id, limit=limit)

    counted = Storage(storage._database, storage.artifacts)
    counted.events = Counted(storage._database, EveryProject(storage._database))
    feed = EventFeed(lambda: counted)

    async def collect() -> list[int]:
        return [
            event["id"] async for chunk in stream(counted, feed, job, 0) for event in parse(chunk)
        ]

    async def act() -> None:
        for number in range(40):
            storage.events.append(other, "message", {"number": number})
            storage.events.append(job, "message", {"number": number})
            await asyncio.sleep(0.005)
        storage.jobs.transition(job, "cancelled")

    async def watch() -> list[list[int]]:
        watchers = asyncio.gather(*(collect() for _ in range(5)))
        seen, _ = await asyncio.wait_for(asyncio.gather(watchers, act()), SECONDS)
        return seen

    seen = asyncio.run(watch())
    assert seen == [[event.id for event in storage.events.after(0, job_id=job)]] * 5
    # At the start, where the poller has found its place, and at the end of the job.
    assert reads.count(job) <= 5 * 6


def test_who_is_further_behind_than_is_kept_reads_the_log(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.events.feed.KEPT_LINES", 4)
    monkeypatch.setattr("service.events.feed.POLL_SECONDS", 0.005)
    job = job_in(storage)
    feed = EventFeed(lambda: storage)

    async def watch() -> list[Any]:
        slow, fast = (stream(storage, feed, job, 0) for _ in range(2))
        numbers = [event["data"].get("number") for event in await read(slow, 1)]
        await read(fast, 1)
        for number in range(20):
            storage.events.append(job, "message", {"number": number})
            await read(fast, 1)
        numbers += [event["data"]["number"] for event in await read(slow, 20)]
        await slow.aclose()
        await fast.aclose()
        return numbers

    assert asyncio.run(watch()) == [None, *range(20)]


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    async for chunk in chunks:
        for event in parse(chunk):
            yield event


def test_nobody_watching_means_no_polling(storage: Storage) -> None:
    job = job_in(storage)
    storage.jobs.transition(job, "cancelled")
    feed = EventFeed(lambda: storage)

    async def watch() -> int:
        async for _ in stream(storage, feed, job, 0):
            pass
        await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert asyncio.run(watch()) == 1


def test_a_database_that_is_away_for_a_while_costs_nothing(
    storage: Storage,
) -> None:
    job = job_in(storage)
    feed = EventFeed(lambda: flaky)

    class Flaky(Events):
        """The event log, while its storage is not away."""

        away = False

        def after(
            self, cursor: int, *, job_id: str | None = None, limit: int = 1000
        ) -> list[Event]:
            found = super().after(cursor, job_id=job_id, limit=limit)
            if Flaky.away:  # also if it went while this was asked
                raise Unavailable("the database cannot be used now: it is away")
            return found

    flaky = Storage(storage._database, storage.artifacts)
    flaky.events = Flaky(storage._database, EveryProject(storage._database))

    async def watch() -> list[dict[str, Any]]:
        chunks = stream(flaky, feed, job, 0)
        first = await read(chunks, 1)
        Flaky.away = True
        storage.events.append(job, "message", {"number": 1})
        waiting = asyncio.create_task(read(chunks, 1))
        await asyncio.sleep(0.5)
        assert not waiting.done()
        Flaky.away = False
        second = await waiting
        await chunks.aclose()
        return first + second

    assert [event["kind"] for event in asyncio.run(watch())] == ["job", "message"]


def test_a_poll_that_fails_unexpectedly_is_not_the_last_one(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("service.events.feed.AWAY_SECONDS", 0.01)
    job = job_in(storage)
    polls: list[int] = []

    class Failing(Events):
        """The event log, some looks at which fail in a way that nobody has thought of."""

        def after(
            self, cursor: int, *, job_id: str | None = None, limit: int = 1000
        ) -> list[Event]:
            if job_id is None:
                polls.append(cursor)
                if len(polls) in (2, 3):
                    raise RuntimeError("nobody has thought of this")
            return super().after(cursor, job_id=job_id, limit=limit)

    failing = Storage(storage._database, storage.artifacts)
    failing.events = Failing(storage._database, EveryProject(storage._database))

    async def watch() -> list[dict[str, Any]]:
        feed = EventFeed(lambda: failing)
        chunks = stream(failing, feed, job, 0)
        first = await read(chunks, 1)
        poller = feed._tails[asyncio.get_running_loop()]._task
        assert poller is not None
        while len(polls) < 4 and not poller.done():
            await asyncio.sleep(0.01)
        assert not poller.done()
        storage.events.append(job, "message", {"number": 1})
        second = await read(chunks, 1)
        await chunks.aclose()
        return first + second

    assert [event["kind"] for event in asyncio.run(watch())] == ["job", "message"]
    told = [one for one in caplog.records if one.getMessage() == "events wait"]
    assert len(told) == 1
