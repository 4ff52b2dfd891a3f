from __future__ import annotations

import pytest

from storage.errors import LeaseLost, NotFound
from storage.records import OutlookPoint
from storage.storage import Storage
from tests.storage.test_trials import proposals

FIRST = OutlookPoint(2, 0.8, 0.05)
SECOND = OutlookPoint(3, 0.1, 0.002)


def test_what_a_search_expects_is_stored_with_its_trials(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, _ = running_job
    assert storage.outlooks.of_job(job_id) == []
    assert storage.outlooks.last([job_id]) == {}

    storage.trials.propose_several(*running_job, proposals(1, 2), [FIRST])
    storage.trials.propose_several(*running_job, proposals(3), [SECOND])

    assert storage.outlooks.of_job(job_id) == [FIRST, SECOND]
    assert storage.outlooks.last([job_id, "another"]) == {job_id: SECOND}


def test_a_search_that_is_repeated_stores_nothing_twice(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, _ = running_job
    storage.trials.propose_several(*running_job, proposals(1, 2), [FIRST])

    storage.trials.propose_several(*running_job, proposals(3), [FIRST._replace(gain=0.5), SECOND])

    assert storage.outlooks.of_job(job_id) == [FIRST, SECOND]


def test_what_is_expected_is_stored_without_a_trial_too(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, token = running_job
    storage.trials.propose_several(*running_job, proposals(1, 2), [FIRST])

    storage.outlooks.store(*running_job, [FIRST._replace(gain=0.5), SECOND])

    assert storage.outlooks.of_job(job_id) == [FIRST, SECOND]
    with pytest.raises(LeaseLost):
        storage.outlooks.store(job_id, token + 1, [SECOND])


def test_another_project_sees_none_of_it(storage: Storage, running_job: tuple[str, int]) -> None:
    job_id, _ = running_job
    storage.trials.propose_several(*running_job, proposals(1, 2), [FIRST])
    other = storage.of_project("other")

    assert other.outlooks.last([job_id]) == {}
    with pytest.raises(NotFound):
        other.outlooks.of_job(job_id)


def test_it_goes_with_its_job(storage: Storage, running_job: tuple[str, int]) -> None:
    job_id, token = running_job
    storage.trials.propose_several(*running_job, proposals(1, 2), [FIRST])
    storage.jobs.transition(job_id, "failed", token=token)

    storage.trash.delete(job_id)

    assert storage.outlooks.last([job_id]) == {}
