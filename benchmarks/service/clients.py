"""Many clients at once: readers of a long job's pages, and watchers who come and go."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from urllib.parse import urlsplit

from benchmarks.service.bars import Bar, short_job
from benchmarks.service.installation import Installation
from benchmarks.service.seeded import ended_job

CLIENTS = 50
THINK_SECONDS = 1.0  # between two requests of a client, at most; half of it in the mean
READING_SECONDS = 20.0
P99_BAR = 0.25
LONG = 10_000
WATCHERS = 200
WATCHED_TRIALS = 150


def measure(installation: Installation, scale: float) -> list[Bar]:
    """Read pages while jobs run; then watch a job from its start to its end."""
    long = ended_job(installation, LONG)
    coordinator = installation.start("coordinator")
    workers = installation.workers(2)
    seconds = max(3.0, READING_SECONDS * scale)
    installation.finish([installation.submit(short_job("known", 100))], 120.0)

    # More than can end meanwhile, with evaluations that are simulated.
    background = [installation.submit(short_job(f"load-{n}", 100_000, seed=n)) for n in (11, 12)]
    times, errors = asyncio.run(_read(installation.url, long, seconds))
    for job_id in background:
        installation.storage.jobs.transition(job_id, "cancelling")
    installation.wait_for(
        lambda: all(installation.storage.jobs.get(one).state == "cancelled" for one in background),
        "the jobs are not cancelled",
    )
    p99 = statistics.quantiles(times, n=100)[98]
    bars = [
        Bar(
            f"{CLIENTS} clients, pages of {LONG} trials",
            f"p99 < {1000 * P99_BAR:.0f} ms, no error",
            f"p99 {1000 * p99:.0f} ms, median {1000 * statistics.median(times):.0f} ms,"
            f" {len(times) / seconds:.0f} a second, {errors} errors",
            p99 < P99_BAR and errors == 0,
        )
    ]

    trials = max(30, int(WATCHED_TRIALS * scale))
    watched = installation.submit(short_job("watched", trials, seed=3))
    began = time.monotonic()
    seen, reconnects = asyncio.run(_watch(installation.url, watched))
    took = time.monotonic() - began
    installation.finish([watched], 120.0)
    events = installation.storage.events.after(0, job_id=watched, limit=1000)
    assert len(events) < 1000, "all are on one page"
    expected = [event.id for event in events]
    right = sum(ids == expected for ids in seen)
    bars.append(
        Bar(
            f"{WATCHERS} watchers, {len(expected)} events",
            "every event once, in order",
            f"{right} of {len(seen)} saw just these, {reconnects} reconnects, {took:.0f} s",
            right == len(seen) and reconnects > 0,
        )
    )
    for part in (coordinator, *workers):
        part.stop()
    return bars


async def _read(url: str, job_id: str, seconds: float) -> tuple[list[float], int]:
    """What clients read for so long: the seconds of each answer, and how many were refused."""
    path = urlsplit(url)
    times: list[float] = []
    errors = 0

    async def client(number: int) -> None:
        nonlocal errors
        rng = random.Random(number)
        await asyncio.sleep(rng.uniform(0.0, THINK_SECONDS))
        reader, writer = await asyncio.open_connection(path.hostname, path.port)
        while time.monotonic() < end:
            after = rng.randrange(0, LONG - 100)
            target = f"{path.path}/jobs/{job_id}/trials?after={after}&limit=100"
            began = time.monotonic()
            writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode().lower().splitlines()
            lengths = [line for line in lines if line.startswith("content-length:")]
            await reader.readexactly(int(lengths[0].partition(":")[2]))
            times.append(time.monotonic() - began)
            errors += " 200 " not in lines[0]
            await asyncio.sleep(rng.uniform(0.0, THINK_SECONDS))
        writer.close()

    end = time.monotonic() + seconds
    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return times, errors


async def _watch(url: str, job_id: str) -> tuple[list[list[int]], int]:
    """The ids of events that each watcher saw until the job's end, and how often they came back."""
    path = urlsplit(url)
    reconnects = 0

    async def watcher(number: int) -> list[int]:
        nonlocal reconnects
        rng = random.Random(number)
        seen: list[int] = []
        while True:
            last = f"Last-Event-ID: {seen[-1]}\r\n" if seen else ""
            reader, writer = await asyncio.open_connection(path.hostname, path.port)
            request = f"GET {path.path}/jobs/{job_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{last}"
            writer.write(f"{request}Connection: close\r\n\r\n".encode())
            leave_after = len(seen) + rng.randint(50, 250)
            while line := await reader.readline():
                if line.startswith(b"id: "):
                    seen.append(int(line[4:]))
                    if len(seen) >= leave_after:
                        break
            writer.close()
            if not line:
                return seen
            reconnects += 1

    return list(await asyncio.gather(*map(watcher, range(WATCHERS)))), reconnects
