"""When jobs will have ended, and how many go before those that wait."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.settings import Settings
from storage.errors import NotFound
from storage.records import ACTIVE_JOB_STATES, Job, TrialCounts
from storage.view import StorageView

__all__ = ["Forecast", "forecasts", "seconds_left"]

_AT_WORK = ("running", "pausing")


@dataclass(frozen=True)
class Forecast:
    """What is to be expected of a job.

    Attributes:
        queue_position: How many jobs are taken before it; None unless it waits.
        estimated_end: When it will have ended, seconds since the epoch; None where nothing is
            known.
    """

    queue_position: int | None = None
    estimated_end: float | None = None


def forecasts(
    jobs: Sequence[Job], counts: dict[str, TrialCounts], storage: StorageView, settings: Settings
) -> dict[str, Forecast]:
    """What is to be expected of jobs, by id. Of those that have ended or are paused, nothing.

    Nor of those that were deleted meanwhile.

    Args:
        jobs: As they are stored.
        counts: Their trials.
        storage: What they share with others.
        settings: Where workers are, if not in processes of their own.
    """
    waiting = [job.id for job in jobs if job.state in ACTIVE_JOB_STATES and job.lease_owner is None]
    positions = storage.leases.queue_positions(waiting) if waiting else {}
    at_work = [job for job in jobs if job.state in _AT_WORK and job.lease_owner is not None]
    ends: dict[str, float] = {}
    if at_work:
        slots = storage.processes.worker_slots()
        if slots is None and settings.embedded:
            slots = settings.concurrency or os.cpu_count() or 1
        shares = storage.leases.shares({job.project for job in at_work})
        now = time.time()
        for job in at_work:
            finished = counts[job.id].finished
            try:
                pace = _pace(job, sum(finished.values()), storage)
            except NotFound:  # it was deleted since its trials were counted
                continue
            left = seconds_left(job, finished, (slots or 0) * shares[job.project], pace)
            if left is not None:
                ends[job.id] = now + left
    return {job.id: Forecast(positions.get(job.id), ends.get(job.id)) for job in jobs}


def _pace(job: Job, trials: int, storage: StorageView) -> float:
    """Seconds on the clock from a trial to the next so far, with what the search itself takes."""
    if not trials or job.started_at is None:
        return 0.0
    prepared = storage.trials.get(job.id, 1, with_result=False).created_at - job.started_at
    return max(0.0, job.active_seconds - max(0.0, prepared)) / trials


def seconds_left(
    job: Job, finished: dict[Any, int], slots: float, pace: float = 0.0
) -> float | None:
    """About how long a job at work has yet to go; None where nothing is known.

    It is the mean time of its trials so far, times those that its budget leaves, over the workers
    that are its share, but no faster than trials have followed each other: where evaluations take
    milliseconds, the search takes most of the time. A target, its patience or `until` may end it
    before.

    Args:
        job: The job.
        finished: How many of its trials have an outcome, by kind.
        slots: Evaluations at once that are its share of the workers.
        pace: Seconds on the clock from a trial to the next so far.
    """
    trials = sum(finished.values())
    if slots <= 0.0 or not trials or not job.evaluations:
        return None
    at_once = min(slots, job.spec.get("batch") or slots, job.concurrency or slots)
    each = max(job.cpu_seconds / trials / at_once, pace)
    budget = job.spec.get("budget") or {}
    search = finished.get("search", 0)
    ends = []
    if budget.get("trials") is not None:
        ends.append((budget["trials"] - search) * each)
    if (job.space or {}).get("size") is not None:
        ends.append((job.space["size"] - search) * each if job.space else 0.0)
    if budget.get("evaluations") is not None:
        mean = max(job.cpu_seconds / job.evaluations / at_once, pace)
        ends.append((budget["evaluations"] - job.evaluations) * mean)
    if budget.get("cpu_seconds") is not None:
        ends.append((budget["cpu_seconds"] - job.cpu_seconds) / at_once)
    if budget.get("wall_seconds") is not None:
        ends.append(budget["wall_seconds"] - job.active_seconds)
    return max(0.0, min(ends)) if ends else None
