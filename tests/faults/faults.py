"""What goes wrong in production, one function each: it breaks something and mends it again."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import psycopg
from kombu.exceptions import OperationalError

from storage.identifiers import attempt_id
from storage.messages import EVALUATE, PREPARE
from tests.faults.cluster import SILENCE_SECONDS, Installation, Process
from workers.celery_app import make_app

__all__ = ["FAULTS", "Fault"]

Fault: TypeAlias = Callable[[Installation, random.Random], None]
"""Breaks something of an installation, and mends it again."""


def kill_worker(installation: Installation, rng: random.Random) -> None:
    """`kill -9` of a worker, whatever it does."""
    _kill(rng.choice(installation.workers), rng)


def kill_coordinator(installation: Installation, rng: random.Random) -> None:
    """`kill -9` of a coordinator: another takes over once the lease has ended."""
    _kill(rng.choice(installation.coordinators), rng)


def kill_api(installation: Installation, rng: random.Random) -> None:
    """`kill -9` of the API; clients ask again."""
    _kill(installation.api, rng)


def kill_simulator(installation: Installation, rng: random.Random) -> None:
    """`kill -9` of a simulator: the child that evaluates, or the server that forks it."""
    pids = _below([worker.pid for worker in installation.workers], b"hamtune-simulator")
    if pids:
        _send(rng.choice(pids), signal.SIGKILL)


def restart_worker(installation: Installation, rng: random.Random) -> None:
    """A rolling restart: the worker ends what it does, or hands it back."""
    _restart(rng.choice(installation.workers))


def restart_coordinator(installation: Installation, rng: random.Random) -> None:
    """A rolling restart of a coordinator."""
    _restart(rng.choice(installation.coordinators))


def empty_redis(installation: Installation, rng: random.Random) -> None:
    """Redis dies and comes back with nothing: all messages under way are lost."""
    installation.redis.stop(signal.SIGKILL)
    time.sleep(rng.uniform(0.0, 0.5))
    installation.redis.start()


def restart_postgresql(installation: Installation, rng: random.Random) -> None:
    """PostgreSQL is shut down at once, with transactions open, and recovers."""
    installation.postgresql.stop(signal.SIGQUIT)
    time.sleep(rng.uniform(0.0, 0.5))
    installation.postgresql.start()


def cut_connections(installation: Installation, rng: random.Random) -> None:
    """All connections to the database are ended from its side."""
    conninfo = installation.postgresql.url.replace("+psycopg", "")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = 'hamtune' AND pid <> pg_backend_pid()"
        )


def stall_worker(installation: Installation, rng: random.Random) -> None:
    """A worker stands still until it has been given up, and then goes on as if nothing had been."""
    worker = rng.choice(installation.workers)
    worker.signal(signal.SIGSTOP)
    time.sleep(SILENCE_SECONDS + 1.0)
    worker.signal(signal.SIGCONT)


def cut_network(installation: Installation, rng: random.Random) -> None:
    """No packet passes between a worker and the servers, briefly or beyond its silence."""
    installation.remote.cut()
    time.sleep(rng.choice([0.5, SILENCE_SECONDS + 1.0]))
    installation.remote.mend()


def step_clock(installation: Installation, rng: random.Random) -> None:
    """The clocks of a coordinator and a worker jump by an hour, or back."""
    installation.set_clocks(rng.choice([0, 3600, -3600]))


def deliver_again(installation: Installation, rng: random.Random) -> None:
    """Messages come twice, some of them long after their work is done."""
    app = make_app(installation.redis.url)
    jobs = installation.get("/jobs", limit=3)["items"]
    with contextlib.suppress(OperationalError):  # the broker is away: another fault, just now
        for job in jobs:
            app.send_task(PREPARE, args=(job["id"],))
            asked = sum(job["progress"]["trials"].values())
            for _ in range(4):
                number = rng.randint(1, max(1, asked))
                app.send_task(EVALUATE, args=(attempt_id(job["id"], number, 1),))


def fill_disk(installation: Installation, rng: random.Random) -> None:
    """A worker cannot write to a file, artifacts, temporary files and its log alike."""
    worker = rng.choice(installation.workers)
    works = worker.says("waiting for work")
    before = resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    time.sleep(1.0)
    for pid in _below([worker.pid], b""):  # a limit is inherited, a full disk is not
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
    # One that cannot even begin may end, now or in a moment.
    worker.may_end = not works
    assert worker.may_end or not worker.has_ended(), worker.log.read_text()[-2000:]


FAULTS: dict[Fault, int] = {
    kill_worker: 4,
    kill_simulator: 5,
    kill_coordinator: 2,
    kill_api: 2,
    restart_worker: 2,
    restart_coordinator: 2,
    empty_redis: 2,
    restart_postgresql: 2,
    cut_connections: 3,
    stall_worker: 1,
    cut_network: 1,
    step_clock: 2,
    deliver_again: 3,
    fill_disk: 2,
}
"""How often each comes, relative to the others."""


def _kill(process: Process, rng: random.Random) -> None:
    with process.in_hands:
        process.kill()
        time.sleep(rng.uniform(0.0, 0.5))
        process.start()


def _restart(process: Process) -> None:
    # One that has only just been started knows no better than to die of the signal, or to say so.
    with process.in_hands:
        assert process.stop() in (0, 130, -signal.SIGTERM), process.log.read_text()[-2000:]
        process.start()


def _below(pids: list[int], name: bytes) -> list[int]:
    """The processes of this name among the descendants of some, in order of their ids."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
        except OSError:
            continue
    below = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    found = []
    for pid in sorted(below):
        try:
            if name in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
        except OSError:
            continue
    return found


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # it ended by itself just now
        os.kill(pid, number)
