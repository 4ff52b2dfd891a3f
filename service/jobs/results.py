"""What a job came to, ready for JSON: the best configuration and the course that led to it."""

from __future__ import annotations

from typing import Any

from service.jobs.best import best_trial
from service.jobs.schemas import BestView, ConvergenceView
from storage.errors import Conflict
from storage.records import Job
from storage.storage import Storage
from tuner.convergence import convergence
from tuner.job_space import inside_of

__all__ = ["best", "course"]


def best(storage: Storage, job_id: str) -> BestView:
    """The best configuration of a job beside its baselines.

    Raises:
        NotFound: There is no such job.
        Conflict: No trial has completed yet.
    """
    job = storage.get_job(job_id)
    trial = best_trial(storage, job)
    if trial is None or trial.value is None:
        raise Conflict(f"job {job_id} is {job.state} and has no completed trial yet")
    found = _convergence(storage, job)
    baseline = min(found["baselines"].values(), default=None)
    return BestView(
        configuration=trial.configuration,
        value=trial.value,
        trial=trial.number,
        baseline=baseline,
        speedup=None if baseline is None or trial.value == 0.0 else baseline / trial.value,
        baselines=found["baselines"],
        initial=found["initial"] and found["initial"]["value"],
    )


def course(storage: Storage, job_id: str) -> ConvergenceView:
    """How a job converged.

    Raises:
        NotFound: There is no such job.
    """
    return ConvergenceView.model_validate(_convergence(storage, storage.get_job(job_id)))


def _convergence(storage: Storage, job: Job) -> dict[str, Any]:
    return convergence(
        storage.trial_points(job.id),
        started_at=job.started_at,
        inside=inside_of(storage, job),
    )
