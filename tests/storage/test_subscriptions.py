"""Subscriptions, and the outbox that changes of jobs fill."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from storage.errors import NotFound, QuotaExceeded
from storage.outbox_records import MOST_SUBSCRIPTIONS, Due, Subscription
from storage.records import JobState, Outcome, Trial
from storage.storage import Storage
from storage.view import StorageView


def subscribe(storage: StorageView, *events: str, job_id: str | None = None) -> Subscription:
    return storage.subscriptions.add(
        kind="webhook",
        target="https://example.org/hook",
        secret="whsec_AAAA",
        events=events or ("completed", "failed", "cancelled"),
        pause_seconds=60.0,
        owner="key:a",
        name="ours",
        job_id=job_id,
    )


def due(storage: Storage) -> list[Due]:
    return storage.deliveries.claim("sender", 60.0, 100)


def value(number: float) -> Outcome:
    return Outcome(status="completed", value=number)


def test_subscriptions_are_kept(storage: Storage) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1)
    of_job, of_all = subscribe(storage, job_id=job.id), subscribe(storage)
    assert storage.subscriptions.get(of_job.id) == of_job
    assert storage.subscriptions.page().items == [of_all, of_job]
    assert storage.subscriptions.page(job_id=job.id).items == [of_job]
    page = storage.subscriptions.page(limit=1)
    assert storage.subscriptions.page(limit=1, cursor=page.cursor).items == [of_job]
    storage.subscriptions.delete(of_all.id)
    with pytest.raises(NotFound, match="there is no subscription"):
        storage.subscriptions.get(of_all.id)
    assert "whsec" not in repr(of_job)


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_an_end_is_stored_with_the_change(storage: Storage, end: JobState) -> None:
    job = storage.jobs.create(name="cg", spec={}, seed=1)
    told = [subscribe(storage, job_id=job.id), subscribe(storage, end)]
    subscribe(storage, "incumbent")
    subscribe(storage, job_id=storage.jobs.create(name="other", spec={}, seed=1).id)
    storage.jobs.transition(job.id, "running")
    assert due(storage) == []
    if end == "cancelled":
        storage.jobs.transition(job.id, "cancelling")
    storage.jobs.transition(job.id, end, error="no trace" if end == "failed" else None)
    storage.jobs.transition(job.id, end)  # which changes nothing any more
    found = due(storage)
    assert {one.subscription.id for one in found} == {one.id for one in told}
    assert len({one.id for one in found}) == len(found) == 2
    message = found[0].message
    assert (message["event"], message["project"], message["best"]) == (end, "default", None)
    assert message["job"] == {
        "id": job.id,
        "name": "cg",
        "state": end,
        "error": "no trace" if end == "failed" else None,
        "ended_because": None,
    }


def test_a_change_that_is_refused_tells_nobody(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    subscribe(storage)
    with pytest.raises(Exception, match="lease"):
        storage.jobs.transition(running_job[0], "completed", token=running_job[1] + 1)
    assert due(storage) == []


def test_a_job_that_has_ended_is_told_of_at_once(storage: Storage) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1)
    storage.jobs.transition(job.id, "cancelled")
    subscribe(storage, "completed", job_id=job.id)
    assert due(storage) == []
    subscribe(storage, job_id=job.id)
    assert [one.message["event"] for one in due(storage)] == ["cancelled"]


def test_of_several_incumbents_the_last_is_told_after_the_pause(
    storage: Storage, running_job: tuple[str, int], propose: Callable[..., Trial]
) -> None:
    job_id, token = running_job
    subscription = subscribe(storage, "incumbent", job_id=job_id)
    settle(storage, propose, token, {1: 5.0})
    (first,) = due(storage)
    assert first.message["best"] == {"trial": 1, "value": 5.0}
    assert storage.deliveries.finish(first.id, "sender", 1, ok=True, said="answered 200")

    settle(storage, propose, token, {2: 4.0, 3: 6.0, 4: 3.0})  # the third is no incumbent
    assert due(storage) == []  # before the pause is over
    waiting, sent = storage.subscriptions.deliveries(subscription.id).items
    assert (waiting.state, sent.state) == ("waiting", "sent")
    assert waiting.next_at == pytest.approx(sent.created_at + 60.0)
    make_due(storage)
    assert [one.message["best"] for one in due(storage)] == [{"trial": 4, "value": 3.0}]


def test_the_end_tells_of_the_last_incumbent(
    storage: Storage, running_job: tuple[str, int], propose: Callable[..., Trial]
) -> None:
    job_id, token = running_job
    both = subscribe(storage, "incumbent", "completed", job_id=job_id)
    one = subscribe(storage, "incumbent", job_id=job_id)
    settle(storage, propose, token, {1: 5.0})
    assert len(due(storage)) == 2
    settle(storage, propose, token, {2: 4.0})
    assert due(storage) == []
    storage.jobs.transition(job_id, "completed", token=token)
    found = {each.subscription.id: each.message for each in due(storage)}
    assert found[both.id]["event"] == "completed"
    assert found[one.id]["event"] == "incumbent"
    assert found[both.id]["best"] == found[one.id]["best"] == {"trial": 2, "value": 4.0}


def test_a_trial_that_is_infeasible_is_no_incumbent(
    storage: Storage, running_job: tuple[str, int], propose: Callable[..., Trial]
) -> None:
    subscribe(storage, "incumbent", job_id=running_job[0])
    trial = propose(1)
    settled = storage.trials.settle(trial.id, running_job[1], Outcome(status="infeasible"))
    assert settled
    assert due(storage) == []


def test_what_goes_with_a_job_and_with_a_subscription(storage: Storage) -> None:
    job = storage.jobs.create(name="j", spec={}, seed=1)
    of_job, of_all = subscribe(storage, job_id=job.id), subscribe(storage)
    storage.jobs.transition(job.id, "cancelled")
    storage.trash.delete(job.id)
    with pytest.raises(NotFound):
        storage.subscriptions.get(of_job.id)
    assert [one.job_id for one in storage.subscriptions.deliveries(of_all.id).items] == [job.id]
    storage.subscriptions.delete(of_all.id)
    assert due(storage) == []


def test_who_is_removed_as_a_job_ends_holds_nothing_up(storage: Storage) -> None:
    """Neither is refused for the other's sake, in whichever order they come."""
    with ThreadPoolExecutor(3) as pool:
        for _ in range(25):
            job = storage.jobs.create(name="j", spec={}, seed=1)
            first, second = subscribe(storage, job_id=job.id), subscribe(storage)
            acts: list[Future[Any]] = [
                pool.submit(storage.subscriptions.delete, first.id),
                pool.submit(storage.jobs.transition, job.id, "cancelled"),
                pool.submit(storage.subscriptions.delete, second.id),
            ]
            for act in acts:
                act.result()
            assert storage.jobs.get(job.id).state == "cancelled"
    assert due(storage) == []


