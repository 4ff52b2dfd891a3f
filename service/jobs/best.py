"""Which trial is a job's best: the lowest value among the points of its search space.

Baselines outside the space are what the best is compared with; they cannot be the best, since the
user did not offer them.
"""

from __future__ import annotations

from storage.records import Job, Trial
from storage.storage import Storage
from tuner.convergence import best_point
from tuner.job_space import inside_of

__all__ = ["best_trial"]


def best_trial(storage: Storage, job: Job) -> Trial | None:
    """The best trial of a job with its result; None while none has completed."""
    lowest = storage.best_trial(job.id)
    if lowest is None or lowest.kind == "search":
        return lowest
    inside = inside_of(storage, job)
    if lowest.label in inside:
        return lowest
    point = best_point(storage.trial_points(job.id), inside)
    return None if point is None else storage.get_trial(job.id, point.number)
