from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from storage.attempts import Finished, Taken
from storage.errors import Conflict, LeaseLost, NotFound
from storage.evaluations import keep_outcome
from storage.proposal import Proposal
from storage.records import Outcome, Trial
from storage.storage import Storage
from storage.trial_rows import packed_result

Propose = Callable[..., Trial]
DONE = Outcome(status="completed", value=1.5, cpu_seconds=2.0)


def test_an_attempt_takes_its_trial_from_pending_to_its_outcome(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    trial = propose(1)

    attempt = storage.attempts.open(trial.id, token)
    running = storage.attempts.begin(attempt.id, "worker-1")
    (begun,) = storage.attempts.unfinished(job_id)
    settled = storage.attempts.finish(attempt.id, DONE)

    assert attempt.state == "dispatched"
    assert (begun.state, begun.worker, begun.trial_id) == ("running", "worker-1", trial.id)
    assert running is not None
    assert (running.state, running.worker, running.job_id) == ("running", "worker-1", job_id)
    assert settled
    finished = storage.trials.get(job_id, 1)
    assert (finished.state, finished.value, finished.worker) == ("completed", 1.5, "worker-1")
    assert finished.started_at is not None
    assert finished.finished_at is not None
    assert storage.attempts.unfinished(job_id) == []


def test_several_attempts_are_taken_and_finished_at_once(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    attempts = [storage.attempts.open(propose(number).id, token) for number in (1, 2, 3, 4)]

    taken = storage.attempts.take_several(attempts[0].id, "worker-1", 3)
    values = (1.5, 0.5, 2.5)
    finished = [
        Finished(one.attempt_id, replace(DONE, value=value), None)
        for one, value in zip(taken, values, strict=True)
    ]

    assert [(one.attempt_id, one.trial.state) for one in taken] == [
        (attempt.id, "running") for attempt in attempts[:3]
    ]
    assert storage.attempts.finish_several(finished) == [True, True, True]
    assert [trial.value for trial in storage.trials.finished_from(job_id, 1, 10)] == list(values)
    job = storage.jobs.get(job_id)
    assert (job.best_trial, job.best_value) == (2, 0.5)
    assert (job.evaluations, job.cpu_seconds) == (3, 6.0)
    assert [one.id for one in storage.attempts.unfinished(job_id)] == [attempts[3].id]


def taken_of_another_job(storage: Storage) -> list[Taken]:
    """Two attempts of a job of its own."""
    job_id = storage.jobs.create(name="j", spec={}, seed=1).id
    leased = storage.leases.acquire("coordinator", 60.0, job_id)
    assert leased is not None
    storage.jobs.transition(job_id, "running", token=leased.lease_token)
    proposals = [
        Proposal(number=n, kind="search", configuration={}, configuration_sha256=f"{n:064d}")
        for n in (1, 2)
    ]
    storage.trials.propose_several(job_id, leased.lease_token, proposals)
    return storage.attempts.take_several(f"{job_id}-1-1", "worker", 2, only_named=True)


def test_batches_with_the_same_configurations_do_not_deadlock(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = taken_of_another_job(storage), taken_of_another_job(storage)
    keys, begun, both = ["a" * 64, "b" * 64], set[int](), threading.Barrier(2)

    def keep(*arguments: Any) -> None:
        """Lets the other one keep its first as well, unless that waits for this one to end."""
        keep_outcome(*arguments)
        if threading.get_ident() not in begun:
            begun.add(threading.get_ident())
            with suppress(threading.BrokenBarrierError):
                both.wait(0.5)

    monkeypatch.setattr("storage.attempts.keep_outcome", keep)
    batches = [
        [Finished(one.attempt_id, DONE, key) for one, key in zip(taken, order, strict=True)]
        for taken, order in ((mine, keys), (theirs, keys[::-1]))
    ]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(storage.attempts.finish_several, batches)) == [[True, True]] * 2
    assert all(storage.evaluations.find_several([(key, None) for key in keys]))


def test_outcomes_of_several_attempts_are_told_in_order_with_what_was_measured(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    attempts = [storage.attempts.open(propose(number).id, token) for number in (1, 2, 3)]
    storage.attempts.take_several(attempts[0].id, "worker-1", 3)
    before = storage.events.last_id()
    measured = replace(DONE, result={"rank_finish_times": [1.5]})
    outcomes = [
        measured,
        Outcome(status="failed", reason={"kind": "crash", "message": "it ended"}),
        replace(DONE, packed_result=packed_result(measured), cached=True),
    ]

    storage.attempts.finish_several(
        [
            Finished(attempt.id, outcome, f"{number:064}")
            for number, (attempt, outcome) in enumerate(zip(attempts, outcomes, strict=True))
        ]
    )

    told = storage.events.after(before, job_id=job_id)
    assert [(one.kind, one.data["number"], one.data["state"]) for one in told] == [
        ("trial", 1, "completed"),
        ("trial", 2, "failed"),
        ("trial", 3, "completed"),
    ]
    assert told[2].data == {
        "number": 3, "state": "completed", "kind": "search", "label": None, "value": 1.5,
        "cached": True, "cpu_seconds": 2.0,
    }  # fmt: skip
    first, second, third = (storage.trials.get(job_id, number) for number in (1, 2, 3))
    assert (first.result, third.result) == (measured.result, measured.result)
    assert (second.result, second.reason) == (None, {"kind": "crash", "message": "it ended"})
    assert storage.evaluations.find(f"{0:064}", None) is not None
    assert storage.evaluations.find(f"{2:064}", None) is None, "what was known is not kept again"


def test_an_attempt_given_up_does_not_settle_the_next_one(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    """Several outcomes are stored by trial and attempt, not by trial alone."""
    job_id, token = running_job
    trials = [propose(1), propose(2)]
    attempts = [storage.attempts.open(trial.id, token) for trial in trials]
    storage.attempts.take_several(attempts[0].id, "slow", 2)
    storage.attempts.release(attempts[0].id)
    again = storage.attempts.open(trials[0].id, token)
    assert storage.attempts.take(again.id, "quick") is not None

    late = storage.attempts.finish_several([Finished(one.id, DONE, None) for one in attempts])

    assert late == [False, True]
    assert storage.trials.get(job_id, 1).state == "running"
    assert storage.attempts.finish(again.id, replace(DONE, value=2.0))
    assert storage.trials.get(job_id, 1).value == 2.0


def test_a_trial_that_was_lost_before_is_taken_alone(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    """Else what loses workers would be taken for as guilty as what was taken with it."""
    _, token = running_job
    trials = [propose(number) for number in (1, 2, 3, 4)]
    attempts = [storage.attempts.open(trial.id, token) for trial in trials]
    storage.attempts.take_several(attempts[0].id, "lost", 2)
    for trial in trials[:2]:
        storage.attempts.release(attempts[trial.number - 1].id)
        storage.attempts.open(trial.id, token)

    taken = [storage.attempts.take_several(attempts[0].id, "worker", 4) for _ in range(4)]

    numbers = [[one.trial.number for one in lot] for lot in taken]
    assert numbers == [[1], [2], [3, 4], []]


def test_attempts_that_wait_are_listed_in_the_order_of_their_turns(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    attempts = [storage.attempts.open(propose(number).id, token) for number in (1, 2, 3, 4)]
    storage.attempts.take(attempts[0].id, "worker")

    assert storage.attempts.waiting(job_id, 2) == [attempts[1].id, attempts[2].id]
    assert storage.attempts.waiting(job_id, 9) == [one.id for one in attempts[1:]]
    assert storage.attempts.count_running(job_id) == 1


def test_of_several_outcomes_only_those_of_open_attempts_count(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    attempts = [storage.attempts.open(propose(number).id, token) for number in (1, 2)]
    storage.attempts.take_several(attempts[0].id, "worker-1", 2)
    storage.attempts.release(attempts[0].id)

    settled = storage.attempts.finish_several([Finished(one.id, DONE, None) for one in attempts])

    assert settled == [False, True]
    assert storage.jobs.get(job_id).evaluations == 1
    assert [trial.state for trial in storage.trials.of_job(job_id)] == ["pending", "completed"]


def test_a_trial_has_one_open_attempt_at_most(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    trial = propose(1)

    first = storage.attempts.open(trial.id, token)
    again = storage.attempts.open(trial.id, token)

    assert again == first
    assert storage.attempts.unfinished(job_id) == [first]


def test_an_attempt_is_begun_once_however_often_its_message_arrives(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    attempt = storage.attempts.open(propose(1).id, running_job[1])
    start = threading.Barrier(4)

    def begin(worker: str) -> bool:
        start.wait()
        return storage.attempts.begin(attempt.id, worker) is not None

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(begin, "abcd")) == 1


def test_messages_that_name_no_attempt_are_stale(storage: Storage) -> None:
    for identifier in ("nosuchjob-1-1", "nonsense", "", "a-b-c"):
        assert storage.attempts.begin(identifier, "worker") is None
        assert not storage.attempts.heartbeat(identifier)
        assert not storage.attempts.finish(identifier, DONE)
        assert not storage.attempts.release(identifier)


def test_finishing_is_idempotent(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    attempt = storage.attempts.open(propose(1).id, token)
    storage.attempts.begin(attempt.id, "worker")
    start = threading.Barrier(4)

    def finish(value: float) -> bool:
        start.wait()
        return storage.attempts.finish(
            attempt.id, Outcome(status="completed", value=value, cpu_seconds=1.0)
        )

    with ThreadPoolExecutor(4) as pool:
        settled = list(pool.map(finish, [1.0, 2.0, 3.0, 4.0]))

    assert sum(settled) == 1
    assert storage.trials.get(job_id, 1).value == [1.0, 2.0, 3.0, 4.0][settled.index(True)]
    assert storage.jobs.get(job_id).evaluations == 1
    assert storage.jobs.get(job_id).cpu_seconds == 1.0
    finished = [e for e in storage.events.after(0) if e.data["state"] == "completed"]
    assert len(finished) == 1


def test_a_silent_attempt_is_lost_and_its_trial_gets_another(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    trial = propose(1)
    first = storage.attempts.open(trial.id, token)
    storage.attempts.begin(first.id, "dead")

    (lost,) = storage.attempts.expire(job_id, token, 0.0)

    assert (lost.id, lost.state) == (first.id, "lost")
    assert storage.trials.get(job_id, 1).state == "pending"
    second = storage.attempts.open(trial.id, token)
    assert (second.number, second.trial_id) == (2, trial.id)
    assert storage.attempts.begin(first.id, "late") is None
    assert storage.attempts.begin(second.id, "alive") is not None


def test_the_outcome_of_a_lost_attempt_is_dropped(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    trial = propose(1)
    first = storage.attempts.open(trial.id, token)
    storage.attempts.begin(first.id, "slow")
    storage.attempts.expire(job_id, token, 0.0)
    second = storage.attempts.open(trial.id, token)
    storage.attempts.begin(second.id, "fast")

    assert not storage.attempts.heartbeat(first.id)
    assert not storage.attempts.finish(first.id, DONE, evaluation_key="a" * 64)
    assert storage.evaluations.find("a" * 64, None) is None
    assert storage.attempts.finish(second.id, Outcome(status="completed", value=2.5))
    assert storage.trials.get(job_id, 1).value == 2.5


def test_an_attempt_with_a_heartbeat_is_kept(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    attempt = storage.attempts.open(propose(1).id, token)
    storage.attempts.begin(attempt.id, "worker")

    assert storage.attempts.heartbeat(attempt.id)
    assert storage.attempts.expire(job_id, token, 60.0) == []


def test_attempts_that_wait_for_their_turn_are_not_given_up(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    waiting = storage.attempts.open(propose(1).id, token)

    assert storage.attempts.expire(job_id, token, 0.0) == []
    assert [one.id for one in storage.attempts.expire(job_id, token, None)] == [waiting.id]


def test_workers_finish_across_a_change_of_coordinator(
    storage: Storage, propose: Propose, running_job: tuple[str, int]
) -> None:
    job_id, token = running_job
    attempt = storage.attempts.open(propose(1).id, token)
    storage.attempts.begin(attempt.id, "worker")
    storage.leases.release(job_id, token)
    taken = storage.leases.acquire("another", 60.0, job_id)
    assert taken is not None

    assert storage.attempts.finish(attempt.id, DONE)

    with pytest.raises(LeaseLost):
        storage.attempts.open(f"{job_id}-1", token)
    with pytest.raises(Conflict, match="is completed; it needs no attempt"):
        storage.attempts.open(f"{job_id}-1", taken.lease_token)


def test_a_worker_that_stops_hands_its_attempt_back(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    trial = propose(1)
    attempt = storage.attempts.open(trial.id, token)
    storage.attempts.begin(attempt.id, "stopping")

    assert storage.attempts.release(attempt.id)

    assert storage.trials.get(job_id, 1).state == "pending"
    assert not storage.attempts.finish(attempt.id, DONE)
    assert storage.attempts.open(trial.id, token).number == 2


def test_an_attempt_needs_a_trial(storage: Storage, running_job: tuple[str, int]) -> None:
    job_id, token = running_job
    for identifier in (f"{job_id}-9", "nonsense"):
        with pytest.raises(NotFound):
            storage.attempts.open(identifier, token)


def test_expiry_and_finish_race_to_one_outcome(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    for number in range(1, 11):
        attempt = storage.attempts.open(propose(number).id, token)
        storage.attempts.begin(attempt.id, "worker")
        start = threading.Barrier(2)

        def expire(start: threading.Barrier = start) -> int:
            start.wait()
            return len(storage.attempts.expire(job_id, token, 0.0))

        def finish(start: threading.Barrier = start, identifier: str = attempt.id) -> bool:
            start.wait()
            return storage.attempts.finish(identifier, DONE)

        with ThreadPoolExecutor(2) as pool:
            expired, finished = pool.submit(expire), pool.submit(finish)
            assert expired.result() + finished.result() == 1
        state = storage.trials.get(job_id, number).state
        assert state == ("completed" if finished.result() else "pending")
