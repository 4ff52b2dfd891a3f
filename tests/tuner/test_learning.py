"""A job that learns from another: the same trials with any number of workers, and after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.records import Job
from storage.storage import Storage
from tests.tuner.analytic import SPEC, Evaluators, create_job, open_storage
from tests.tuner.driving import drive

ROOT = Path(__file__).resolve().parents[2]
SECOND: dict[str, Any] = {
    "name": "second",
    "machine": {**SPEC["machine"], "degree": 5},
    "seed": 5,
}


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


def finish(storage: Storage, job: Job, workers: int = 2) -> Job:
    with Evaluators(storage, workers, delay=0.02) as evaluators:
        return drive(storage, job, evaluators.dispatch)


def essence(storage: Storage, job: Job) -> list[tuple[Any, ...]]:
    return [
        (t.number, t.kind, t.configuration_sha256, t.cutoff, t.state, t.value)
        for t in storage.trials.of_job(job.id)
    ]


def learned(job: Job) -> list[dict[str, Any]]:
    assert job.space is not None
    return list(job.space["learned_from"])


def test_workers_of_any_number_lead_to_the_same_trials_and_weights(storage: Storage) -> None:
    first = finish(storage, create_job(storage))
    wish = {**SECOND, "learn_from": [first.id]}
    one = finish(storage, create_job(storage, **wish), workers=1)
    four = finish(storage, create_job(storage, **wish), workers=4)
    assert one.state == four.state == "completed"
    assert essence(storage, one) == essence(storage, four)
    assert learned(one) == learned(four)
    (source,) = learned(one)
    assert (source["job"], source["name"]) == (first.id, first.name)
    # Each choice adds the same seconds on this machine; with a seed in ten that is not found.
    assert source["weight"] > 0
    alone = finish(storage, create_job(storage, **SECOND))
    assert essence(storage, alone) != essence(storage, one)
    assert "learned_from" not in (alone.space or {})


def test_a_job_goes_on_after_a_kill_though_what_it_learned_from_was_deleted(
    storage: Storage, tmp_path: Path
) -> None:
    first = finish(storage, create_job(storage))
    wish = {**SECOND, "learn_from": [first.id]}
    undisturbed = finish(storage, create_job(storage, **wish))
    job = create_job(storage, **wish)
    process = subprocess.Popen(
        [*(sys.executable, "-m", "tests.tuner.analytic"), *(str(tmp_path), job.id, "2", "15")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    while storage.jobs.get(job.id).evaluations < 15:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    storage.trash.delete(first.id)
    while (held := storage.leases.acquire("look", 600.0, job.id)) is None:
        time.sleep(0.05)
    storage.leases.release(job.id, held.lease_token)
    ended = finish(storage, job)
    assert ended.state == "completed"
    assert essence(storage, ended) == essence(storage, undisturbed)