def test_a_project_sees_its_own(storage: Storage) -> None:
    storage.projects.add("ours")
    storage.projects.add("theirs")
    ours, theirs = storage.of_project("ours"), storage.of_project("theirs")
    job = ours.jobs.create(name="j", spec={}, seed=1)
    mine, foreign = subscribe(ours), subscribe(theirs)
    assert (mine.project, foreign.project) == ("ours", "theirs")
    assert ours.subscriptions.page().items == [mine]
    calls: list[Callable[[], Any]] = [
        lambda: theirs.subscriptions.get(mine.id),
        lambda: theirs.subscriptions.delete(mine.id),
        lambda: theirs.subscriptions.deliveries(mine.id),
        lambda: theirs.subscriptions.add_test(mine.id, "0" * 16, {}, ok=True, said=""),
        lambda: subscribe(theirs, job_id=job.id),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()
    assert theirs.subscriptions.page(job_id=job.id).items == []
    ours.subscriptions.add_test(mine.id, "0" * 16, {}, ok=False, said="answered 500")
    assert [one.event for one in ours.subscriptions.deliveries(mine.id).items] == ["test"]
    assert not hasattr(theirs, "deliveries")

    ours.jobs.transition(job.id, "cancelled")
    assert [one.subscription.id for one in due(storage)] == [mine.id]


def test_a_project_has_so_many_at_most(storage: Storage) -> None:
    for _ in range(MOST_SUBSCRIPTIONS):
        subscribe(storage)
    with pytest.raises(QuotaExceeded, match="has 100 subscriptions; remove one"):
        subscribe(storage)
    storage.projects.add("ours")
    subscribe(storage.of_project("ours"))


def test_many_who_subscribe_at_once_get_no_more(storage: Storage) -> None:
    for _ in range(MOST_SUBSCRIPTIONS - 2):
        subscribe(storage)
    begin = Barrier(6)

    def try_to(_: int) -> str | None:
        storage.subscriptions.page(limit=1)  # which connects
        begin.wait()
        try:
            return subscribe(storage).id
        except QuotaExceeded:
            return None

    with ThreadPoolExecutor(6) as pool:
        for _ in range(6):
            made = list(filter(None, pool.map(try_to, range(6))))
            assert len(made) == 2
            for one in made:
                storage.subscriptions.delete(one)


def settle(
    storage: Storage, propose: Callable[..., Trial], token: int, values: dict[int, float]
) -> None:
    for number, found in values.items():
        assert storage.trials.settle(propose(number).id, token, value(found))


def make_due(storage: Storage) -> None:
    """What waits for its time has waited long enough."""
    with storage._database.writing() as session:
        session.connection().exec_driver_sql("UPDATE deliveries SET next_at = 0")
