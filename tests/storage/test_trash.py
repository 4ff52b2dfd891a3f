"""Deleted jobs: hidden from everything, restored as they were, and gone once their time is over."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from storage.errors import Conflict, LeaseLost, NotFound, QuotaExceeded
from storage.project_storage import ProjectStorage
from storage.records import Outcome, Quotas, Trial
from storage.storage import Storage

MONTH = 30 * 86400.0


@pytest.fixture
def paused(
    storage: Storage, running_job: tuple[str, int], propose: Callable[..., Trial]
) -> tuple[str, int]:
    """A paused job with a completed trial and one that is open, and the token of its last lease."""
    job_id, token = running_job
    storage.settle_trial(propose(1).id, token, Outcome(status="completed", value=1.0))
    storage.open_attempt(propose(2).id, token)
    storage.transition(job_id, "pausing")
    storage.transition(job_id, "paused", token=token)
    return job_id, token


def test_a_deleted_job_is_hidden_and_says_how_to_get_it_back(
    storage: Storage, paused: tuple[str, int]
) -> None:
    job_id, _ = paused
    before = storage.statistics()
    gone = storage.trash_job(job_id, MONTH)
    assert gone.deleted_at is not None
    assert gone.restorable_until == gone.deleted_at + MONTH

    found = rf"job {job_id} \('cg-64'\) was deleted; 'hamtune restore {job_id}' brings it back"
    for look in (storage.get_job, storage.check_job):
        with pytest.raises(NotFound, match=found):
            look(job_id)
    with pytest.raises(NotFound, match=found):
        storage.transition(job_id, "queued")
    with pytest.raises(NotFound, match=found):
        storage.trash_job(job_id, MONTH)
    with pytest.raises(NotFound, match=found):
        storage.add_measurement(job_id, {})
    assert storage.list_jobs().items == []
    assert storage.list_jobs(name="cg-64", search="cg").items == []
    assert storage.list_jobs(deleted="only").items == [gone]
    assert before.jobs == {"paused": 1}
    assert storage.statistics().jobs == {}
    assert storage.statistics().trials == {}
    assert storage.project_use("default").jobs == 0


def test_what_stands_in_a_name_does_not_leave_its_line(storage: Storage) -> None:
    job = storage.create_job(name="a\nb", spec={}, seed=1)
    storage.transition(job.id, "cancelled")
    storage.trash_job(job.id, MONTH)
    with pytest.raises(NotFound) as caught:
        storage.get_job(job.id)
    assert len(str(caught.value).splitlines()) == 1


def test_workers_and_coordinators_leave_a_deleted_job_alone(
    storage: Storage, paused: tuple[str, int]
) -> None:
    job_id, token = paused
    (attempt,) = storage.open_attempts(job_id)
    assert storage.begin_attempt(attempt.id, "worker") is not None
    storage.trash_job(job_id, MONTH)
    assert storage.glance(job_id) is None
    assert storage.acquire_lease("coordinator", 60.0, job_id) is None
    assert storage.acquire_lease("coordinator", 60.0) is None
    with pytest.raises(LeaseLost):
        storage.renew_lease(job_id, token, 60.0)
    assert not storage.heartbeat(attempt.id)
    assert not storage.finish_attempt(attempt.id, Outcome(status="completed", value=0.5))
    assert storage.take_attempts(attempt.id, "worker", 1) == []
    assert not storage.claim_preparation(job_id, "worker")

    restored = storage.restore_job(job_id)
    assert (restored.best_value, restored.cpu_seconds) == (1.0, 0.0)


def test_a_message_that_comes_late_finds_nothing_to_take(
    storage: Storage, paused: tuple[str, int]
) -> None:
    job_id, _ = paused
    (attempt,) = storage.open_attempts(job_id)
    storage.trash_job(job_id, MONTH)
    assert storage.take_attempts(attempt.id, "worker", 1) == []
    storage.restore_job(job_id)
    assert [one.trial.number for one in storage.take_attempts(attempt.id, "worker", 1)] == [2]


def test_a_preparation_is_not_gone_on_with(storage: Storage) -> None:
    job = storage.create_job(name="j", spec={}, seed=1)
    assert storage.claim_preparation(job.id, "worker")
    storage.transition(job.id, "paused")
    storage.trash_job(job.id, MONTH)
    assert not storage.beat_preparation(job.id, "worker")
    assert not storage.claim_preparation(job.id, "another")
    with pytest.raises(NotFound, match="was deleted"):
        storage.set_job_prepared(job.id, application_id="a", space={})


def test_a_restored_job_is_as_it_was(storage: Storage, paused: tuple[str, int]) -> None:
    job_id, _ = paused
    before = storage.describe_job(job_id, archived=True, note="With the new cables.")
    trials, events = storage.list_trials(job_id), storage.events_after(0, job_id=job_id)
    storage.trash_job(job_id, MONTH)
    last = storage.events_after(events[-1].id, job_id=job_id)
    assert [one.data for one in last] == [{"state": "deleted", "previous": "paused"}]

    assert storage.restore_job(job_id) == before == storage.get_job(job_id)
    assert storage.restore_job(job_id) == before  # asking twice is as good as once
    assert storage.list_trials(job_id) == trials
    *known, restored = storage.events_after(0, job_id=job_id)
    assert known == events
    assert restored.data["previous"] == "deleted"
    assert storage.list_jobs(deleted="only").items == []

    assert storage.transition(job_id, "queued").state == "queued"
    assert storage.acquire_lease("coordinator", 60.0, job_id) is not None


def test_one_in_the_trash_can_be_deleted_for_good(
    storage: Storage, paused: tuple[str, int]
) -> None:
    job_id, _ = paused
    storage.trash_job(job_id, MONTH)
    storage.delete_job(job_id)
    for call in (storage.delete_job, storage.restore_job, storage.get_job):
        with pytest.raises(NotFound, match=f"there is no job {job_id}$"):
            call(job_id)
    assert storage.list_trials(job_id) == []
    assert len(storage.events_after(0, job_id=job_id)) == 1


def test_a_job_at_work_is_not_deleted(storage: Storage, running_job: tuple[str, int]) -> None:
    with pytest.raises(Conflict, match="is running; cancel it before deleting it"):
        storage.trash_job(running_job[0], MONTH)


def test_each_goes_when_its_own_time_is_over(storage: Storage) -> None:
    jobs = [storage.create_job(name=f"j{number}", spec={}, seed=1) for number in range(3)]
    for job in jobs:
        storage.transition(job.id, "cancelled")
    soon = storage.trash_job(jobs[0].id, 10.0).restorable_until
    later = storage.trash_job(jobs[1].id, MONTH).restorable_until
    assert soon is not None
    assert later is not None
    assert storage.lapsed_jobs(soon - 1.0) == []
    assert storage.lapsed_jobs(soon) == [jobs[0].id]
    assert storage.delete_lapsed_jobs(soon) == 1
    with pytest.raises(NotFound, match="there is no job"):
        storage.restore_job(jobs[0].id)
    # Who expires ended jobs keeps the promise that was made to whoever deleted one.
    assert storage.expired_jobs(later) == [jobs[2].id]
    assert storage.expire(jobs=later, evaluations=None) == (1, 0)
    assert storage.restore_job(jobs[1].id).state == "cancelled"
    assert storage.delete_lapsed_jobs(later) == 0


def test_its_artifacts_stay_with_it(storage: Storage) -> None:
    digest = storage.put_artifact(b"a truncated trace")
    application = storage.add_application(
        name="a",
        kind="trace",
        key="k",
        trace_sha256=storage.put_artifact(b"t"),
        ranks=2,
        summary={},
    )
    job = storage.create_job(name="j", spec={}, seed=1)
    space = {"fidelity": {"trace_sha256": digest}}
    storage.set_job_prepared(job.id, application_id=application.id, space=space)
    storage.transition(job.id, "cancelled")
    until = storage.trash_job(job.id, MONTH).restorable_until
    assert until is not None
    assert storage.unreferenced_artifacts() == []
    storage.delete_lapsed_jobs(until)
    assert storage.unreferenced_artifacts() == [digest]


def test_an_idempotency_key_makes_no_second_job(storage: Storage) -> None:
    job = storage.create_job(name="j", spec={}, seed=1, idempotency_key="k")
    storage.transition(job.id, "cancelled")
    storage.trash_job(job.id, MONTH)
    with pytest.raises(Conflict, match=f"job {job.id}, which was deleted; restore that job, or"):
        storage.create_job(name="j", spec={}, seed=1, idempotency_key="k")
    storage.restore_job(job.id)
    assert storage.create_job(name="j", spec={}, seed=1, idempotency_key="k").id == job.id


def test_an_unfinished_one_comes_back_where_there_is_room(storage: Storage) -> None:
    storage.add_project("ours")
    ours = ProjectStorage.of(storage, "ours")
    storage.set_project("ours", weight=1.0, priority="normal", quotas=Quotas(jobs=1))
    job = ours.create_job(name="j", spec={}, seed=1)
    ours.transition(job.id, "paused")
    ours.trash_job(job.id, MONTH)
    other = ours.create_job(name="j", spec={}, seed=1)  # the deleted one does not count
    with pytest.raises(QuotaExceeded, match="1 of the 1 jobs that it may have unfinished"):
        ours.restore_job(job.id)
    ours.transition(other.id, "cancelled")
    assert ours.restore_job(job.id).state == "paused"


def test_a_project_has_a_trash_of_its_own(storage: Storage) -> None:
    for name in ("ours", "theirs"):
        storage.add_project(name)
    ours, theirs = (ProjectStorage.of(storage, name) for name in ("ours", "theirs"))
    job = ours.create_job(name="secret", spec={}, seed=1)
    ours.transition(job.id, "cancelled")
    for call in (lambda: theirs.trash_job(job.id, MONTH), lambda: theirs.delete_job(job.id)):
        with pytest.raises(NotFound, match="there is no job"):
            call()
    ours.trash_job(job.id, MONTH)
    assert theirs.list_jobs(deleted="only").items == []
    asked: tuple[Callable[[str], object], ...] = (
        theirs.get_job, theirs.check_job, theirs.restore_job, theirs.delete_job, theirs.best_trial,
        lambda job_id: theirs.add_subscription(
            kind="webhook", target="https://example.org", secret=None, events=["completed"],
            pause_seconds=60.0, owner="t", job_id=job_id,
        ),
    )  # fmt: skip
    for ask in asked:
        with pytest.raises(NotFound, match=f"there is no job {job.id}$"):
            ask(job.id)
    with pytest.raises(NotFound, match="was deleted"):
        ours.best_trial(job.id)
    assert ours.events_after(0, job_id=job.id) == []
    assert ours.restore_job(job.id).name == "secret"


def test_its_subscriptions_wait(storage: Storage) -> None:
    job = storage.create_job(name="j", spec={}, seed=1)
    of_job = storage.add_subscription(
        kind="webhook", target="https://example.org/hook", secret=None, events=["cancelled"],
        pause_seconds=60.0, owner="key:a", job_id=job.id,
    )  # fmt: skip
    storage.transition(job.id, "cancelled")
    assert storage.count_waiting_deliveries() == 1
    storage.trash_job(job.id, MONTH)
    assert storage.list_subscriptions().items == []
    with pytest.raises(NotFound):
        storage.get_subscription(of_job.id)
    assert storage.claim_deliveries("sender", 60.0, 10) == []
    assert storage.count_waiting_deliveries() == 0
    storage.restore_job(job.id)
    assert storage.list_subscriptions().items == [of_job]
    (due,) = storage.claim_deliveries("sender", 60.0, 10)
    assert due.message["job"]["id"] == job.id


def test_a_job_that_was_restored_and_deleted_again_has_its_time_anew(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = storage.create_job(name="j", spec={}, seed=1).id
    storage.transition(job, "cancelled")
    storage.trash_job(job, 0.0)
    [lapsed] = storage.lapsed_jobs(time.time() + 1.0)
    storage.restore_job(job)
    storage.trash_job(job, 3600.0)
    monkeypatch.setattr(storage, "lapsed_jobs", lambda now: [lapsed])
    assert storage.delete_lapsed_jobs(time.time() + 1.0) == 0
    assert storage.restore_job(job).id == job
