"""Jobs that are deleted for good while they are shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.jobs.forecast import forecasts
from service.jobs.outlook import outlook_view
from service.jobs.schemas import JobView
from service.runtime import Runtime
from storage.errors import NotFound
from storage.project_storage import ProjectStorage
from storage.records import DEFAULT_PROJECT, Outcome, OutlookPoint
from storage.storage import Storage


@pytest.fixture
def share(storage: Storage) -> ProjectStorage:
    """What a client of the default project may see."""
    return storage.of_project(DEFAULT_PROJECT)


def delete(storage: Storage, job_id: str) -> None:
    """Delete a job for good, whatever its state."""
    state = storage.jobs.get(job_id).state
    if state == "running":
        storage.jobs.transition(job_id, "cancelling")
    storage.jobs.transition(job_id, "cancelled")
    storage.trash.delete(job_id)


def test_a_list_leaves_out_what_is_gone(
    runtime: Runtime, storage: Storage, share: ProjectStorage, create_job: Callable[..., str]
) -> None:
    first, gone, last = create_job(), create_job(), create_job()
    page = share.jobs.page()
    delete(storage, gone)
    views = JobView.of_all(page.items, share, runtime.settings)
    assert [view.id for view in views] == [last, first]


def test_a_single_one_that_is_gone_is_not_found(
    runtime: Runtime, storage: Storage, share: ProjectStorage, create_job: Callable[..., str]
) -> None:
    job = share.jobs.get(create_job())
    delete(storage, job.id)
    with pytest.raises(NotFound, match=f"there is no job {job.id}"):
        JobView.of(job, share, runtime.settings)


def test_nothing_is_expected_of_what_is_gone(
    runtime: Runtime,
    storage: Storage,
    share: ProjectStorage,
    create_job: Callable[..., str],
    add_trials: Callable[..., None],
) -> None:
    gone = create_job()
    add_trials(gone, Outcome(status="completed", value=1.0))
    assert storage.leases.acquire("me", 600.0, gone) is not None
    job = share.jobs.get(gone)
    counts = share.trials.counts([gone])
    delete(storage, gone)
    expected = forecasts([job], counts, share, runtime.settings)
    assert expected[gone].estimated_end is None


def test_there_is_no_outlook_for_what_is_gone(
    storage: Storage,
    share: ProjectStorage,
    create_job: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = create_job()
    of_job = share.outlooks.of_job

    def deleted_then(job_id: str) -> list[OutlookPoint]:
        points = of_job(job_id)
        delete(storage, job_id)
        return points

    monkeypatch.setattr(share.outlooks, "of_job", deleted_then)
    with pytest.raises(NotFound, match=f"there is no job {gone}"):
        outlook_view(share, gone)
