"""Subscriptions, and the outbox that changes of jobs fill."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from storage.errors import NotFound, QuotaExceeded
from storage.outbox_records import MOST_SUBSCRIPTIONS, Due, Subscription
from storage.project_storage import ProjectStorage
from storage.records import JobState, Outcome, Trial
from storage.storage import Storage


def subscribe(storage: Storage, *events: str, job_id: str | None = None) -> Subscription:
    return storage.add_subscription(
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
    return storage.claim_deliveries("sender", 60.0, 100)


def value(number: float) -> Outcome:
    return Outcome(status="completed", value=number)


def test_subscriptions_are_kept(storage: Storage) -> None:
    job = storage.create_job(name="j", spec={}, seed=1)
    of_job, of_all = subscribe(storage, job_id=job.id), subscribe(storage)
    assert storage.get_subscription(of_job.id) == of_job
    assert storage.list_subscriptions().items == [of_all, of_job]
    assert storage.list_subscriptions(job_id=job.id).items == [of_job]
    page = storage.list_subscriptions(limit=1)
    assert storage.list_subscriptions(limit=1, cursor=page.cursor).items == [of_job]
    storage.delete_subscription(of_all.id)
    with pytest.raises(NotFound, match="there is no subscription"):
        storage.get_subscription(of_all.id)
    assert "whsec" not in repr(of_job)


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_an_end_is_stored_with_the_change(storage: Storage, end: JobState) -> None:
    job = storage.create_job(name="cg", spec={}, seed=1)
    told = [subscribe(storage, job_id=job.id), subscribe(storage, end)]
    subscribe(storage, "incumbent")
    subscribe(storage, job_id=storage.create_job(name="other", spec={}, seed=1).id)
    storage.transition(job.id, "running")
    assert due(storage) == []
    if end == "cancelled":
        storage.transition(job.id, "cancelling")
    storage.transition(job.id, end, error="no trace" if end == "failed" else None)
    storage.transition(job.id, end)  # which changes nothing any more
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
        storage.transition(running_job[0], "completed", token=running_job[1] + 1)
    assert due(storage) == []


def test_a_job_that_has_ended_is_told_of_at_once(storage: Storage) -> None:
    job = storage.create_job(name="j", spec={}, seed=1)
    storage.transition(job.id, "cancelled")
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
    assert storage.finish_delivery(first.id, "sender", 1, ok=True, said="answered 200")

    settle(storage, propose, token, {2: 4.0, 3: 6.0, 4: 3.0})  # the third is no incumbent
    assert due(storage) == []  # before the pause is over
    waiting, sent = storage.list_deliveries(subscription.id).items
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
    storage.transition(job_id, "completed", token=token)
    found = {each.subscription.id: each.message for each in due(storage)}
    assert found[both.id]["event"] == "completed"
    assert found[one.id]["event"] == "incumbent"
    assert found[both.id]["best"] == found[one.id]["best"] == {"trial": 2, "value": 4.0}


def test_a_trial_that_is_infeasible_is_no_incumbent(
    storage: Storage, running_job: tuple[str, int], propose: Callable[..., Trial]
) -> None:
    subscribe(storage, "incumbent", job_id=running_job[0])
    trial = propose(1)
    settled = storage.settle_trial(trial.id, running_job[1], Outcome(status="infeasible"))
    assert settled
    assert due(storage) == []


def test_what_goes_with_a_job_and_with_a_subscription(storage: Storage) -> None:
    job = storage.create_job(name="j", spec={}, seed=1)
    of_job, of_all = subscribe(storage, job_id=job.id), subscribe(storage)
    storage.transition(job.id, "cancelled")
    storage.delete_job(job.id)
    with pytest.raises(NotFound):
        storage.get_subscription(of_job.id)
    assert [one.job_id for one in storage.list_deliveries(of_all.id).items] == [job.id]
    storage.delete_subscription(of_all.id)
    assert due(storage) == []


def test_who_is_removed_as_a_job_ends_holds_nothing_up(storage: Storage) -> None:
    """Neither is refused for the other's sake, in whichever order they come."""
    with ThreadPoolExecutor(3) as pool:
        for _ in range(25):
            job = storage.create_job(name="j", spec={}, seed=1)
            first, second = subscribe(storage, job_id=job.id), subscribe(storage)
            acts = [
                pool.submit(storage.delete_subscription, first.id),
                pool.submit(storage.transition, job.id, "cancelled"),
                pool.submit(storage.delete_subscription, second.id),
            ]
            for act in acts:
                act.result()
            assert storage.get_job(job.id).state == "cancelled"
    assert due(storage) == []


def test_a_project_sees_its_own(storage: Storage) -> None:
    storage.add_project("ours")
    storage.add_project("theirs")
    ours, theirs = ProjectStorage.of(storage, "ours"), ProjectStorage.of(storage, "theirs")
    job = ours.create_job(name="j", spec={}, seed=1)
    mine, foreign = subscribe(ours), subscribe(theirs)
    assert (mine.project, foreign.project) == ("ours", "theirs")
    assert ours.list_subscriptions().items == [mine]
    calls: list[Callable[[], Any]] = [
        lambda: theirs.get_subscription(mine.id),
        lambda: theirs.delete_subscription(mine.id),
        lambda: theirs.list_deliveries(mine.id),
        lambda: theirs.add_test(mine.id, "0" * 16, {}, ok=True, said=""),
        lambda: subscribe(theirs, job_id=job.id),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call()
    assert theirs.list_subscriptions(job_id=job.id).items == []
    ours.add_test(mine.id, "0" * 16, {}, ok=False, said="answered 500")
    assert [one.event for one in ours.list_deliveries(mine.id).items] == ["test"]
    with pytest.raises(PermissionError):
        theirs.claim_deliveries("me", 1.0, 1)

    ours.transition(job.id, "cancelled")
    assert [one.subscription.id for one in due(storage)] == [mine.id]


def test_a_project_has_so_many_at_most(storage: Storage) -> None:
    for _ in range(MOST_SUBSCRIPTIONS):
        subscribe(storage)
    with pytest.raises(QuotaExceeded, match="has 100 subscriptions; remove one"):
        subscribe(storage)
    storage.add_project("ours")
    subscribe(ProjectStorage.of(storage, "ours"))


def test_many_who_subscribe_at_once_get_no_more(storage: Storage) -> None:
    for _ in range(MOST_SUBSCRIPTIONS - 2):
        subscribe(storage)
    begin = Barrier(6)

    def try_to(_: int) -> str | None:
        storage.list_subscriptions(limit=1)  # which connects
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
                storage.delete_subscription(one)


def settle(
    storage: Storage, propose: Callable[..., Trial], token: int, values: dict[int, float]
) -> None:
    for number, found in values.items():
        assert storage.settle_trial(propose(number).id, token, value(found))


def make_due(storage: Storage) -> None:
    """What waits for its time has waited long enough."""
    with storage._database.writing() as session:
        session.connection().exec_driver_sql("UPDATE deliveries SET next_at = 0")
