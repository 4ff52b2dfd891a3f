"""Jobs driven over a real storage by evaluator threads: the same trials whatever happens."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from storage.messages import PREPARE
from storage.records import Job, JobState
from storage.storage import Storage
from tests.tuner.analytic import (
    SPEC,
    Evaluators,
    Gate,
    create_job,
    open_storage,
    prepare,
)
from tests.tuner.driving import OUTSIDE, drive, essence, held, run, wait_until
from tuner.coordinator import Coordinator

ROOT = Path(__file__).resolve().parents[2]


def test_a_job_runs_from_its_queue_to_its_budget(storage: Storage) -> None:
    job = run(storage)
    assert (job.state, job.ended_because, job.error) == ("completed", "trials", None)
    assert job.lease_owner is None
    trials = storage.trials.of_job(job.id)
    assert [trial.number for trial in trials] == list(range(1, len(trials) + 1))
    baselines = [trial for trial in trials if trial.kind == "baseline"]
    assert [trial.label for trial in baselines] == [
        "mesh-2d",
        "mesh-3d",
        "torus-2d",
        "torus-3d",
        "random original mpich",
        "random original ompi",
    ]
    assert trials[: len(baselines)] == baselines
    assert len(trials) == len(baselines) + SPEC["budget"]["trials"]
    assert len({trial.configuration_sha256 for trial in trials}) == len(trials)
    assert {"completed", "censored", "failed"} >= {trial.state for trial in trials}


def test_the_cutoff_of_a_trial_is_the_best_value_told_before_it_was_asked(storage: Storage) -> None:
    """Of points of the space: a baseline outside it bounds nothing, and all others are known."""
    job = run(storage, batch=3, cutoff_factor=1.25)
    trials = storage.trials.of_job(job.id)
    for asked in trials:
        told = [
            t
            for t in trials
            if (t.kind == "baseline" or t.number <= asked.number - 3) and t.label not in OUTSIDE
        ]
        values = [t.value for t in told if t.state == "completed" and t.value is not None]
        expected = min(values) * 1.25 if values and asked.kind == "search" else None
        assert asked.cutoff == expected


@pytest.mark.parametrize("workers", [1, 4])
def test_workers_of_any_number_and_speed_lead_to_the_same_trials(
    storage: Storage, workers: int, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = run(storage, workers=workers, delay=0.03)
    assert essence(storage, job) == undisturbed


def test_a_killed_coordinator_is_followed_by_one_that_ends_with_the_same_trials(
    tmp_path: Path, undisturbed: list[tuple[Any, ...]]
) -> None:
    storage = open_storage(tmp_path)
    job = create_job(storage)
    _kill_and_go_on(storage, tmp_path, job)
    assert essence(storage, job) == undisturbed
    storage.close()


PRICED: dict[str, Any] = {
    "search": {
        **SPEC["search"],
        "topology": [
            {"family": "optimised", "degree": [5, 3], "iterations": 50, "instances": 2},
            {"family": "random", "degree": [3, 4, 5], "instances": 4},
            "torus-2d",
        ],
    },
    "objective": ["time", "cost"],
    "constraints": {"cables": 35, "diameter": 5},
    "budget": {"trials": 30},
}


@pytest.fixture(scope="module")
def undisturbed_front(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The trials of a job with two objectives and limits, run by one worker at a time."""
    storage = open_storage(tmp_path_factory.mktemp("front"))
    job = run(storage, workers=1, **PRICED)
    assert job.state == "completed"
    assert storage.outlooks.of_job(job.id) == []  # a gain in time alone says nothing of a front
    trials = essence(storage, job)
    storage.close()
    return trials


def test_time_is_weighed_against_cost_to_the_same_trials_after_a_kill(
    tmp_path: Path, undisturbed_front: list[tuple[Any, ...]]
) -> None:
    storage = open_storage(tmp_path)
    job = create_job(storage, **PRICED)
    _kill_and_go_on(storage, tmp_path, job)
    assert essence(storage, job) == undisturbed_front
    storage.close()


def test_a_baseline_that_takes_long_to_price_is_looked_at_before_it_is_evaluated(
    storage: Storage, undisturbed_front: list[tuple[Any, ...]]
) -> None:
    """Whoever asks for the space is told of the same baselines; none that breaks a limit runs."""
    with Evaluators(storage, 2) as evaluators:
        job = drive(storage, create_job(storage, **PRICED), evaluators.dispatch)
        trials = storage.trials.of_job(job.id)
        refused = [trial for trial in trials if trial.state == "infeasible"]
        assert evaluators.evaluated() == len(trials) - len(refused)
    assert essence(storage, job) == undisturbed_front
    assert job.space is not None
    assert job.space["baselines"] == [t.label for t in trials if t.kind == "baseline"]
    assert {t.label for t in refused} == {"optimised original mpich", "optimised original ompi"}
    for trial in refused:
        assert trial.reason is not None
        assert "more than the 35 of constraints.cables" in trial.reason["message"]


def _kill_and_go_on(storage: Storage, folder: Path, job: Job) -> None:
    """Kill two coordinators in the middle of a job, and drive it to its end."""
    for finished in (4, 22):
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.tuner.analytic"),
                *(str(folder), job.id, "2", str(finished)),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        wait_until(lambda count=finished: storage.jobs.get(job.id).evaluations >= count)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: _lease_is_free(storage, job))
    with Evaluators(storage, 2) as evaluators:
        ended = drive(storage, job, evaluators.dispatch)
    assert ended.state == "completed"


