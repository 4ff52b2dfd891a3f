"""Jobs driven over a real storage by evaluator threads: the same trials whatever happens."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from storage.messages import EVALUATE, PREPARE
from storage.records import Job, JobState, Outcome
from storage.storage import Storage
from tests.tuner.analytic import (
    SPEC,
    Evaluators,
    Gate,
    create_job,
    open_storage,
    prepare,
    simulated,
)
from tuner.coordinator import Coordinator
from tuner.evaluations import Silence

ROOT = Path(__file__).resolve().parents[2]

OUTSIDE = {"mesh-2d", "mesh-3d", "torus-3d"}
"""The baselines of the standard job that its space does not contain."""
LEASE_SECONDS = 600.0
"""Far longer than any test takes."""
AN_HOUR = 3600.0


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


def drive(
    storage: Storage, job: Job, evaluators: Evaluators, *, embedded: bool = True, **options: Any
) -> Job:
    """Take the job, run it in this thread, and return it as it then stands."""
    leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
    assert leased is not None
    coordinator = Coordinator(storage, evaluators.dispatch, "test", embedded=embedded, **options)
    coordinator.run_job(leased)
    return storage.get_job(job.id)


def run(storage: Storage, *, workers: int = 2, delay: float = 0.0, **changes: Any) -> Job:
    with Evaluators(storage, workers, delay=delay) as evaluators:
        return drive(storage, create_job(storage, **changes), evaluators)


def essence(storage: Storage, job: Job) -> list[tuple[Any, ...]]:
    """What must be equal in two runs of a job."""
    return [
        (t.number, t.kind, t.label, t.configuration_sha256, t.technique, t.cutoff, t.state, t.value)
        for t in storage.list_trials(job.id)
    ]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The trials of the standard job, run by one worker at a time."""
    storage = open_storage(tmp_path_factory.mktemp("undisturbed"))
    trials = essence(storage, run(storage, workers=1))
    storage.close()
    return trials


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.01)


def change(storage: Storage, statement: str, **values: Any) -> None:
    """Change what is stored, in one transaction."""
    with storage._database.writing() as session:
        session.execute(text(statement), values)


def let_an_hour_pass(storage: Storage, worker: str) -> None:
    """Nothing was heard of a worker since then; all others have as long to live as ever."""
    change(
        storage,
        "UPDATE attempts SET heartbeat_at = heartbeat_at - :hour"
        " WHERE state = 'running' AND worker = :worker",
        hour=AN_HOUR,
        worker=worker,
    )


def test_a_job_runs_from_its_queue_to_its_budget(storage: Storage) -> None:
    job = run(storage)
    assert (job.state, job.ended_because, job.error) == ("completed", "trials", None)
    assert job.lease_owner is None
    trials = storage.list_trials(job.id)
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
    trials = storage.list_trials(job.id)
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
    for finished in (4, 22):
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.tuner.analytic"),
                *(str(tmp_path), job.id, "2", str(finished)),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        wait_until(lambda count=finished: storage.evaluations_spent(job.id) >= count)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: _lease_is_free(storage, job))
    with Evaluators(storage, 2) as evaluators:
        ended = drive(storage, job, evaluators)
    assert ended.state == "completed"
    assert essence(storage, job) == undisturbed
    storage.close()


def _lease_is_free(storage: Storage, job: Job) -> bool:
    expires = storage.get_job(job.id).lease_expires_at
    return expires is None or expires < time.time()


@contextmanager
def held(storage: Storage, job: Job, passes: int) -> Iterator[tuple[Evaluators, Gate]]:
    """Two workers and a coordinator's thread, when so many more trials are done, and no more."""
    gate = Gate(passes)
    done = storage.evaluations_spent(job.id) + passes
    with Evaluators(storage, 2, gate) as evaluators:
        driving = threading.Thread(target=drive, args=(storage, job, evaluators))
        driving.start()
        wait_until(lambda: storage.evaluations_spent(job.id) == done)
        try:
            yield evaluators, gate
        finally:
            gate.open()
            driving.join()


