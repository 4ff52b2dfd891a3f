"""The trash is emptied by the service, by a clock that is handed in."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from service.runtime import Runtime
from service.settings import Settings
from service.trash.emptying import empty, emptying
from storage.database import Database
from storage.errors import NotFound
from storage.storage import Storage
from tests.service.live import started


def deleted_job(storage: Storage, keep_seconds: float) -> tuple[str, float]:
    """A deleted job, and when it goes."""
    job = storage.jobs.create(name="j", spec={}, seed=1)
    storage.jobs.transition(job.id, "cancelled")
    until = storage.trash.put(job.id, keep_seconds).restorable_until
    assert until is not None
    return job.id, until


def test_what_can_be_restored_stays(storage: Storage) -> None:
    job_id, until = deleted_job(storage, 86400.0)
    assert empty(storage, until - 1.0) == 0
    assert [job.id for job in storage.jobs.page(deleted="only").items] == [job_id]
    assert empty(storage, until) == 1
    assert storage.jobs.page(deleted="only").items == []
    assert empty(storage, until) == 0


def test_a_thread_does_so_at_once(storage: Storage) -> None:
    job_id, until = deleted_job(storage, 86400.0)
    looked = threading.Event()

    def clock() -> float:
        looked.set()
        return until

    with emptying(storage, clock):
        assert looked.wait(60.0)
    with pytest.raises(NotFound, match=f"there is no job {job_id}"):
        storage.trash.restore(job_id)


def test_a_host_whose_clock_is_ahead_of_the_databases_empties_nothing(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same clock says until when a job can be restored, and when that is over."""
    now = Database.now
    monkeypatch.setattr(Database, "now", lambda *which: now(*which) - 2 * 86400.0)
    job_id, _ = deleted_job(storage, 86400.0)
    looked, look = threading.Event(), storage.retention.delete_lapsed_jobs

    def delete(now: float) -> int:
        gone = look(now)
        looked.set()
        return gone

    monkeypatch.setattr(storage.retention, "delete_lapsed_jobs", delete)
    with emptying(storage):
        assert looked.wait(60.0)
    assert storage.trash.restore(job_id).id == job_id


def test_a_service_that_runs_jobs_empties_it(tmp_path: Path) -> None:
    settings = Settings.under(tmp_path / "data")
    with Runtime(settings, run=False) as runtime:
        job_id, _ = deleted_job(runtime.storage, -1.0)
        kept, _ = deleted_job(runtime.storage, 86400.0)
        with started(settings.data, run=True):
            while runtime.storage.retention.lapsed_jobs(float("inf")) != [kept]:
                threading.Event().wait(0.05)
        with pytest.raises(NotFound, match=f"there is no job {job_id}"):
            runtime.storage.trash.restore(job_id)
