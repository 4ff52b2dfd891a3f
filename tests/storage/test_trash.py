"""Deleted jobs: hidden from everything, restored as they were, and gone once their time is over."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from storage.errors import Conflict, LeaseLost, NotFound, QuotaExceeded
from storage.records import Outcome, Quotas, Trial
from storage.storage import Storage

MONTH = 30 * 86400.0


@pytest.fixture
def paused(
    storage: Storage, running_job: tuple[str, int], propose: Callable[..., Trial]
) -> tuple[str, int]:
    """A paused job with a completed trial and one that is open, and the token of its last lease."""
    job_id, token = running_job
    storage.trials.settle(propose(1).id, token, Outcome(status="completed", value=1.0))
    storage.attempts.open(propose(2).id, token)
    storage.jobs.transition(job_id, "pausing")
    storage.jobs.transition(job_id, "paused", token=token)
    return job_id, token


def test_a_deleted_job_is_hidden_and_says_how_to_get_it_back(
    storage: Storage, paused: tuple[str, int]
) -> None:
    job_id, _ = paused
    before = storage.statistics.current()
    gone = storage.trash.put(job_id, MONTH)
    assert gone.deleted_at is not None
    assert gone.restorable_until == gone.deleted_at + MONTH

    found = rf"job {job_id} \('cg-64'\) was deleted; 'hamtune restore {job_id}' brings it back"
    for look in (storage.jobs.get, storage.jobs.check):
        with pytest.raises(NotFound, match=found):
            look(job_id)
    with pytest.raises(NotFound, match=found):
        storage.jobs.transition(job_id, "queued")
    with pytest.raises(NotFound, match=found):
        storage.trash.put(job_id, MONTH)
    with pytest.raises(NotFound, match=found):
        storage.measurements.add(job_id, {})
    assert storage.jobs.page().items == []
    assert storage.jobs.page(name="cg-64", search="cg").items == []
    assert storage.jobs.page(deleted="only").items == [gone]
    assert before.jobs == {"paused": 1}
    assert storage.statistics.current().jobs == {}
    assert storage.statistics.current().trials == {}
    assert storage.projects.use("default").jobs == 0


def test_what_stands_in_a_name_does_not_leave_its_line(storage: Storage) -> None:
    job = storage.jobs.create(name="a\nb", spec={}, seed=1)
    storage.jobs.transition(job.id, "cancelled")
    storage.trash.put(job.id, MONTH)
    with pytest.raises(NotFound) as caught:
        storage.jobs.get(job.id)
    assert len(str(caught.value).splitlines()) == 1


def test_workers_and_coordinators_leave_a_deleted_job_alone(
    storage: Storage, paused: tuple[str, int]
) -> None:
    job_id, token = paused
    (attempt,) = storage.attempts.unfinished(job_id)
    assert storage.attempts.begin(attempt.id, "worker") is not None
    storage.trash.put(job_id, MONTH)
    assert storage.jobs.glance(job_id) is None
    assert storage.leases.acquire("coordinator", 60.0, job_id) is None
    assert storage.leases.acquire("coordinator", 60.0) is None
    with pytest.raises(LeaseLost):
        storage.leases.renew(job_id, token, 60.0)
    assert not storage.attempts.heartbeat(attempt.id)
    assert not storage.attempts.finish(attempt.id, Outcome(status="completed", value=0.5))
    assert storage.attempts.take_several(attempt.id, "worker", 1) == []
    assert not storage.preparations.claim(job_id, "worker")

    restored = storage.trash.restore(job_id)
    assert (restored.best_value, restored.cpu_seconds) == (1.0, 0.0)


def test_a_message_that_comes_late_finds_nothing_to_take(
    storage: Storage, paused: tuple[str, int]
) -> None:
    job_id, _ = paused
    (attempt,) = storage.attempts.unfinished(job_id)
    storage.trash.put(job_id, MONTH)
    assert storage.attempts.take_several(attempt.id, "worker", 1) == []
    storage.trash.restore(job_id)
    assert [one.trial.number for one in storage.attempts.take_several(attempt.id, "worker", 1)] == [
        2
    ]


def test_a_preparation_is_not_gone_on_with(storage: Storage) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1)
    assert storage.preparations.claim(job.id, "worker")
    storage.jobs.transition(job.id, "paused")
    storage.trash.put(job.id, MONTH)
    assert not storage.preparations.beat(job.id, "worker")
    assert not storage.preparations.claim(job.id, "another")
    with pytest.raises(NotFound, match="was deleted"):
        storage.jobs.set_prepared(job.id, application_id="a", space={})


def test_a_restored_job_is_as_it_was(storage: Storage, paused: tuple[str, int]) -> None:
    job_id, _ = paused
    before = storage.jobs.describe(job_id, archived=True, note="With the new cables.")
    trials, events = storage.trials.of_job(job_id), storage.events.after(0, job_id=job_id)
    storage.trash.put(job_id, MONTH)
    last = storage.events.after(events[-1].id, job_id=job_id)
    assert [one.data for one in last] == [{"state": "deleted", "previous": "paused"}]

    assert storage.trash.restore(job_id) == before == storage.jobs.get(job_id)
    assert storage.trash.restore(job_id) == before  # asking twice is as good as once
    assert storage.trials.of_job(job_id) == trials
    *known, restored = storage.events.after(0, job_id=job_id)
    assert known == events
    assert restored.data["previous"] == "deleted"
    assert storage.jobs.page(deleted="only").items == []

    assert storage.jobs.transition(job_id, "queued").state == "queued"
    assert storage.leases.acquire("coordinator", 60.0, job_id) is not None


def test_one_in_the_trash_can_be_deleted_for_good(
    storage: Storage, paused: tuple[str, int]
) -> None:
    job_id, _ = paused
    storage.trash.put(job_id, MONTH)
    storage.trash.delete(job_id)
    for call in (storage.trash.delete, storage.trash.restore, storage.jobs.get):
        with pytest.raises(NotFound, match=f"there is no job {job_id}$"):
            call(job_id)
    assert storage.trials.of_job(job_id) == []
    assert len(storage.events.after(0, job_id=job_id)) == 1


def test_a_job_at_work_is_not_deleted(storage: Storage, running_job: tuple[str, int]) -> None:
    with pytest.raises(Conflict, match="is running; cancel it before deleting it"):
        storage.trash.put(running_job[0], MONTH)


def test_each_goes_when_its_own_time_is_over(storage: Storage) -> None:
    jobs = [storage.jobs.create(name=f"j{number}", spec={}, seed=1) for number in range(3)]
    for job in jobs:
        storage.jobs.transition(job.id, "cancelled")
    soon = storage.trash.put(jobs[0].id, 10.0).restorable_until
    later = storage.trash.put(jobs[1].id, MONTH).restorable_until
    assert soon is not None
    assert later is not None
    assert storage.retention.lapsed_jobs(soon - 1.0) == []
    assert storage.retention.lapsed_jobs(soon) == [jobs[0].id]
    assert storage.retention.delete_lapsed_jobs(soon) == 1
    with pytest.raises(NotFound, match="there is no job"):
        storage.trash.restore(jobs[0].id)
    # Who expires ended jobs keeps the promise that was made to whoever deleted one.
    assert storage.retention.expired_jobs(later) == [jobs[2].id]
    assert storage.retention.expire(jobs=later, evaluations=None) == (1, 0)
    assert storage.trash.restore(jobs[1].id).state == "cancelled"
    assert storage.retention.delete_lapsed_jobs(later) == 0


def test_its_artifacts_stay_with_it(storage: Storage) -> None:
    digest = storage.artifacts.put(b"a truncated trace")
    application = storage.applications.add(
        name="a",
        kind="trace",
        key="k",
        trace_sha256=storage.artifacts.put(b"t"),
        ranks=2,
        summary={},
    )
    job = storage.jobs.create(name="j", spec={}, seed=1)
    space = {"fidelity": {"trace_sha256": digest}}
    storage.jobs.set_prepared(job.id, application_id=application.id, space=space)
    storage.jobs.transition(job.id, "cancelled")
    until = storage.trash.put(job.id, MONTH).restorable_until
    assert until is not None
    assert storage.retention.unreferenced_artifacts() == []
    storage.retention.delete_lapsed_jobs(until)
    assert storage.retention.unreferenced_artifacts() == [digest]


def test_an_idempotency_key_makes_no_second_job(storage: Storage) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1, idempotency_key="k")
    storage.jobs.transition(job.id, "cancelled")
    storage.trash.put(job.id, MONTH)
    with pytest.raises(Conflict, match=f"job {job.id}, which was deleted; restore that job, or"):
        storage.jobs.create(name="j", spec={}, seed=1, idempotency_key="k")
    storage.trash.restore(job.id)
    assert storage.jobs.create(name="j", spec={}, seed=1, idempotency_key="k").id == job.id


def test_an_unfinished_one_comes_back_where_there_is_room(storage: Storage) -> None:
    storage.projects.add("ours")
    ours = storage.of_project("ours")
    storage.projects.change("ours", weight=1.0, priority="normal", quotas=Quotas(jobs=1))
    job = ours.jobs.create(name="j", spec={}, seed=1)
    ours.jobs.transition(job.id, "paused")
    ours.trash.put(job.id, MONTH)
    other = ours.jobs.create(name="j", spec={}, seed=1)  # the deleted one does not count
    with pytest.raises(QuotaExceeded, match="1 of the 1 jobs that it may have unfinished"):
        ours.trash.restore(job.id)
    ours.jobs.transition(other.id, "cancelled")
    assert ours.trash.restore(job.id).state == "paused"


def test_a_project_has_a_trash_of_its_own(storage: Storage) -> None:
    for name in ("ours", "theirs"):
        storage.projects.add(name)
    ours, theirs = (storage.of_project(name) for name in ("ours", "theirs"))
    job = ours.jobs.create(name="secret", spec={}, seed=1)
    ours.jobs.transition(job.id, "cancelled")
    calls: tuple[Callable[[], object], ...] = (
        lambda: theirs.trash.put(job.id, MONTH),
        lambda: theirs.trash.delete(job.id),
    )
    for call in calls:
        with pytest.raises(NotFound, match="there is no job"):
            call()
    ours.trash.put(job.id, MONTH)
    assert theirs.jobs.page(deleted="only").items == []
    asked: tuple[Callable[[str], object], ...] = (
        theirs.jobs.get, theirs.jobs.check, theirs.trash.restore, theirs.trash.delete,
        theirs.trials.best,
        lambda job_id: theirs.subscriptions.add(
            kind="webhook", target="https://example.org", secret=None, events=["completed"],
            pause_seconds=60.0, owner="t", job_id=job_id,
        ),
    )  # fmt: skip
    for ask in asked:
        with pytest.raises(NotFound, match=f"there is no job {job.id}$"):
            ask(job.id)
    with pytest.raises(NotFound, match="was deleted"):
        ours.trials.best(job.id)
    assert ours.events.after(0, job_id=job.id) == []
    assert ours.trash.restore(job.id).name == "secret"


def test_its_subscriptions_wait(storage: Storage) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1)
    of_job = storage.subscriptions.add(
        kind="webhook", target="https://example.org/hook", secret=None, events=["cancelled"],
        pause_seconds=60.0, owner="key:a", job_id=job.id,
    )  # fmt: skip
    storage.jobs.transition(job.id, "cancelled")
    assert storage.deliveries.count_waiting() == 1
    storage.trash.put(job.id, MONTH)
    assert storage.subscriptions.page().items == []
    with pytest.raises(NotFound):
        storage.subscriptions.get(of_job.id)
    assert storage.deliveries.claim("sender", 60.0, 10) == []
    assert storage.deliveries.count_waiting() == 0
    storage.trash.restore(job.id)
    assert storage.subscriptions.page().items == [of_job]
    (due,) = storage.deliveries.claim("sender", 60.0, 10)
    assert due.message["job"]["id"] == job.id


def test_a_job_that_was_restored_and_deleted_again_has_its_time_anew(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1).id
    storage.jobs.transition(job, "cancelled")
    storage.trash.put(job, 0.0)
    [lapsed] = storage.retention.lapsed_jobs(time.time() + 1.0)
    storage.trash.restore(job)
    storage.trash.put(job, 3600.0)
    monkeypatch.setattr(storage.retention, "lapsed_jobs", lambda now: [lapsed])
    assert storage.retention.delete_lapsed_jobs(time.time() + 1.0) == 0
    assert storage.trash.restore(job).id == job