def test_a_coordinator_that_stops_leaves_the_job_to_the_next(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    for passes in (0, 20):
        before = storage.evaluations_spent(job.id)
        gate = Gate(passes)
        with Evaluators(storage, 2, gate) as evaluators:
            coordinator = Coordinator(storage, evaluators.dispatch, "first", embedded=True)
            stop = threading.Event()
            serving = threading.Thread(target=coordinator.serve, args=(stop,))
            serving.start()
            wait_until(lambda count=before + passes: storage.evaluations_spent(job.id) == count)  # type: ignore[misc]
            stop.set()
            serving.join()
            left = storage.get_job(job.id)
            assert left.state in ("queued", "preparing", "running")
            assert left.lease_owner is None
            gate.open()
    with Evaluators(storage, 2) as evaluators:
        assert drive(storage, job, evaluators).state == "completed"
    assert essence(storage, job) == undisturbed


def test_a_paused_job_finishes_what_is_in_flight_and_resumes_to_the_same_trials(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    for passes in (2, 17):
        with held(storage, job, passes):
            # The workers may have drained what was asked while OpenTuner still starts.
            wait_until(lambda: storage.open_trials(job.id) != [])
            storage.transition(job.id, "pausing")
        assert storage.get_job(job.id).state == "paused"
        assert storage.open_trials(job.id) == []
        storage.transition(job.id, "queued")
    with Evaluators(storage, 2) as evaluators:
        assert drive(storage, job, evaluators).state == "completed"
    assert essence(storage, job) == undisturbed


@pytest.mark.parametrize("resumed", ["queued", "running"])
def test_a_job_that_is_resumed_before_it_has_paused_runs_on(
    storage: Storage, undisturbed: list[tuple[Any, ...]], resumed: JobState
) -> None:
    job = create_job(storage)
    with held(storage, job, 8):
        # Else it may see the pause with nothing in flight, while OpenTuner still starts.
        wait_until(lambda: storage.open_trials(job.id) != [])
        storage.transition(job.id, "pausing")
        storage.transition(job.id, resumed)
    assert storage.get_job(job.id).state == "completed"
    assert essence(storage, job) == undisturbed


def test_a_cancelled_job_stops_with_its_open_trials_cancelled(storage: Storage) -> None:
    job = create_job(storage)
    with held(storage, job, 10):
        wait_until(lambda: storage.open_trials(job.id) != [])
        storage.transition(job.id, "cancelling")
        wait_until(lambda: storage.get_job(job.id).state == "cancelled")
    states = [trial.state for trial in storage.list_trials(job.id)]
    assert states.count("cancelled") == len(states) - 10 > 0


def test_a_job_is_cancelled_or_paused_while_it_is_prepared(storage: Storage) -> None:
    for wish, end in (("cancelling", "cancelled"), ("pausing", "paused")):
        job = create_job(storage)
        with Evaluators(storage, 0) as evaluators:
            driving = threading.Thread(target=drive, args=(storage, job, evaluators))
            driving.start()
            wait_until(lambda: evaluators.sent != [])
            storage.transition(job.id, wish)  # type: ignore[arg-type]
            driving.join()
            assert evaluators.sent == [(PREPARE, job.id)]
        assert storage.get_job(job.id).state == end


def test_a_job_that_cannot_be_prepared_is_left_as_failed(storage: Storage) -> None:
    job = create_job(storage)
    with Evaluators(storage, 0) as evaluators:
        driving = threading.Thread(target=drive, args=(storage, job, evaluators))
        driving.start()
        wait_until(lambda: evaluators.sent != [])
        storage.transition(job.id, "failed", error="cg does not compile")
        driving.join()
    assert storage.get_job(job.id).error == "cg does not compile"


def test_an_application_that_is_known_is_not_prepared_again(storage: Storage) -> None:
    job = create_job(storage)
    prepare(storage, job.id)
    with Evaluators(storage, 2) as evaluators:
        assert drive(storage, job, evaluators).state == "completed"
        assert PREPARE not in [task for task, _ in evaluators.sent]


def test_a_small_space_is_exhausted(storage: Storage) -> None:
    job = run(
        storage,
        search={"topology": ["torus-2d", "torus-3d"], "ordering": ["original", "hamorder"]},
        budget={"trials": 100},
    )
    assert (job.state, job.ended_because) == ("completed", "exhausted")
    trials = storage.list_trials(job.id)
    assert len({trial.configuration_sha256 for trial in trials}) == len(trials) == 4 + 2


def test_evaluations_end_a_job(storage: Storage) -> None:
    job = run(storage, budget={"evaluations": 10})
    assert (job.ended_because, job.evaluations) == ("evaluations", 10)
    assert len(storage.list_trials(job.id)) == 10


def test_cpu_seconds_end_a_job(storage: Storage) -> None:
    job = run(storage, budget={"cpu_seconds": 5.0})
    assert job.ended_because == "cpu_seconds"
    assert 5.0 <= job.cpu_seconds <= 5.0 + 0.5 * job.spec["batch"]


def test_a_job_ends_where_its_model_holds_nothing_better_likely(storage: Storage) -> None:
    """The order decides, and the model sees that; after as many trials whatever happens."""

    def ordered(configuration: Mapping[str, Any]) -> Outcome:
        value = 1.0 if configuration.get("ordering") == "hamorder" else 2.0
        return Outcome(status="completed", value=value, cpu_seconds=0.5)

    gate = Gate(25)

    def held_back(configuration: Mapping[str, Any]) -> Outcome:
        gate(configuration)
        return ordered(configuration)

    jobs = [create_job(storage, budget={"until": "1%"}) for _ in range(3)]
    for job, workers in zip(jobs, (1, 3), strict=False):
        with Evaluators(storage, workers, ordered) as evaluators:
            drive(storage, job, evaluators)
    with Evaluators(storage, 2, held_back) as evaluators:
        coordinator = Coordinator(storage, evaluators.dispatch, "first", embedded=True)
        stop = threading.Event()
        serving = threading.Thread(target=coordinator.serve, args=(stop,))
        serving.start()
        wait_until(lambda: storage.evaluations_spent(jobs[2].id) == 25)
        stop.set()
        serving.join()
        gate.open()
        drive(storage, jobs[2], evaluators)
    assert [storage.get_job(job.id).ended_because for job in jobs] == ["until"] * 3
    one, *others = (essence(storage, job) for job in jobs)
    assert others == [one, one]
    assert 25 < len(one) < 60


def test_patience_and_targets_end_a_job(storage: Storage) -> None:
    job = run(storage, budget={"patience": 8})
    assert job.ended_because == "patience"
    trials = [t for t in storage.list_trials(job.id) if t.label not in OUTSIDE]
    values = [t.value if t.state == "completed" else None for t in trials]
    best = min(value for value in values if value is not None)
    assert 8 <= len(values) - 1 - values.index(best) < 8 + job.spec["batch"]

    job = run(storage, budget={"target": best})
    assert job.ended_because == "target"
    trials = [t for t in storage.list_trials(job.id) if t.label not in OUTSIDE]
    assert best in [t.value for t in trials if t.state == "completed"]


def test_wall_seconds_end_a_job(storage: Storage) -> None:
    job = create_job(storage, budget={"wall_seconds": AN_HOUR})
    with held(storage, job, 10):
        storage.transition(job.id, "pausing")
    trials = storage.list_trials(job.id)
    assert storage.get_job(job.id).state == "paused"
    change(storage, "UPDATE jobs SET active_seconds = active_seconds + :hour", hour=AN_HOUR)
    storage.transition(job.id, "queued")
    with Evaluators(storage, 2) as evaluators:
        job = drive(storage, job, evaluators)
    assert (job.state, job.ended_because) == ("completed", "wall_seconds")
    assert job.active_seconds >= AN_HOUR
    assert storage.list_trials(job.id) == trials


def test_a_job_out_of_time_before_any_trial_has_failed(storage: Storage) -> None:
    job = run(storage, budget={"wall_seconds": 1e-6})
    assert job.state == "failed"
    assert job.error == "no trial of the search space was completed within the budget"


def test_a_cached_trial_is_no_evaluation(storage: Storage) -> None:
    def half_known(configuration: Mapping[str, Any]) -> Outcome:
        known = configuration["ordering"] == "original"
        return replace(simulated(configuration), cached=known)

    job = create_job(storage, budget={"evaluations": 8})
    with Evaluators(storage, 2, half_known) as evaluators:
        job = drive(storage, job, evaluators)
    assert job.ended_because == "evaluations"
    cached = [trial.cached for trial in storage.list_trials(job.id)]
    assert cached.count(False) == 8
    assert cached.count(True) > 0


def test_single_failures_do_not_end_a_job(
    undisturbed: list[tuple[Any, ...]],
) -> None:
    states = [trial[6] for trial in undisturbed]
    assert 0 < states.count("failed") < len(states) / 2


RANDOM = {"topology": [{"family": "random", "instances": 20}]}


def fail(configuration: Mapping[str, Any]) -> Outcome:
    kind = "torus" if configuration["topology"] == "torus-2d" else "memory"
    message = "SMPI aborted" if kind == "torus" else "more than 4 GiB of memory were needed"
    return Outcome(status="failed", reason={"kind": kind, "message": message})


def test_a_job_whose_every_trial_fails_has_failed_for_the_commonest_reason(
    storage: Storage,
) -> None:
    with Evaluators(storage, 2, fail) as evaluators:
        job = drive(storage, create_job(storage, budget={"trials": 10}), evaluators)
    assert job.state == "failed"
    assert job.error is not None
    assert "none of the 13 trials" in job.error
    assert "more than 4 GiB" in job.error


def test_a_job_without_hope_does_not_spend_its_whole_budget(storage: Storage) -> None:
    with Evaluators(storage, 2, fail) as evaluators:
        job = drive(storage, create_job(storage, budget={"trials": 5000}), evaluators)
    assert job.state == "failed"
    assert len(storage.list_trials(job.id)) <= 100 + len(OUTSIDE) + job.spec["batch"]


def test_a_baseline_outside_the_space_is_no_result(storage: Storage) -> None:
    def only_grids(configuration: Mapping[str, Any]) -> Outcome:
        if configuration["topology"] != "random":
            return Outcome(status="completed", value=0.001)
        return fail(configuration)

    with Evaluators(storage, 2, only_grids) as evaluators:
        job = drive(storage, create_job(storage, search=RANDOM, budget={"trials": 5}), evaluators)
    assert job.state == "failed"


def test_combinations_that_cannot_run_are_infeasible_without_being_dispatched(
    storage: Storage,
) -> None:
    """16 ranks on 12 hosts of two cores: round-robin leaves some hosts with one rank."""
    job = create_job(
        storage,
        machine={**SPEC["machine"], "nodes": 12, "cores_per_host": 2},
        search={
            "topology": ["torus-2d"],
            "mapping": ["packed", "round-robin"],
            "collectives": {
                "allgather": ["default", "mvapich2_smp"],
                "scatter": ["default", "mvapich2_two_level_direct"],
            },
        },
    )
    with Evaluators(storage, 2) as evaluators:
        job = drive(storage, job, evaluators)
        trials = storage.list_trials(job.id)
        infeasible = [t for t in trials if t.state == "infeasible"]
        assert evaluators.evaluated() == len(trials) - len(infeasible)
    assert len(infeasible) == 3
    for trial in infeasible:
        assert trial.reason is not None
        assert trial.reason["kind"] == "constraint"
        assert "round-robin" in trial.reason["message"]


def test_a_silent_worker_loses_its_trial_to_another(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    with Evaluators(storage, 2) as evaluators:
        swallowed: list[str] = []

        def dispatch(task: str, identifier: str) -> None:
            if task == EVALUATE and len(swallowed) < 3 and identifier.endswith("-1"):
                swallowed.append(identifier)
                storage.begin_attempt(identifier, "dead worker")
                let_an_hour_pass(storage, "dead worker")
            else:
                evaluators.dispatch(task, identifier)

        leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
        assert leased is not None
        Coordinator(storage, dispatch, "test").run_job(leased)
    assert len(swallowed) == 3
    assert storage.get_job(job.id).state == "completed"
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

        leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
        assert leased is not None
        silence = Silence(resend_seconds=0.01)
        Coordinator(storage, dispatch, "test", silence=silence).run_job(leased)
    assert len(lost) == 5
    assert essence(storage, job) == undisturbed


def test_a_trial_that_every_worker_dies_of_has_failed(storage: Storage) -> None:
    job = create_job(storage, budget={"trials": 4}, batch=2)
    with Evaluators(storage, 2) as evaluators:

        def dispatch(task: str, identifier: str) -> None:
            if task == EVALUATE and identifier.startswith(f"{job.id}-6-"):
                storage.begin_attempt(identifier, "doomed worker")
                let_an_hour_pass(storage, "doomed worker")
            else:
                evaluators.dispatch(task, identifier)

        leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
        assert leased is not None
        silence = Silence(losses=2)
        Coordinator(storage, dispatch, "test", silence=silence).run_job(leased)
    assert storage.get_job(job.id).state == "completed"
    trial = storage.get_trial(job.id, 6)
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
                        storage.begin_attempt(attempt, "doomed worker")
                    taken.clear()
                    let_an_hour_pass(storage, "doomed worker")
            else:
                evaluators.dispatch(task, identifier)

        leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
        assert leased is not None
        silence = Silence(losses=2)
        Coordinator(storage, dispatch, "test", silence=silence).run_job(leased)
    assert [storage.get_trial(job.id, number).state for number in (5, 6)] == ["completed", "failed"]


def test_an_attempt_handed_back_is_dispatched_again(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    with Evaluators(storage, 2) as evaluators:

        def dispatch(task: str, identifier: str) -> None:
            if task == EVALUATE and identifier == f"{job.id}-5-1":
                storage.begin_attempt(identifier, "stopping worker")
                storage.release_attempt(identifier)
            else:
                evaluators.dispatch(task, identifier)

        leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
        assert leased is not None
        Coordinator(storage, dispatch, "test").run_job(leased)
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

        leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
        assert leased is not None
        Coordinator(storage, dispatch, "test").run_job(leased)
    assert essence(storage, job) == undisturbed


def test_a_coordinator_that_lost_its_lease_stops_without_writing(storage: Storage) -> None:
    job = create_job(storage)
    with Evaluators(storage, 1, delay=0.05) as evaluators:
        first = storage.acquire_lease("first", 0.01, job.id)
        assert first is not None
        time.sleep(0.02)
        second = storage.acquire_lease("second", 60.0, job.id)
        assert second is not None
        Coordinator(storage, evaluators.dispatch, "first").run_job(first)
        assert evaluators.sent == []
    after = storage.get_job(job.id)
    assert (after.state, after.lease_owner) == ("queued", "second")
    assert after.lease_token == second.lease_token


def test_a_job_taken_over_in_the_middle_is_driven_by_the_new_coordinator_alone(
    storage: Storage, undisturbed: list[tuple[Any, ...]]
) -> None:
    job = create_job(storage)
    gate = Gate(10)
    with Evaluators(storage, 2, gate) as evaluators:
        leased = storage.acquire_lease("first", LEASE_SECONDS, job.id)
        assert leased is not None
        slow = Coordinator(storage, evaluators.dispatch, "first", lease_seconds=LEASE_SECONDS)
        driving = threading.Thread(target=slow.run_job, args=(leased,))
        driving.start()
        wait_until(lambda: storage.evaluations_spent(job.id) == 10)
        # As if it had not renewed it in time.
        change(storage, "UPDATE jobs SET lease_expires_at = lease_expires_at - :hour", hour=AN_HOUR)
        leased = storage.acquire_lease("second", LEASE_SECONDS, job.id)
        assert leased is not None
        gate.open()
        Coordinator(storage, evaluators.dispatch, "second", embedded=True).run_job(leased)
        driving.join()
    ended = storage.get_job(job.id)
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
        wait_until(lambda: storage.evaluations_spent(job.id) == 10)
        change(storage, "UPDATE jobs SET lease_expires_at = lease_expires_at - :hour", hour=AN_HOUR)
        other = create_job(storage)  # it has looked for jobs again once it has taken this one
        wait_until(lambda: storage.get_job(other.id).lease_owner is not None)
        gate.open()
        wait_until(lambda: storage.get_job(job.id).state == "completed")
        stop.set()
        serving.join()
    assert storage.get_job(job.id).lease_token == 1
    assert essence(storage, job) == undisturbed


def test_a_trial_stored_otherwise_than_it_is_asked_fails_the_job(storage: Storage) -> None:
    job = create_job(storage)
    prepare(storage, job.id)
    leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
    assert leased is not None
    storage.transition(job.id, "running", token=leased.lease_token)
    storage.propose_trial(
        job.id,
        leased.lease_token,
        number=1,
        kind="baseline",
        label="mesh-2d",
        configuration={"topology": "other"},
        configuration_sha256="f" * 64,
        technique=None,
        cutoff=None,
    )
    with Evaluators(storage, 1) as evaluators:
        Coordinator(storage, evaluators.dispatch, "test").run_job(leased)
    failed = storage.get_job(job.id)
    assert failed.state == "failed"
    assert failed.error is not None
    assert "trial 1 was stored with another configuration" in failed.error


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
        wait_until(lambda: all(storage.get_job(j.id).state == "completed" for j in jobs))
        stop.set()
        serving.join()


def test_the_search_process_may_die_without_harm(
    storage: Storage, undisturbed: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tuner import session

    made: list[session.TunerSession] = []
    original = session.TunerSession.__init__

    def remember(self: session.TunerSession, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        made.append(self)

    monkeypatch.setattr(session.TunerSession, "__init__", remember)
    job = create_job(storage)
    with held(storage, job, 10):
        made[0]._process.kill()
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

        leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
        assert leased is not None
        silence = Silence(preparing_seconds=0.1)
        Coordinator(storage, dispatch, "test", silence=silence).run_job(leased)
        assert evaluators.sent.count((PREPARE, job.id)) >= 1
    assert lost == [job.id, job.id]
    assert essence(storage, job) == undisturbed


def test_a_preparation_that_a_worker_has_claimed_is_not_asked_for_again(storage: Storage) -> None:
    job = create_job(storage)
    asked: list[str] = []

    def dispatch(task: str, identifier: str) -> None:
        asked.append(task)
        assert storage.claim_preparation(identifier, "worker")

    leased = storage.acquire_lease("test", LEASE_SECONDS, job.id)
    assert leased is not None
    looks = 0
    is_being_prepared = storage.is_being_prepared

    def counted(job_id: str, **options: Any) -> bool:
        nonlocal looks
        looks += 1
        return is_being_prepared(job_id, **options)

    storage.is_being_prepared = counted  # type: ignore[method-assign]
    stop = threading.Event()
    silence = Silence(preparing_seconds=0.01)
    coordinator = Coordinator(storage, dispatch, "test", silence=silence)
    driving = threading.Thread(target=coordinator.run_job, args=(leased, stop))
    driving.start()
    wait_until(lambda: looks > 3)
    assert asked == [PREPARE]
    storage.release_preparation(job.id, "worker")
    wait_until(lambda: len(asked) == 2)
    stop.set()
    driving.join()
