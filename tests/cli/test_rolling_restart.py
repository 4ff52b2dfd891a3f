"""Separate processes that come late, are replaced one by one, and refuse whom they do not fit."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import text

from deploy import servers
from storage.messages import CONTRACT
from storage.storage import Storage
from tests.cli.conftest import SECONDS, Hamtune, Running


def test_a_late_broker_and_a_rolling_restart_lose_and_double_nothing(
    hamtune: Hamtune,
    another: Callable[[], Hamtune],
    job: dict[str, Any],
    create_database: Callable[[], str],
    s3_environment: dict[str, str],
    reserve_port: Callable[[], int],
) -> None:
    embedded = another()
    expected = embedded.json("run", embedded.job_file(job))
    port = reserve_port()
    database = create_database()
    hamtune.environment = {
        "HAMTUNE_DATABASE_URL": database,
        "HAMTUNE_BROKER_URL": f"redis://:secret@127.0.0.1:{port}/0",
        "HAMTUNE_ARTIFACTS_URL": "s3://hamtune-rolling",
        "HAMTUNE_CACHE": str(hamtune.directory / "cache"),
        **s3_environment,
    }
    waiting = f"the broker redis://:***@127.0.0.1:{port}/0 cannot be reached"
    worker = ("worker", "--concurrency", "1", "--queues")
    with ExitStack() as processes:

        def start(*command: str, ready: str) -> Running:
            return processes.enter_context(hamtune.running(*command, ready=ready))

        api = start("api", "--port", "0", ready="serving http://")
        coordinator = start("coordinator", ready=waiting)
        first = start(*worker, "evaluate,prepare", ready=waiting)
        submitted = hamtune.json("submit", hamtune.job_file(job), "--server", api.url)
        processes.enter_context(servers.Redis(port))
        hamtune.environment["HAMTUNE_BROKER_URL"] = f"redis://127.0.0.1:{port}/0"

        storage = Storage.open(database, str(hamtune.directory / "unused"))
        processes.callback(storage.close)
        wait_for(storage, submitted["id"], 3)
        second = start(*worker, "evaluate", ready="waiting for work")
        end(first)
        wait_for(storage, submitted["id"], 6)
        replacement = start("coordinator", ready="waiting for jobs")
        end(coordinator)
        end(api)
        again = start("api", "--port", "0", ready="serving http://")
        ended = hamtune.json("watch", submitted["id"], "--server", again.url)
        trials = hamtune.trials(ended["id"], again.url)
        events = storage.events.after(0, job_id=ended["id"])
        for running in (second, replacement, again):
            end(running)
        assert storage.processes.living() == []

    assert ended["state"] == "completed"
    assert trials == embedded.trials(expected["job"]["id"])
    finished = Counter(
        event.data["number"]
        for event in events
        if event.kind == "trial" and event.data["state"] not in ("pending", "running")
    )
    assert set(finished.values()) == {1}


@pytest.mark.parametrize("command", [("api", "--port", "0"), ("coordinator",), ("worker",)])
def test_a_process_waits_for_its_database_until_it_is_ended(
    hamtune: Hamtune, command: tuple[str, ...], reserve_port: Callable[[], int]
) -> None:
    nowhere = reserve_port()
    hamtune.environment = {
        "HAMTUNE_DATABASE_URL": f"postgresql+psycopg://hamtune@127.0.0.1:{nowhere}/hamtune",
        "HAMTUNE_BROKER_URL": f"redis://127.0.0.1:{nowhere}/0",
    }
    with hamtune.running(*command, ready="waiting for it") as running:
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(SECONDS) == 0
    assert "the database cannot be used now" in running.said


def test_who_does_not_fit_refuses_to_serve(
    hamtune: Hamtune, create_database: Callable[[], str]
) -> None:
    database = create_database()
    storage = Storage.open(database, str(hamtune.directory / "unused"))
    storage.upgrade()
    storage.processes.register("elsewhere", "api", version="9.9", contract=CONTRACT + 1)
    with storage._database.writing() as session:  # it lives as long as the test
        session.execute(text("UPDATE processes SET heard_at = heard_at + 86400"))
    hamtune.environment = {
        "HAMTUNE_DATABASE_URL": database,
        "HAMTUNE_BROKER_URL": "redis://127.0.0.1:9/0",
    }
    for command in ("coordinator", "worker"):
        line = hamtune.refused(command, status=1)
        assert "does not fit api elsewhere (9.9)" in line
        assert f"contract {CONTRACT} and {CONTRACT + 1}" in line
    storage.close()
    assert "'all' is no queue" in hamtune.refused("worker", "--queues", "all")


def wait_for(storage: Storage, job_id: str, count: int) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        counts = storage.trials.counts([job_id])[job_id]
        if sum(counts.finished.values()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"the job did not come to {count} trials")


def end(running: Running) -> None:
    """Stop a process as a service manager does."""
    running.process.terminate()
    running.process.communicate(timeout=SECONDS)
    assert running.process.returncode == 0
