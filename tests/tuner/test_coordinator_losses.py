"""Workers, messages, leases and processes that get lost on the way to the same trials."""

import os
import signal
import threading
import time
from typing import Any

import pytest

from storage.messages import EVALUATE, PREPARE
from storage.proposal import Proposal
from storage.storage import Storage
from tests.tuner.analytic import Evaluators, Gate, create_job, prepare
from tests.tuner.driving import (
    AN_HOUR,
    LEASE_SECONDS,
    change,
    drive,
    essence,
    held,
    let_an_hour_pass,
    wait_until,
)
from tuner.coordinator import Coordinator
from tuner.evaluations import Silence


def test_a_silent_worker_loses_its_trial_to_another(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    with Evaluators(storage, 2) as evaluators:
        swallowed: list[str] = []

        def dispatch(task: str, identifier: str) -> None:
            if task == EVALUATE and len(swallowed) < 3 and identifier.endswith("-1"):
                swallowed.append(identifier)
                storage.attempts.begin(identifier, "dead worker")
                let_an_hour_pass(storage, "dead worker")
            else:
                evaluators.dispatch(task, identifier)

        drive(storage, job, dispatch, embedded=False)
    assert len(swallowed) == 3
    assert storage.jobs.get(job.id).state == "completed"
    assert essence(storage, job) == undisturbed


def test_messages_that_a_broker_lost_are_sent_again(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    with Evaluators(storage, 2) as evaluators:
        lost: list[str] = []

        def dispatch(task: str, identifier: str) -> None:
            if task == EVALUATE and len(lost) < 5 and identifier not in lost:
                lost.append(identifier)
            else:
                evaluators.dispatch(task, identifier)

        silence = Silence(resend_seconds=0.01)
        drive(storage, job, dispatch, embedded=False, silence=silence)
    assert len(lost) == 5
    assert essence(storage, job) == undisturbed


def test_a_trial_that_every_worker_dies_of_has_failed(storage: Storage) -> None:
    job = create_job(storage, budget={"trials": 4}, batch=2)
    with Evaluators(storage, 2) as evaluators:

        def dispatch(task: str, identifier: str) -> None:
            if task == EVALUATE and identifier.startswith(f"{job.id}-6-"):
                storage.attempts.begin(identifier, "doomed worker")
                let_an_hour_pass(storage, "doomed worker")
            else:
                evaluators.dispatch(task, identifier)

        silence = Silence(losses=2)
        drive(storage, job, dispatch, embedded=False, silence=silence)
    assert storage.jobs.get(job.id).state == "completed"
    trial = storage.trials.get(job.id, 6)
    assert trial.state == "failed"
    assert trial.reason is not None
    assert trial.reason["kind"] == "lost"


def test_a_trial_that_was_lost_with_the_one_its_worker_died_of_goes_on(storage: Storage) -> None:
    job = create_job(storage, budget={"trials": 4}, batch=2)
    taken: list[str] = []
    with Evaluators(storage, 2) as evaluators:

        def dispatch(task: str, identifier: str) -> None:
            deadly = identifier.startswith(f"{job.id}-6-")
            if task == EVALUATE and (deadly or identifier in (f"{job.id}-5-1", f"{job.id}-5-2")):
                taken.append(identifier)
                if deadly:  # the worker dies of it with all that it had taken
                    for attempt in taken:
                        storage.attempts.begin(attempt, "doomed worker")
                    taken.clear()
                    let_an_hour_pass(storage, "doomed worker")
            else:
                evaluators.dispatch(task, identifier)

        silence = Silence(losses=2)
        drive(storage, job, dispatch, embedded=False, silence=silence)
    assert [storage.trials.get(job.id, number).state for number in (5, 6)] == [
        "completed",
        "failed",
    ]


def test_an_attempt_handed_back_is_dispatched_again(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    with Evaluators(storage, 2) as evaluators:

        def dispatch(task: str, identifier: str) -> None:
            if task == EVALUATE and identifier == f"{job.id}-5-1":
                storage.attempts.begin(identifier, "stopping worker")
                storage.attempts.release(identifier)
            else:
                evaluators.dispatch(task, identifier)

        drive(storage, job, dispatch, embedded=False)
    assert essence(storage, job) == undisturbed


def test_a_broker_that_is_away_delays_a_job_and_no_more(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    with Evaluators(storage, 2) as evaluators:
        failures = iter([True, False, False, True, False, True])

        def dispatch(task: str, identifier: str) -> None:
            if next(failures, False):
                raise ConnectionError("broker away")
            evaluators.dispatch(task, identifier)

        drive(storage, job, dispatch, embedded=False)
    assert essence(storage, job) == undisturbed


def test_a_coordinator_that_lost_its_lease_stops_without_writing(storage: Storage) -> None:
    job = create_job(storage)
    with Evaluators(storage, 1, delay=0.05) as evaluators:
        first = storage.leases.acquire("first", 0.01, job.id)
        assert first is not None
        time.sleep(0.02)
        second = storage.leases.acquire("second", 60.0, job.id)
        assert second is not None
        Coordinator(storage, evaluators.dispatch, "first").run_job(first)
        assert evaluators.sent == []
    after = storage.jobs.get(job.id)
    assert (after.state, after.lease_owner) == ("queued", "second")
    assert after.lease_token == second.lease_token


def test_a_job_taken_over_in_the_middle_is_driven_by_the_new_coordinator_alone(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    gate = Gate(10)
    with Evaluators(storage, 2, gate) as evaluators:
        leased = storage.leases.acquire("first", LEASE_SECONDS, job.id)
        assert leased is not None
        slow = Coordinator(storage, evaluators.dispatch, "first", lease_seconds=LEASE_SECONDS)
        driving = threading.Thread(target=slow.run_job, args=(leased,))
        driving.start()
        wait_until(lambda: storage.jobs.get(job.id).evaluations == 10)
        # As if it had not renewed it in time.
        change(storage, "UPDATE jobs SET lease_expires_at = lease_expires_at - :hour", hour=AN_HOUR)
        leased = storage.leases.acquire("second", LEASE_SECONDS, job.id)
        assert leased is not None
        gate.open()
        Coordinator(storage, evaluators.dispatch, "second", embedded=True).run_job(leased)
        driving.join()
    ended = storage.jobs.get(job.id)
    assert ended.state == "completed"
    assert essence(storage, job) == undisturbed


@pytest.mark.parametrize("embedded", [True, False])
def test_a_coordinator_does_not_take_a_job_from_itself(
    storage: Storage, undisturbed: list[tuple[Any, ...]], embedded: bool
) -> None:
    """Under load it may come late to renew a lease, which nobody else wants."""
    job = create_job(storage)
    gate, stop = Gate(10), threading.Event()
    with Evaluators(storage, 2, gate) as evaluators:
        coordinator = Coordinator(storage, evaluators.dispatch, "test", embedded=embedded)
        serving = threading.Thread(target=coordinator.serve, args=(stop,))
        serving.start()
        wait_until(lambda: storage.jobs.get(job.id).evaluations == 10)
        change(storage, "UPDATE jobs SET lease_expires_at = lease_expires_at - :hour", hour=AN_HOUR)
        other = create_job(storage)  # it has looked for jobs again once it has taken this one
        wait_until(lambda: storage.jobs.get(other.id).lease_owner is not None)
        gate.open()
        wait_until(lambda: storage.jobs.get(job.id).state == "completed")
        stop.set()
        serving.join()
    assert storage.jobs.get(job.id).lease_token == 1
    assert essence(storage, job) == undisturbed


def test_a_trial_stored_otherwise_than_it_is_asked_fails_the_job(storage: Storage) -> None:
    job = create_job(storage)
    prepare(storage, job.id)
    leased = storage.leases.acquire("test", LEASE_SECONDS, job.id)
    assert leased is not None
    storage.jobs.transition(job.id, "running", token=leased.lease_token)
    storage.trials.propose(
        job.id,
        leased.lease_token,
        Proposal(
            number=1,
            kind="baseline",
            label="mesh-2d",
            configuration={"topology": "other"},
            configuration_sha256="f" * 64,
        ),
    )
    with Evaluators(storage, 1) as evaluators:
        Coordinator(storage, evaluators.dispatch, "test").run_job(leased)
    failed = storage.jobs.get(job.id)
    assert failed.state == "failed"
    assert failed.error is not None
    assert "trial 1 was stored with another configuration" in failed.error


def test_the_search_process_may_die_without_harm(
    storage: Storage, undisturbed: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tuner import opentuner_session

    made: list[opentuner_session.TunerSession] = []
    original = opentuner_session.TunerSession.__init__

    def remember(self: opentuner_session.TunerSession, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        made.append(self)

    monkeypatch.setattr(opentuner_session.TunerSession, "__init__", remember)
    job = create_job(storage)
    with held(storage, job, 10):
        os.kill(made[0]._process.pid, signal.SIGKILL)
    assert len(made) == 2
    assert essence(storage, job) == undisturbed


def test_a_preparation_whose_message_is_lost_is_asked_for_again(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    lost: list[str] = []
    with Evaluators(storage, 2) as evaluators:

        def dispatch(task: str, identifier: str) -> None:
            if task == PREPARE and len(lost) < 2:
                lost.append(identifier)
            else:
                evaluators.dispatch(task, identifier)

        silence = Silence(preparing_seconds=0.1)
        drive(storage, job, dispatch, embedded=False, silence=silence)
        assert evaluators.sent.count((PREPARE, job.id)) >= 1
    assert lost == [job.id, job.id]
    assert essence(storage, job) == undisturbed


def test_a_preparation_that_a_worker_has_claimed_is_not_asked_for_again(storage: Storage) -> None:
    job = create_job(storage)
    asked: list[str] = []

    def dispatch(task: str, identifier: str) -> None:
        asked.append(task)
        assert storage.preparations.claim(identifier, "worker")

    leased = storage.leases.acquire("test", LEASE_SECONDS, job.id)
    assert leased is not None
    looks = 0
    is_being_prepared = storage.preparations.is_under_way

    def counted(job_id: str, **options: Any) -> bool:
        nonlocal looks
        looks += 1
        return is_being_prepared(job_id, **options)

    storage.preparations.is_under_way = counted  # type: ignore[method-assign]
    stop = threading.Event()
    silence = Silence(preparing_seconds=0.01)
    coordinator = Coordinator(storage, dispatch, "test", silence=silence)
    driving = threading.Thread(target=coordinator.run_job, args=(leased, stop))
    driving.start()
    wait_until(lambda: looks > 3)
    assert asked == [PREPARE]
    storage.preparations.release(job.id, "worker")
    wait_until(lambda: len(asked) == 2)
    stop.set()
    driving.join()
