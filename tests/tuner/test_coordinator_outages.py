"""A database that fails in ways that nobody has thought of, or only reads for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from storage.records import Job
from storage.storage import Storage
from tests.tuner.analytic import Evaluators, Gate, create_job
from tests.tuner.driving import LEASE_SECONDS, wait_until
from tuner.coordinator import Coordinator


class Standby:
    """A database of its own in a PostgreSQL server, which can be made to only read."""

    def __init__(self, url: str, directory: Path) -> None:
        self._url = make_url(url)
        self.storage = Storage.open(url, str(directory / "artifacts"))
        self.storage.upgrade()

    def only_reads(self, state: str) -> None:
        """Have it only read (`on`) or write as well (`off`), from the next connection on."""
        address = self._url
        conninfo = (
            f"host={address.host} port={address.port} user={address.username} dbname=postgres"
        )
        with psycopg.connect(conninfo, autocommit=True) as connection:
            change = (
                f"ALTER DATABASE {address.database} SET default_transaction_read_only = {state}"
            )
            connection.execute(change.encode())
        self.storage._database.engine.dispose()


@pytest.fixture
def standby(create_database: Callable[[], str], tmp_path: Path) -> Iterator[Standby]:
    made = Standby(create_database(), tmp_path)
    yield made
    made.storage.close()


class Looks:
    """Counts the looks for jobs; some of them fail."""

    def __init__(self, storage: Storage, failing: Callable[[int], bool]) -> None:
        self._acquire = storage.leases.acquire
        self._failing = failing
        self.made = 0
        storage.leases.acquire = self  # type: ignore[method-assign]

    def __call__(self, *given: Any, **more: Any) -> Job | None:
        self.made += 1
        if self._failing(self.made):
            raise RuntimeError("nobody has thought of this")
        return self._acquire(*given, **more)


def serve(coordinator: Coordinator) -> tuple[threading.Thread, threading.Event]:
    stop = threading.Event()
    serving = threading.Thread(target=coordinator.serve, args=(stop,))
    serving.start()
    return serving, stop


def test_a_coordinator_waits_for_a_database_that_only_reads(standby: Standby) -> None:
    storage = standby.storage
    job = create_job(storage, budget={"trials": 4}, batch=2)
    standby.only_reads("on")
    looks = Looks(storage, lambda _: False)
    with Evaluators(storage, 2) as evaluators:
        serving, stop = serve(Coordinator(storage, evaluators.dispatch, "test", embedded=True))
        wait_until(lambda: looks.made > 2 or not serving.is_alive())
        standby.only_reads("off")
        wait_until(lambda: storage.jobs.get(job.id).state == "completed" or not serving.is_alive())
        stop.set()
        serving.join()
    assert storage.jobs.get(job.id).state == "completed"


def test_a_job_is_left_resumable_where_the_database_only_reads(standby: Standby) -> None:
    storage = standby.storage
    job = create_job(storage)
    leased = storage.leases.acquire("test", LEASE_SECONDS, job.id)
    assert leased is not None
    standby.only_reads("on")
    with Evaluators(storage, 0) as evaluators:
        Coordinator(storage, evaluators.dispatch, "test").run_job(leased)
    left = storage.jobs.get(job.id)
    assert (left.state, left.error) == ("queued", None)


def test_a_look_for_jobs_that_fails_is_not_the_last_one(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tuner.coordinator._AGAIN_SECONDS", 0.0, raising=False)
    job = create_job(storage, budget={"trials": 4}, batch=2)
    Looks(storage, lambda number: number < 3)
    with Evaluators(storage, 2) as evaluators:
        serving, stop = serve(Coordinator(storage, evaluators.dispatch, "test", embedded=True))
        wait_until(lambda: storage.jobs.get(job.id).state == "completed" or not serving.is_alive())
        stop.set()
        serving.join()
    assert storage.jobs.get(job.id).state == "completed"
    assert "nobody has thought of this" in caplog.text


def test_a_coordinator_that_is_interrupted_ends_its_work_on_jobs_first(storage: Storage) -> None:
    job = create_job(storage)
    gate = Gate(5)

    def interrupted(*given: Any, **more: Any) -> Job | None:
        if storage.jobs.get(job.id).evaluations >= gate.passes:
            raise KeyboardInterrupt
        return acquire(*given, **more)

    acquire = storage.leases.acquire
    storage.leases.acquire = interrupted  # type: ignore[method-assign]
    with Evaluators(storage, 2, gate) as evaluators:
        with pytest.raises(KeyboardInterrupt):
            Coordinator(storage, evaluators.dispatch, "test", embedded=True).serve(
                threading.Event()
            )
        left = [one for one in threading.enumerate() if one.name == f"job-{job.id}"]
        gate.open()
        for one in left:  # of a coordinator that did not see to its end
            one.join()
    assert left == []
    assert storage.jobs.get(job.id).lease_owner is None
