"""Jobs that search on a truncated trace and verify the best trials on the whole one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.results.service import best as best_view
from storage.records import Job, Outcome, Trial
from storage.storage import Storage
from tests.tuner.analytic import SPEC, Evaluators, create_job, open_storage, simulated
from tests.tuner.driving import drive
from tuner.convergence import convergence
from tuner.verification import MOST


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Storage, Job]]:
    """A job that has run to its end."""
    opened = open_storage(tmp_path_factory.mktemp("finished"))
    yield opened, run(opened)
    opened.close()


def run(storage: Storage, *, workers: int = 2, objective: Any = simulated, **changes: Any) -> Job:
    job = create_job(storage, fidelity="auto", **changes)
    with Evaluators(storage, workers, objective, delay=0.002) as evaluators:
        return drive(storage, job, evaluators.dispatch)


def essence(trials: list[Trial]) -> list[tuple[Any, ...]]:
    return [(t.number, t.kind, t.configuration_sha256, t.cutoff, t.state, t.value) for t in trials]


def test_until_ends_a_search_on_estimates_which_are_then_verified(storage: Storage) -> None:
    def ordered(configuration: Any) -> Outcome:
        value = 1.0 if configuration.get("ordering") == "hamorder" else 2.0
        return Outcome(status="completed", value=value, cpu_seconds=0.5)

    job = run(storage, objective=ordered, budget={"until": "1%"})
    assert (job.state, job.ended_because) == ("completed", "until")
    kinds = [trial.kind for trial in storage.trials.of_job(job.id)]
    assert kinds[-1] == "verification"


def test_the_best_estimates_are_verified_and_one_of_them_is_the_best(
    finished: tuple[Storage, Job],
) -> None:
    storage, job = finished
    assert (job.state, job.ended_because) == ("completed", "trials")
    trials = storage.trials.of_job(job.id)
    estimates = [t for t in trials if t.kind == "search"]
    verified = [t for t in trials if t.kind == "verification"]
    assert len(estimates) == SPEC["budget"]["trials"]
    assert {t.fidelity for t in estimates} == {"low"}
    assert {t.fidelity for t in verified} == {"full"}
    assert 1 <= len(verified) <= MOST
    assert trials[-len(verified) :] == verified

    completed = [t for t in trials if t.fidelity == "low" and t.state == "completed"]
    ranked = sorted(completed, key=lambda t: (t.value or 0.0, t.number))
    evaluated = {t.configuration_sha256 for t in trials if t.kind == "baseline"}
    outside = {t.configuration_sha256 for t in trials if t.kind == "baseline" and not t.inside}
    finalists = [t.configuration_sha256 for t in ranked]
    finalists = [digest for digest in finalists if digest not in evaluated | outside]
    assert [t.configuration_sha256 for t in verified] == finalists[: len(verified)]

    best = storage.trials.best(job.id)
    assert best is not None
    assert best.fidelity == "full"
    assert best.value == simulated(best.configuration).value
    assert best.value == min(
        t.value for t in trials if t.inside and t.state == "completed" and t.value is not None
    )


def test_baselines_are_estimated_and_the_best_evaluated_on_the_whole_trace(
    finished: tuple[Storage, Job],
) -> None:
    storage, job = finished
    assert job.space is not None
    labels = job.space["baselines"]
    trials = storage.trials.of_job(job.id)
    estimates = trials[: len(labels)]
    assert [(t.kind, t.fidelity) for t in estimates] == [("estimate", "low")] * len(labels)
    assert {t.label for t in estimates} == set(labels)
    values = {t.label: t.value for t in estimates if t.value is not None}
    whole = [t for t in trials if t.kind == "baseline"]
    assert {t.fidelity for t in whole} == {"full"}
    in_order = sorted(values, key=lambda label: values[label])
    assert [t.label for t in whole] == in_order[: len(whole)]

    shown = best_view(storage, job.id)
    assert shown.estimates == values
    assert shown.baselines == {t.label: t.value for t in whole if t.state == "completed"}
    assert shown.baseline == min(shown.baselines.values())
    assert shown.initial is None
    counts = storage.trials.counts([job.id])[job.id].finished
    assert counts["search"] == SPEC["budget"]["trials"]
    assert counts["estimate"] == len(labels)
    assert counts["baseline"] == len(whole)


def test_the_trials_do_not_depend_on_the_workers(storage: Storage) -> None:
    jobs = [run(storage, workers=workers) for workers in (1, 3)]
    first, second = (storage.trials.of_job(job.id) for job in jobs)
    assert essence(first) == essence(second)


def test_estimates_are_measured_against_estimates(
    finished: tuple[Storage, Job],
) -> None:
    storage, job = finished
    trials = storage.trials.of_job(job.id)
    values = [t.value for t in trials if t.fidelity == "low" and t.value is not None]
    factor = job.spec["cutoff_factor"]
    bounds = {factor * value for value in values}
    assert {t.cutoff for t in trials if t.fidelity == "low"} <= {None, *bounds}
    # The search knows what the baselines came to.
    inside = [t.value for t in trials if t.kind == "estimate" and t.value in values]
    first = next(t for t in trials if t.kind == "search")
    assert first.cutoff in [factor * value for value in inside]
    verified = [t.value for t in trials if t.fidelity == "full" and t.value is not None]
    allowed = {None, *(factor * value for value in verified)}
    assert {t.cutoff for t in trials if t.kind == "verification"} <= allowed


def test_evaluations_of_finalists_are_kept_back(storage: Storage) -> None:
    job = run(storage, budget={"evaluations": 20})
    assert job.ended_because == "evaluations"
    kinds = [t.kind for t in storage.trials.of_job(job.id)]
    verified = kinds.count("verification")
    assert verified >= 1
    # What the race did not need of its share stays unspent.
    assert job.evaluations == 20 - MOST + verified


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


def test_the_convergence_shows_which_values_are_estimates(
    finished: tuple[Storage, Job],
) -> None:
    storage, job = finished
    converged = convergence(storage.trials.points(job.id), started_at=job.started_at)
    assert {p["fidelity"] for p in converged["points"] if p["kind"] == "search"} == {"low"}
    assert converged["points"][-1]["kind"] == "verification"
    best = storage.trials.best(job.id)
    assert best is not None
    assert converged["best"] == {"trial": best.number, "value": best.value}
