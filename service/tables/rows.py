"""Some of the trials of a job, sorted and filtered: a page of a long table."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, Literal

from service.tables.columns import columns_of, proximity_of
from storage.records import FINAL_TRIAL_STATES, TrialPoint, TrialState
from storage.view import StorageView
from tuner.convergence import convergence

__all__ = ["Order", "read_rows"]

Order = Literal["newest", "fastest"]


def read_rows(
    storage: StorageView,
    job_id: str,
    *,
    order: Order,
    states: Collection[TrialState] = (),
    cached: bool | None = None,
    skip: int = 0,
    limit: int,
) -> dict[str, Any]:
    """Trials with an outcome, as `read_table` has them.

    Args:
        storage: Where the job is.
        job_id: Its id.
        order: The newest first, or the fastest: completed trials before bounds, and these before
            trials that have no time.
        states: Only trials in one of these; none for all.
        cached: Only trials that the cache answered, or that it did not.
        skip: How many of these to leave out.
        limit: How many to tell at most.

    Returns:
        `matching`: how many trials there are of what was asked for; `columns` and `parameters`.

    Raises:
        NotFound: There is no such job.
    """
    job = storage.jobs.get(job_id)
    trials = storage.trials.points(job_id)
    converged = convergence(trials, started_at=job.started_at)
    found = [
        trial
        for trial in trials
        if trial.state in FINAL_TRIAL_STATES
        and (not states or trial.state in states)
        and cached in (None, trial.cached)
    ]
    found.sort(key=_by_time if order == "fastest" else _by_age)
    shown = found[skip : skip + limit]
    cells = {
        one.number: one for one in storage.trials.cells(job_id, sorted(t.number for t in shown))
    }
    steps = {point["trial"]: point for point in converged["points"]}
    return {
        "matching": len(found),
        **columns_of(shown, steps, cells, proximity_of(converged)),
    }


def _by_age(trial: TrialPoint) -> tuple[float, ...]:
    return (-trial.number,)


def _by_time(trial: TrialPoint) -> tuple[float, ...]:
    group = 2 if trial.value is None else 0 if trial.state == "completed" else 1
    return (group, math.inf if trial.value is None else trial.value, trial.number)
