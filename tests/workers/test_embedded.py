"""Real trials through brokers: within this process, and by Redis to processes of their own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from celery import Celery
from redis import Redis

from searchspace.job import load_job
from storage.messages import EVALUATE, PREPARE, QUEUE
from storage.records import FINAL_TRIAL_STATES
from storage.storage import Storage
from tests.valve import Valve
from tests.workers.conftest import RunningJob, job_document, start_job
from workers.celery_app import make_app
from workers.embedded import EmbeddedPool

RunJob = Callable[..., RunningJob]

DEADLINE_SECONDS = 300.0
REPOSITORY = Path(__file__).resolve().parents[2]
WORKER = """
import logging
import sys
from cli.interrupts import interruptible
from storage.storage import Storage
from workers.process import run_worker

logging.basicConfig()
database, artifacts, broker = sys.argv[1:]
with interruptible() as stop:
    run_worker(Storage.open(database, artifacts), broker, stop, concurrency=2)
"""
WITHOUT_END = f"""
import threading
from workers.simulator_client import Simulator

Simulator.evaluate = lambda *_, **__: threading.Event().wait()
{WORKER}
"""
"""A worker whose evaluations last until it is killed."""
IMPATIENT = f"""
import workers.celery_app

workers.celery_app.SILENCE_SECONDS = 3.0
{WORKER}
"""
"""A worker that soon gives up a broker that says nothing."""
CHANGES: list[dict[str, Any]] = [
    {"topology": topology, "ordering": ordering, "collectives": {"alltoall": alltoall}}
    for topology in ("mesh-2d", "torus-3d")
    for ordering in ("original", "hamorder")
    for alltoall in ("default", "bruck", "pair", "pair_rma")
]


def send(app: Celery, task: str, identifier: str) -> None:
    app.send_task(task, args=(identifier,), queue=QUEUE)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "nothing happened for too long"
        time.sleep(0.01)


def tune(app: Celery, storage: Storage, trace: Path) -> list[tuple[Any, ...]]:
    """Have a job prepared and sixteen trials evaluated; what they came to, by number."""
    spec = load_job(job_document(trace))
    created = storage.jobs.create(name=spec.name, spec=spec.canonical(), seed=spec.seed)
    leased = storage.leases.acquire("coordinator", 600.0, created.id)
    assert leased is not None
    storage.jobs.transition(created.id, "preparing", token=leased.lease_token)
    send(app, PREPARE, created.id)
    wait_for(lambda: storage.jobs.get(created.id).space is not None)
    job = RunningJob(storage, created.id, leased.lease_token)
    storage.jobs.transition(job.id, "running", token=job.token)
    for number, changes in enumerate(CHANGES, start=1):
        # The later ones have a cutoff between the values of the faster and the slower.
        cutoff = None if number <= 8 else storage.trials.get(job.id, 1).value
        send(app, EVALUATE, job.open(number, cutoff=cutoff, **changes))
        if number == 8:
            wait_for(lambda: not storage.trials.unfinished(job.id))
    wait_for(lambda: not storage.trials.unfinished(job.id))
    trials = [storage.trials.get(job.id, number) for number in range(1, len(CHANGES) + 1)]
    assert all(trial.state in FINAL_TRIAL_STATES for trial in trials)
    return [(t.number, t.state, t.value, t.cached, t.reason, t.result) for t in trials]


@pytest.fixture
def distributed(
    create_database: Callable[[], str], tmp_path: Path
) -> Iterator[tuple[Storage, tuple[str, str]]]:
    """A storage over a server, and the URLs by which a process of workers opens it."""
    urls = (create_database(), str(tmp_path / "distributed-artifacts"))
    storage = Storage.open(*urls)
    storage.upgrade()
    yield storage, urls
    storage.close()


@contextmanager
def worker_process(
    storage_urls: tuple[str, str],
    broker: str,
    program: str = WORKER,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, *storage_urls, broker],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **(environment or {})},
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_trials_are_evaluated_through_the_broker_of_this_process(
    storage: Storage, trace: Path
) -> None:
    app = make_app("memory://")
    with EmbeddedPool(app, 2, storage=storage):
        outcomes = tune(app, storage, trace)

    states = {state for _, state, *_ in outcomes}
    assert {"completed", "infeasible"} <= states
    assert len({value for _, state, value, *_ in outcomes if state == "completed"}) > 3


def test_redis_postgresql_and_a_worker_process_come_to_the_same(
    distributed: tuple[Storage, tuple[str, str]], redis_url: str, storage: Storage, trace: Path
) -> None:
    app = make_app("memory://")
    with EmbeddedPool(app, 2, storage=storage):
        embedded = tune(app, storage, trace)
    elsewhere, urls = distributed

    with worker_process(urls, redis_url) as process:
        apart = tune(make_app(redis_url), elsewhere, trace)
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_SECONDS) == 0

    assert apart == embedded


def test_a_worker_process_that_is_told_to_end_hands_its_trial_to_another(
    distributed: tuple[Storage, tuple[str, str]], redis_url: str, trace: Path, tmp_path: Path
) -> None:
    storage, urls = distributed
    job = start_job(storage, trace)
    attempt_id = job.open()
    valve = Valve(tmp_path / "valve")
    valve.shut()

    with worker_process(urls, redis_url, environment=valve.environment) as process:
        send(make_app(redis_url), EVALUATE, attempt_id)
        wait_for(lambda: job.trial().state == "running")
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_SECONDS) == 0

    assert job.trial().state == "pending"
    assert storage.attempts.unfinished(job.id) == []


def test_a_trial_whose_worker_was_killed_comes_to_the_same_elsewhere(
    distributed: tuple[Storage, tuple[str, str]], redis_url: str, trace: Path
) -> None:
    storage, urls = distributed
    job = start_job(storage, trace)
    app = make_app(redis_url)
    send(app, EVALUATE, job.open(1))

    with worker_process(urls, redis_url, WITHOUT_END) as process:
        wait_for(lambda: job.trial(1).state == "running")
        process.kill()
    storage.attempts.expire(job.id, job.token, 0.0)
    again = job.open(1)
    with worker_process(urls, redis_url):
        send(app, EVALUATE, again)
        wait_for(lambda: job.trial(1).state == "completed")

    assert again.endswith("-2")
    assert storage.jobs.get(job.id).evaluations == 1


def test_a_worker_process_ends_also_while_its_broker_is_away(tmp_path: Path) -> None:
    urls = (f"sqlite:///{tmp_path}/hamtune.db", str(tmp_path / "artifacts"))
    with worker_process(urls, "redis://127.0.0.1:1/0") as process:
        assert process.stderr is not None
        assert any(b"cannot be reached" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_SECONDS) == 0


class Line:
    """A line to a server, on which nothing passes any more, with no word of that, once `silent`."""

    def __init__(self, port: int) -> None:
        self.silent = threading.Event()
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self._listener.accept()
            far = socket.create_connection(("127.0.0.1", self._server))
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        while data := source.recv(65536):
            if not self.silent.is_set():
                target.sendall(data)
        if not self.silent.is_set():
            target.close()


def test_a_worker_process_ends_also_when_its_broker_has_gone_without_a_word(
    redis_url: str, tmp_path: Path
) -> None:
    server = urlsplit(redis_url)
    assert server.port is not None
    line = Line(server.port)
    urls = (f"sqlite:///{tmp_path}/hamtune.db", str(tmp_path / "artifacts"))
    silenced = urlunsplit(server._replace(netloc=f"127.0.0.1:{line.port}"))
    with worker_process(urls, silenced, IMPATIENT) as process:
        with Redis.from_url(redis_url) as redis:
            wait_for(lambda: "brpop" in {client["cmd"] for client in redis.client_list()})
        line.silent.set()
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_SECONDS) == 0


def test_a_pool_stops_promptly_and_hands_back_what_is_under_way(
    storage: Storage, run_job: RunJob, long_trace: Path
) -> None:
    job = run_job(long_trace)
    app = make_app("memory://")
    pool = EmbeddedPool(app, 1, storage=storage)
    pool.start()
    send(app, EVALUATE, job.open(1))
    send(app, EVALUATE, job.open(2, topology="torus-3d"))
    wait_for(lambda: job.trial().state == "running")

    pool.stop()

    assert [job.trial(number).state for number in (1, 2)] == ["pending", "pending"]
    assert not [thread for thread in threading.enumerate() if thread.name == "workers"]


def test_a_pool_that_may_take_its_time_finishes_what_is_under_way(
    storage: Storage, run_job: RunJob, trace: Path
) -> None:
    job = run_job(trace)
    app = make_app("memory://")
    pool = EmbeddedPool(app, 1, storage=storage)
    pool.start()
    send(app, EVALUATE, job.open())
    wait_for(lambda: job.trial().state != "pending")

    pool.stop(grace_seconds=60.0)

    assert job.trial().state == "completed"


@pytest.mark.parametrize("grace_seconds", [0.0, 600.0])
def test_a_pool_that_stops_kills_a_capture_and_leaves_its_job_to_be_prepared_later(
    storage: Storage, tmp_path: Path, grace_seconds: float
) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "main.c").write_text("")
    application = {"source": str(folder), "build": "sleep 900", "run": "main", "ranks": 4}
    document = job_document(Path("unused"), application=application)
    document["search"]["collectives"] = {"barrier": "all"}
    spec = load_job(document)
    job = storage.jobs.create(name=spec.name, spec=spec.canonical(), seed=spec.seed)
    storage.jobs.transition(job.id, "preparing")
    app = make_app("memory://")
    pool = EmbeddedPool(app, 1, storage=storage)
    pool.start()
    send(app, PREPARE, job.id)
    wait_for(lambda: [a.state for a in storage.applications.page().items] == ["capturing"])
    assert storage.preparations.is_under_way(job.id)

    pool.stop(grace_seconds=grace_seconds)

    assert storage.jobs.get(job.id).state == "preparing"
    assert not storage.preparations.is_under_way(job.id)
    assert [a.state for a in storage.applications.page().items] == ["new"]


def test_a_pool_can_be_started_again(storage: Storage, run_job: RunJob, trace: Path) -> None:
    job = run_job(trace)
    app = make_app("memory://")
    pool = EmbeddedPool(app, 1, storage=storage)
    for number in (1, 2):
        with pool:
            send(app, EVALUATE, job.open(number, topology=("mesh-2d", "torus-3d")[number - 1]))
            wait_for(lambda number=number: job.trial(number).state == "completed")  # type: ignore[misc]


def test_two_pools_in_one_process_keep_apart(
    storage: Storage, run_job: RunJob, trace: Path, tmp_path: Path
) -> None:
    other = Storage.open(f"sqlite:///{tmp_path}/other.db", str(tmp_path / "other"))
    other.upgrade()
    job = run_job(trace)
    mine, theirs = make_app("memory://"), make_app("memory://")
    with EmbeddedPool(theirs, 2, storage=other), EmbeddedPool(mine, 1, storage=storage):
        send(mine, EVALUATE, job.open())
        wait_for(lambda: job.trial().state == "completed")
    other.close()
