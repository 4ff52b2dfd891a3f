"""What more trials of a job would bring, and why that is not known where it is not."""

from __future__ import annotations

from searchspace.job import load_job
from service.jobs.schemas import OutlookView, outlook_point
from storage.records import TrialCounts
from storage.view import StorageView
from tuner.outlook import SURE

__all__ = ["outlook_view"]


def outlook_view(storage: StorageView, job_id: str) -> OutlookView:
    """What the models of a job's search expected, the last one before all.

    Raises:
        NotFound: There is no such job.
    """
    job = storage.jobs.get(job_id)
    points = [outlook_point(stored) for stored in storage.outlooks.of_job(job_id)]
    if points:
        return OutlookView(last=points[-1], unknown=None, points=points)
    without = load_job(job.spec).without_model
    if without is not None:
        unknown = without[0]
    elif job.ended_because == "exhausted":
        unknown = "every configuration of the search space was tried before there was a model"
    else:
        unknown = _without_points(storage.trials.counts_of(job_id), job.best_trial)
    return OutlookView(last=None, unknown=unknown, points=[])


def _without_points(counts: TrialCounts, best: int | None) -> str:
    """Why a search with a model has told nothing so far."""
    if best is None and counts.finished.get("search", 0) >= SURE:
        return "no trial has completed"
    results = counts.states.get("completed", 0) + counts.states.get("censored", 0)
    if results >= SURE and counts.finished.get("search", 0) >= SURE:
        return "no model of this search was stored"  # as of versions that stored none
    return f"too few trials have a result for a model: it takes {SURE}"
