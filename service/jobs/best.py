"""Which trial is a job's best: the lowest value among the points of its search space.

Baselines outside the space are what the best is compared with; they cannot be the best, since the
user did not offer them.
"""

from __future__ import annotations

import json
from functools import lru_cache

from searchspace.job import build_space, load_job
from storage.records import Job, Trial
from storage.storage import Storage
from tuner.convergence import best_point
from tuner.job_space import baselines_inside

__all__ = ["best_trial", "labels_inside"]


def best_trial(storage: Storage, job: Job) -> Trial | None:
    """The best trial of a job with its result; None while none has completed."""
    lowest = storage.best_trial(job.id)
    if lowest is None or lowest.kind == "search":
        return lowest
    inside = labels_inside(storage, job)
    if lowest.label in inside:
        return lowest
    point = best_point(storage.trial_points(job.id), inside)
    return None if point is None else storage.get_trial(job.id, point.number)


def labels_inside(storage: Storage, job: Job) -> frozenset[str]:
    """The labels of the job's baselines that are points of its search space."""
    if job.application_id is None:
        return frozenset()
    application = storage.get_application(job.application_id)
    return _inside(json.dumps(job.spec), application.ranks, tuple(application.summary["calls"]))


@lru_cache(maxsize=1024)
def _inside(spec: str, ranks: int, calls: tuple[str, ...]) -> frozenset[str]:
    return baselines_inside(build_space(load_job(spec), ranks, calls))
