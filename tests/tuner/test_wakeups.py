"""What wakes a coordinator, and what it hears of the wishes of users."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.storage import Storage
from tests.tuner.analytic import create_job, open_storage
from tuner.wakeups import job_wakeup


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


def test_a_change_of_the_job_is_heard_of_once_and_at_once(storage: Storage) -> None:
    job = create_job(storage)
    with job_wakeup(storage, job.id, embedded=True) as wakeup:
        assert not wakeup.has_job_changed()
        storage.jobs.transition(job.id, "cancelling")
        assert wakeup.has_job_changed()
        assert not wakeup.has_job_changed()


def test_changes_of_other_jobs_are_not_heard_of(storage: Storage) -> None:
    job, other = create_job(storage), create_job(storage)
    with job_wakeup(storage, job.id, embedded=True) as wakeup:
        storage.jobs.transition(other.id, "cancelling")
        assert not wakeup.has_job_changed()