def _lease_is_free(storage: Storage, job: Job) -> bool:
    expires = storage.jobs.get(job.id).lease_expires_at
    return expires is None or expires < time.time()


def test_a_coordinator_that_stops_leaves_the_job_to_the_next(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)

    def have_spent(count: int) -> bool:
        return storage.jobs.get(job.id).evaluations == count

    for passes in (0, 20):
        before = storage.jobs.get(job.id).evaluations
        gate = Gate(passes)
        with Evaluators(storage, 2, gate) as evaluators:
            coordinator = Coordinator(storage, evaluators.dispatch, "first", embedded=True)
            stop = threading.Event()
            serving = threading.Thread(target=coordinator.serve, args=(stop,))
            serving.start()
            wait_until(partial(have_spent, before + passes))
            stop.set()
            serving.join()
            left = storage.jobs.get(job.id)
            assert left.state in ("queued", "preparing", "running")
            assert left.lease_owner is None
            gate.open()
    with Evaluators(storage, 2) as evaluators:
        assert drive(storage, job, evaluators.dispatch).state == "completed"
    assert essence(storage, job) == undisturbed


def test_a_paused_job_finishes_what_is_in_flight_and_resumes_to_the_same_trials(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    for passes in (2, 17):
        with held(storage, job, passes):
            # The workers may have drained what was asked while OpenTuner still starts.
            wait_until(lambda: storage.trials.unfinished(job.id) != [])
            storage.jobs.transition(job.id, "pausing")
        assert storage.jobs.get(job.id).state == "paused"
        assert storage.trials.unfinished(job.id) == []
        storage.jobs.transition(job.id, "queued")
    with Evaluators(storage, 2) as evaluators:
        assert drive(storage, job, evaluators.dispatch).state == "completed"
    assert essence(storage, job) == undisturbed


@pytest.mark.parametrize("resumed", ["queued", "running"])
def test_a_job_that_is_resumed_before_it_has_paused_runs_on(
    storage: Storage, undisturbed: list[tuple[Any, ...]], resumed: JobState
) -> None:
    job = create_job(storage)
    with held(storage, job, 8):
        # Else it may see the pause with nothing in flight, while OpenTuner still starts.
        wait_until(lambda: storage.trials.unfinished(job.id) != [])
        storage.jobs.transition(job.id, "pausing")
        storage.jobs.transition(job.id, resumed)
    assert storage.jobs.get(job.id).state == "completed"
    assert essence(storage, job) == undisturbed


def test_a_cancelled_job_stops_with_its_open_trials_cancelled(storage: Storage) -> None:
    job = create_job(storage)
    with held(storage, job, 10):
        wait_until(lambda: storage.trials.unfinished(job.id) != [])
        storage.jobs.transition(job.id, "cancelling")
        wait_until(lambda: storage.jobs.get(job.id).state == "cancelled")
    states = [trial.state for trial in storage.trials.of_job(job.id)]
    assert states.count("cancelled") == len(states) - 10 > 0


def test_a_job_is_cancelled_or_paused_while_it_is_prepared(storage: Storage) -> None:
    for wish, end in (("cancelling", "cancelled"), ("pausing", "paused")):
        job = create_job(storage)
        with Evaluators(storage, 0) as evaluators:
            driving = threading.Thread(target=drive, args=(storage, job, evaluators.dispatch))
            driving.start()
            wait_until(lambda: evaluators.sent != [])
            storage.jobs.transition(job.id, wish)  # type: ignore[arg-type]
            driving.join()
            assert evaluators.sent == [(PREPARE, job.id)]
        assert storage.jobs.get(job.id).state == end


def test_a_job_that_cannot_be_prepared_is_left_as_failed(storage: Storage) -> None:
    job = create_job(storage)
    with Evaluators(storage, 0) as evaluators:
        driving = threading.Thread(target=drive, args=(storage, job, evaluators.dispatch))
        driving.start()
        wait_until(lambda: evaluators.sent != [])
        storage.jobs.transition(job.id, "failed", error="cg does not compile")
        driving.join()
    assert storage.jobs.get(job.id).error == "cg does not compile"


def test_an_application_that_is_known_is_not_prepared_again(storage: Storage) -> None:
    job = create_job(storage)
    prepare(storage, job.id)
    with Evaluators(storage, 2) as evaluators:
        assert drive(storage, job, evaluators.dispatch).state == "completed"
        assert PREPARE not in [task for task, _ in evaluators.sent]


def test_an_unknown_technique_fails_the_job_with_those_that_are_allowed(storage: Storage) -> None:
    job = run(storage, techniques=["magic"])
    assert job.state == "failed"
    assert job.error is not None
    assert "unknown technique 'magic'; allowed: " in job.error


def test_several_jobs_are_served_at_once(storage: Storage) -> None:
    jobs = [create_job(storage, seed=seed, budget={"trials": 8}) for seed in range(3)]
    stop = threading.Event()
    with Evaluators(storage, 2) as evaluators:
        coordinator = Coordinator(storage, evaluators.dispatch, "test", embedded=True)
        serving = threading.Thread(target=coordinator.serve, args=(stop,))
        serving.start()
        wait_until(lambda: all(storage.jobs.get(j.id).state == "completed" for j in jobs))
        stop.set()
        serving.join()
