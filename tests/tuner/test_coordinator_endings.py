"""What ends a job: its budget, its space, its search, or that nothing works."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from storage.records import Job, JobState, Outcome
from storage.storage import Storage
from tests.tuner.analytic import SPEC, Evaluators, Gate, create_job, simulated
from tests.tuner.driving import AN_HOUR, OUTSIDE, change, drive, essence, held, run, wait_until
from tuner.coordinator import Coordinator


def test_a_small_space_is_exhausted(storage: Storage) -> None:
    job = run(
        storage,
        search={"topology": ["torus-2d", "torus-3d"], "ordering": ["original", "hamorder"]},
        budget={"trials": 100},
    )
    assert (job.state, job.ended_because) == ("completed", "exhausted")
    trials = storage.trials.of_job(job.id)
    assert len({trial.configuration_sha256 for trial in trials}) == len(trials) == 4 + 2


def test_evaluations_end_a_job(storage: Storage) -> None:
    job = run(storage, budget={"evaluations": 10})
    assert (job.ended_because, job.evaluations) == ("evaluations", 10)
    assert len(storage.trials.of_job(job.id)) == 10


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
            drive(storage, job, evaluators.dispatch)
    with Evaluators(storage, 2, held_back) as evaluators:
        coordinator = Coordinator(storage, evaluators.dispatch, "first", embedded=True)
        stop = threading.Event()
        serving = threading.Thread(target=coordinator.serve, args=(stop,))
        serving.start()
        wait_until(lambda: storage.jobs.get(jobs[2].id).evaluations == 25)
        stop.set()
        serving.join()
        gate.open()
        drive(storage, jobs[2], evaluators.dispatch)
    assert [storage.jobs.get(job.id).ended_because for job in jobs] == ["until"] * 3
    one, *others = (essence(storage, job) for job in jobs)
    assert others == [one, one]
    assert 25 < len(one) < 60
    # So does what the model expected: that nothing more is to be gained.
    outlook, *same = (storage.outlooks.of_job(job.id) for job in jobs)
    assert same == [outlook, outlook]
    assert 0 < len(outlook) < len(one)
    assert outlook[-1].probability < 0.05
    assert outlook[-1].gain < 0.001


def test_patience_and_targets_end_a_job(storage: Storage) -> None:
    job = run(storage, budget={"patience": 8})
    assert job.ended_because == "patience"
    trials = [t for t in storage.trials.of_job(job.id) if t.label not in OUTSIDE]
    values = [t.value if t.state == "completed" else None for t in trials]
    best = min(value for value in values if value is not None)
    assert 8 <= len(values) - 1 - values.index(best) < 8 + job.spec["batch"]

    job = run(storage, budget={"target": best})
    assert job.ended_because == "target"
    trials = [t for t in storage.trials.of_job(job.id) if t.label not in OUTSIDE]
    assert best in [t.value for t in trials if t.state == "completed"]


def test_wall_seconds_end_a_job(storage: Storage) -> None:
    job = create_job(storage, budget={"wall_seconds": AN_HOUR})
    with held(storage, job, 10):
        storage.jobs.transition(job.id, "pausing")
    trials = storage.trials.of_job(job.id)
    assert storage.jobs.get(job.id).state == "paused"
    change(storage, "UPDATE jobs SET active_seconds = active_seconds + :hour", hour=AN_HOUR)
    storage.jobs.transition(job.id, "queued")
    with Evaluators(storage, 2) as evaluators:
        job = drive(storage, job, evaluators.dispatch)
    assert (job.state, job.ended_because) == ("completed", "wall_seconds")
    assert job.active_seconds >= AN_HOUR
    assert storage.trials.of_job(job.id) == trials


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
        job = drive(storage, job, evaluators.dispatch)
    assert job.ended_because == "evaluations"
    cached = [trial.cached for trial in storage.trials.of_job(job.id)]
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
        job = drive(storage, create_job(storage, budget={"trials": 10}), evaluators.dispatch)
    assert job.state == "failed"
    assert job.error is not None
    assert "none of the 13 trials" in job.error
    assert "more than 4 GiB" in job.error


def test_a_job_without_hope_does_not_spend_its_whole_budget(storage: Storage) -> None:
    with Evaluators(storage, 2, fail) as evaluators:
        job = drive(storage, create_job(storage, budget={"trials": 5000}), evaluators.dispatch)
    assert job.state == "failed"
    assert len(storage.trials.of_job(job.id)) <= 100 + len(OUTSIDE) + job.spec["batch"]


def test_a_baseline_outside_the_space_is_no_result(storage: Storage) -> None:
    def only_grids(configuration: Mapping[str, Any]) -> Outcome:
        if configuration["topology"] != "random":
            return Outcome(status="completed", value=0.001)
        return fail(configuration)

    with Evaluators(storage, 2, only_grids) as evaluators:
        job = drive(
            storage, create_job(storage, search=RANDOM, budget={"trials": 5}), evaluators.dispatch
        )
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
        job = drive(storage, job, evaluators.dispatch)
        trials = storage.trials.of_job(job.id)
        infeasible = [t for t in trials if t.state == "infeasible"]
        assert evaluators.evaluated() == len(trials) - len(infeasible)
    assert len(infeasible) == 3
    for trial in infeasible:
        assert trial.reason is not None
        assert trial.reason["kind"] == "constraint"
        assert "round-robin" in trial.reason["message"]


def test_what_is_expected_when_the_last_trials_cannot_run_is_stored_too(storage: Storage) -> None:
    job = create_job(
        storage,
        machine={**SPEC["machine"], "nodes": 12, "cores_per_host": 2},
        search={
            "topology": [{"family": "random", "instances": 6}],
            "mapping": ["packed", "round-robin"],
            "collectives": {
                "allgather": ["default", "mvapich2_smp"],
                "scatter": ["default", "mvapich2_two_level_direct"],
            },
        },
        budget={"trials": 60},
        batch=1,
    )
    with Evaluators(storage, 1) as evaluators:
        drive(storage, job, evaluators.dispatch)
    trials = storage.trials.of_job(job.id)
    assert trials[-1].state == "infeasible"
    assert storage.outlooks.of_job(job.id)[-1].number == trials[-1].number


@pytest.mark.parametrize("fails", [False, True])
def test_a_job_resumed_at_its_very_end_ends(storage: Storage, fails: bool) -> None:
    """It is paused as its last trials end, and resumed just before it is said to have ended."""
    job = create_job(storage, budget={"trials": 6}, batch=2)
    transition, stop = storage.jobs.transition, threading.Event()
    ends: list[str] = []

    def resumed_first(job_id: str, to: JobState, **more: Any) -> Job:
        if to in ("completed", "failed"):
            ends.append(to)
            if len(ends) == 1:
                transition(job_id, "pausing")
                transition(job_id, "queued")
            elif len(ends) == 9:
                stop.set()  # it would go on so for ever
        return transition(job_id, to, **more)

    storage.jobs.transition = resumed_first  # type: ignore[method-assign]
    leased = storage.leases.acquire("test", AN_HOUR, job.id)
    assert leased is not None
    with Evaluators(storage, 2, fail if fails else simulated) as evaluators:
        Coordinator(storage, evaluators.dispatch, "test", embedded=True).run_job(leased, stop)
    end = "failed" if fails else "completed"
    assert storage.jobs.get(job.id).state == end
    assert ends == [end, end]
