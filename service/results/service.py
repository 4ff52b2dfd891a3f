"""What a job came to, ready for JSON: the best configuration and how the search converged."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from searchspace.significance import separated, within_error
from service.jobs.advice import advice
from service.jobs.yardsticks import (
    SCRIPTED,
    error_for,
    machine_of,
    two_yardsticks,
    why_not_compared,
)
from service.results.schemas import BestView, ComparisonView, ConvergenceView, MeasuredBestView
from storage.errors import Conflict
from storage.measured_records import MeasuredConfiguration, Measuring
from storage.records import Fidelity, Job
from storage.view import StorageView
from tuner.convergence import convergence
from tuner.downsampling import downsampled, stride

__all__ = ["best", "convergence_view"]


def best(storage: StorageView, job_id: str) -> BestView:
    """The best configuration of a job beside its baselines.

    Raises:
        NotFound: There is no such job.
        Conflict: No trial has completed yet.
    """
    job = storage.jobs.get(job_id)
    trial = storage.trials.best(job_id)
    if trial is None or trial.value is None:
        raise Conflict(f"job {job_id} is {job.state} and has no completed trial yet")
    values = _baseline_values(storage, job_id)
    baselines = values["full"]
    initial = storage.trials.initial_point(job_id)
    machine = machine_of(storage, job)
    compared = _compared(storage, job_id)
    baseline = min(baselines.values(), default=None)
    measuring = storage.measured_runs.measuring(job_id)
    known = storage.measured_runs.configurations(job_id)
    decided = measuring is not None and measuring.state == "decided"
    error = error_for(machine, known)
    scripted = job.spec.get("external") == "measurements"
    return BestView(
        configuration=trial.configuration,
        value=trial.value,
        trial=trial.number,
        network=machine.trial_model,
        model=SCRIPTED if scripted else machine.model_text,
        decided_by="script" if scripted else "measured" if decided else machine.trial_model,
        measured=_measured(measuring, known) if measuring is not None and decided else None,
        undecided=measuring.because if measuring and measuring.state == "undecided" else None,
        error=error.value,
        error_from=error.known_from,
        within_error=None
        if baseline is None or scripted
        else within_error(trial.value, baseline, error.value),
        comparisons=compared,
        note=two_yardsticks(machine)
        if compared
        else None
        if scripted
        else why_not_compared(storage, job, machine),
        baseline=baseline,
        speedup=None if baseline is None or trial.value == 0.0 else baseline / trial.value,
        baselines=baselines,
        estimates=values["low"],
        advice=_advice(storage, job, trial.value, baselines),
        initial=initial.value if initial is not None and initial.fidelity == "full" else None,
        finish_times=(trial.result or {}).get("finish_times"),
    )


def _advice(
    storage: StorageView, job: Job, value: float, baselines: Mapping[str, float]
) -> list[str]:
    return advice(
        value,
        baselines,
        job.spec,
        exhausted=job.ended_because in ("exhausted", "until"),
        failures=storage.failures.counts([job.id]).get(job.id, []),
        finished=sum(storage.trials.counts_of(job.id).finished.values()),
    )


def _baseline_values(storage: StorageView, job_id: str) -> dict[Fidelity, dict[str, float]]:
    """Seconds of the baselines that completed, by fidelity and name."""
    values: dict[Fidelity, dict[str, float]] = {"full": {}, "low": {}}
    for point in storage.trials.baseline_points(job_id):
        if point.state == "completed" and point.value is not None:
            values[point.fidelity][str(point.label)] = point.value
    return values


def _compared(storage: StorageView, job_id: str) -> list[ComparisonView]:
    """The finalists that both network models evaluated."""
    return [
        ComparisonView(
            trial=decided.number,
            value=decided.value or 0.0,
            comparison=repeated.number,
            state=repeated.state,
            fluid=repeated.value if repeated.state == "completed" else None,
        )
        for decided, repeated in storage.trials.comparisons(job_id)
    ]


def _measured(measuring: Measuring, known: list[MeasuredConfiguration]) -> MeasuredBestView:
    """What the runs say of the trial that they decided for."""
    finalists = [one for one in known if one.purpose == "finalists"]
    runs = next(one.seconds for one in finalists if one.trial == measuring.decided)
    defaults = next((one for one in finalists if one.trial is None), None)
    default = [] if defaults is None else defaults.seconds
    seconds = statistics.median(runs)
    without = statistics.median(default) if default else None
    return MeasuredBestView(
        seconds=seconds,
        runs=runs,
        default=without,
        default_unknown=None if default else _why_unknown(measuring, defaults),
        default_runs=default,
        gain=None if without is None else without / seconds,
        separated=separated(runs, default) if default else None,
        cluster=measuring.cluster,
        simulated_best=measuring.simulated_best,
    )


def _why_unknown(measuring: Measuring, one: MeasuredConfiguration | None) -> str:
    """Why no run of a configuration counts."""
    if one is not None and one.reason is not None:
        return str(one.reason["message"])
    failed = [run.reason["message"] for run in one.runs if run.reason] if one is not None else []
    if failed:
        return str(failed[-1])
    return measuring.because or "no run of it has ended"


def convergence_view(
    storage: StorageView, job_id: str, points: int | None = None
) -> ConvergenceView:
    """How a job converged; with `points`, downsampled to about so many (see `storage.convergence`).

    Raises:
        NotFound: There is no such job.
    """
    job = storage.jobs.get(job_id)
    asked = storage.convergence.count_asked(job_id)
    if points is not None and asked > points:
        shown = storage.convergence.points(job_id, stride(asked, points))
        if shown:
            sampled = downsampled(shown, points, started_at=job.started_at)
            return ConvergenceView.model_validate(sampled)
    whole = convergence(storage.trials.points(job_id), started_at=job.started_at)
    return ConvergenceView.model_validate(whole)
