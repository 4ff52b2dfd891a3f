"""Jobs that search on a truncated trace and verify the best trials on the whole one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.records import Job, Outcome, Trial
from storage.storage import Storage
from tests.tuner.analytic import SPEC, Evaluators, create_job, open_storage, simulated
from tuner.convergence import convergence
from tuner.coordinator import Coordinator

FINALISTS = 5


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


def run(storage: Storage, *, workers: int = 2, objective: Any = simulated, **changes: Any) -> Job:
    job = create_job(storage, fidelity="auto", **changes)
    leased = storage.acquire_lease("test", 10.0, job.id)
    assert leased is not None
    with Evaluators(storage, workers, objective, delay=0.002) as evaluators:
        Coordinator(storage, evaluators.dispatch, "test", embedded=True).run_job(leased)
    return storage.get_job(job.id)


def essence(trials: list[Trial]) -> list[tuple[Any, ...]]:
    return [(t.number, t.kind, t.configuration_sha256, t.cutoff, t.state, t.value) for t in trials]


def test_the_best_estimates_are_verified_and_one_of_them_is_the_best(storage: Storage) -> None:
    job = run(storage)
    assert (job.state, job.ended_because) == ("completed", "trials")
    trials = storage.list_trials(job.id)
    estimates = [t for t in trials if t.kind == "search"]
    verified = [t for t in trials if t.kind == "verification"]
    assert len(estimates) == SPEC["budget"]["trials"]
    assert {t.fidelity for t in estimates} == {"low"}
    assert {t.fidelity for t in trials if t.kind != "search"} == {"full"}
    assert trials[-FINALISTS:] == verified

    completed = [t for t in estimates if t.state == "completed"]
    ranked = sorted(completed, key=lambda t: (t.value or 0.0, t.number))
    evaluated = {t.configuration_sha256 for t in trials if t.kind == "baseline"}
    finalists = [t.configuration_sha256 for t in ranked]
    finalists = [digest for digest in finalists if digest not in evaluated]
    assert [t.configuration_sha256 for t in verified] == finalists[:FINALISTS]

    best = storage.best_trial(job.id)
    assert best is not None
    assert best.fidelity == "full"
    assert best.value == simulated(best.configuration).value
    assert best.value == min(
        t.value for t in trials if t.inside and t.state == "completed" and t.value is not None
    )


def test_the_trials_do_not_depend_on_the_workers(storage: Storage) -> None:
    jobs = [run(storage, workers=workers) for workers in (1, 3)]
    first, second = (storage.list_trials(job.id) for job in jobs)
    assert essence(first) == essence(second)


def test_estimates_are_measured_against_estimates(storage: Storage) -> None:
    trials = storage.list_trials(run(storage).id)
    values = [t.value for t in trials if t.fidelity == "low" and t.value is not None]
    assert {t.cutoff for t in trials if t.fidelity == "low"} <= {None, *values}
    verified = [t.value for t in trials if t.fidelity == "full" and t.value is not None]
    assert {t.cutoff for t in trials if t.kind == "verification"} <= {None, *verified}


def test_evaluations_of_finalists_are_kept_back(storage: Storage) -> None:
    job = run(storage, budget={"evaluations": 20})
    assert job.ended_because == "evaluations"
    assert job.evaluations == 20
    kinds = [t.kind for t in storage.list_trials(job.id)]
    assert kinds.count("verification") == FINALISTS


def test_the_target_is_for_verified_values(storage: Storage) -> None:
    job = run(storage, budget={"trials": 12, "target": 1e9})
    assert job.ended_because == "trials"


def test_a_job_whose_finalists_all_fail_says_so(storage: Storage) -> None:
    def objective(configuration: Any) -> Outcome:
        return Outcome(status="failed", reason={"kind": "crash", "message": "SMPI aborted"})

    job = run(storage, objective=objective, budget={"trials": 10})
    assert job.state == "failed"
    assert job.error is not None
    assert "SMPI aborted" in job.error


def test_the_course_shows_which_values_are_estimates(storage: Storage) -> None:
    job = run(storage)
    course = convergence(storage.trial_points(job.id), started_at=job.started_at)
    assert {p["fidelity"] for p in course["points"] if p["kind"] == "search"} == {"low"}
    assert course["points"][-1]["kind"] == "verification"
    best = storage.best_trial(job.id)
    assert best is not None
    assert course["best"] == {"trial": best.number, "value": best.value}
