"""What a coordinator does for the turns that jobs take: held messages, quotas, stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storage.messages import EVALUATE
from storage.records import Outcome, Quotas, Trial
from storage.storage import Storage
from tests.tuner.analytic import Evaluators, Gate, create_job, open_storage, simulated
from tests.tuner.driving import drive
from tuner.coordinator import Coordinator
from tuner.evaluations import Silence


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


def essence(trials: list[Trial]) -> list[tuple[Any, ...]]:
    return [(t.number, t.kind, t.configuration_sha256, t.cutoff, t.state, t.value) for t in trials]


class Counting(Evaluators):
    """Evaluators that take what is next, and know how many messages they had at once.

    They begin when there are a few.
    """

    def __init__(self, storage: Storage, workers: int) -> None:
        self.lock = threading.Lock()
        self.under_way: set[str] = set()
        self.most = 0
        self.few = threading.Event()
        super().__init__(storage, workers)

    def dispatch(self, task: str, identifier: str) -> None:
        if task == EVALUATE:
            with self.lock:
                self.under_way.add(identifier)
                self.most = max(self.most, len(self.under_way))
                if self.most > 2:
                    self.few.set()
        super().dispatch(task, identifier)

    def _evaluate(self, attempt_id: str) -> None:
        self.few.wait()
        taken = self.storage.attempts.take(attempt_id, threading.current_thread().name)
        if taken is not None:
            outcome = simulated(taken.trial.configuration)
            cutoff = taken.trial.cutoff
            if outcome.value is not None and cutoff is not None and outcome.value > cutoff:
                outcome = Outcome(status="censored", value=cutoff, cpu_seconds=outcome.cpu_seconds)
            with self.lock:
                self.under_way.discard(attempt_id)
            self.storage.attempts.finish(taken.attempt_id, outcome)


def test_no_more_messages_are_out_than_a_job_may_use(storage: Storage) -> None:
    with Counting(storage, 4) as evaluators:
        free = drive(
            storage, create_job(storage, batch=12, budget={"trials": 16}), evaluators.dispatch
        )
        assert evaluators.most > 2
        evaluators.most = 0
        narrow = drive(
            storage,
            create_job(storage, batch=12, concurrency=2, budget={"trials": 16}),
            evaluators.dispatch,
        )
    assert evaluators.most <= 2
    assert (narrow.state, narrow.ended_because) == ("completed", "trials")
    assert essence(storage.trials.of_job(narrow.id)) == essence(storage.trials.of_job(free.id))


def test_messages_are_a_few_for_each_worker_and_the_rest_wait(storage: Storage) -> None:
    storage.processes.register("w", "worker", version="1", contract=1, simulator="s", concurrency=1)
    with Counting(storage, 2) as evaluators:
        job = drive(
            storage, create_job(storage, batch=40, budget={"trials": 40}), evaluators.dispatch
        )
    assert job.state == "completed"
    assert evaluators.most <= 32


class Taking(Counting):
    """Evaluators that take all they find for a message, and tell how many messages wait.

    They begin when this many trials are asked, so that they find as many.
    """

    ASKED = 200

    def backlog(self) -> int:
        return self._messages.qsize()

    def _evaluate(self, attempt_id: str) -> None:
        job_id = attempt_id.partition("-")[0]
        while len(self.storage.trials.of_job(job_id)) < self.ASKED:
            self.storage.processes.beat(
                "w"
            )  # on a busy machine this may take longer than a silence
            time.sleep(0.1)
        for _ in range(16):
            super()._evaluate(attempt_id)


@pytest.mark.parametrize("away", [False, True])
def test_trials_that_were_taken_without_a_message_need_none(storage: Storage, away: bool) -> None:
    """Also while the broker does not tell what waits there, all of them are evaluated."""
    storage.processes.register("w", "worker", version="1", contract=1, simulator="s", concurrency=1)

    def backlog() -> int:
        if away:
            raise ConnectionError("the broker is away")
        return evaluators.backlog()

    with Taking(storage, 2) as evaluators:
        # Where trials have a cutoff none of the search is asked before the baselines are known.
        budget = {"trials": Taking.ASKED}
        job = create_job(storage, batch=Taking.ASKED, budget=budget, cutoff_factor=None)
        silence = Silence(resend_seconds=600.0)
        drive(storage, job, evaluators.dispatch, backlog=backlog, silence=silence)
    assert storage.jobs.get(job.id).state == "completed"
    if not away:
        assert evaluators.evaluated() < 150


def test_a_quota_that_runs_out_pauses_a_job_which_goes_on_when_it_is_raised(
    storage: Storage,
) -> None:
    def allow(trials: int | None) -> None:
        project = storage.projects.get("default")
        storage.projects.change(
            "default",
            weight=project.weight,
            priority=project.priority,
            quotas=Quotas(trials=trials),
        )

    budget = {"trials": 16}
    with Evaluators(storage, 2) as evaluators:
        undisturbed = drive(storage, create_job(storage, budget=budget), evaluators.dispatch)
    spent = storage.projects.use("default").trials
    job = create_job(storage, budget=budget)
    allow(spent + 3)
    gate = Gate(3)
    with Evaluators(storage, 2, gate) as evaluators:
        driving = threading.Thread(target=drive, args=(storage, job, evaluators.dispatch))
        driving.start()
        while storage.jobs.get(job.id).state != "pausing":
            time.sleep(0.01)
        gate.open()
        driving.join()
        paused = storage.jobs.get(job.id)
        assert paused.state == "paused"
        assert paused.paused_because is not None
        assert "ask the operator" in paused.paused_because
        some = storage.trials.of_job(job.id)
        assert 3 <= len(some) < len(storage.trials.of_job(undisturbed.id))

        allow(None)
        storage.jobs.transition(job.id, "queued")
        assert storage.jobs.get(job.id).paused_because is None
        job = drive(storage, job, evaluators.dispatch)
    assert job.state == "completed"
    assert essence(storage.trials.of_job(job.id)) == essence(storage.trials.of_job(undisturbed.id))


@pytest.mark.parametrize("choice", ["continue", "stop"])
def test_a_missing_artifact_stops_a_job_that_is_to_stop_then(storage: Storage, choice: str) -> None:
    missing = Outcome(
        status="failed", reason={"kind": "artifact", "message": "there is no artifact 1a2b"}
    )
    seen = [0]

    def objective(configuration: Any) -> Outcome:
        seen[0] += 1
        return missing if seen[0] == 5 else replace(simulated(configuration))

    with Evaluators(storage, 1, objective) as evaluators:
        job = drive(
            storage,
            create_job(storage, on_artifact_failure=choice, budget={"trials": 6}),
            evaluators.dispatch,
        )
    if choice == "continue":
        assert job.state == "completed"
    else:
        assert job.state == "failed"
        assert job.error == "trial 5 could not be evaluated: there is no artifact 1a2b"
        assert not storage.trials.unfinished(job.id)


def test_a_coordinator_that_is_full_makes_room_for_a_project_without_a_job(
    storage: Storage,
) -> None:
    storage.projects.add("modest")
    stop = threading.Event()
    with Evaluators(storage, 2, delay=0.05) as evaluators:
        coordinator = Coordinator(storage, evaluators.dispatch, "test", jobs=2, turn_seconds=0.05)
        # Trials for minutes.
        long = [create_job(storage, budget={"trials": 10_000}, seed=seed) for seed in (1, 2)]
        thread = threading.Thread(target=coordinator.serve, args=(stop,))
        thread.start()
        while any(not storage.trials.of_job(job.id) for job in long):
            time.sleep(0.01)
        short = create_job(storage, budget={"trials": 4}, project="modest")
        while storage.jobs.get(short.id).state != "completed":
            time.sleep(0.02)
        assert all(storage.jobs.get(job.id).state == "running" for job in long)
        stop.set()
        thread.join()
