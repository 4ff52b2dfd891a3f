"""What the repositories of attempts, jobs, leases and trials share: rows of projects."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Double, Integer, Row, Select, bindparam, case, func, or_, select, update
from sqlalchemy.orm import Session

from storage.database import CLOCK
from storage.fair_share import HALF_LIFE, Contender, Queued
from storage.models import JobRow, ProjectRow, table
from storage.records import Outcome
from storage.trial_rows import ATTEMPTS

__all__ = [
    "CONTENDERS",
    "CONTENDERS_AND_CLOCK",
    "PROJECTS",
    "contender",
    "decayed",
    "queued",
    "spend",
]

PROJECTS = table(ProjectRow)
_JOBS = table(JobRow)
_OF_JOB = ATTEMPTS.c.job_id == _JOBS.c.id
_SINCE = (
    select(ATTEMPTS.c.dispatched_at)
    .where(_OF_JOB, ATTEMPTS.c.state == "dispatched")
    .order_by(ATTEMPTS.c.trial_number)
    .limit(1)
    .scalar_subquery()
)
_RUNNING = (
    select(func.count())
    .select_from(ATTEMPTS)
    .where(_OF_JOB, ATTEMPTS.c.state == "running")
    .scalar_subquery()
)
CONTENDERS: Select[Any] = (
    select(
        _JOBS.c.id,
        _JOBS.c.project,
        _JOBS.c.priority,
        _JOBS.c.concurrency,
        _JOBS.c.cpu_seconds,
        _JOBS.c.evaluations,
        PROJECTS.c.priority.label("highest"),
        PROJECTS.c.weight,
        PROJECTS.c.usage,
        PROJECTS.c.usage_at,
        _SINCE.label("since"),
        _RUNNING.label("running"),
    )
    .join_from(_JOBS, PROJECTS, PROJECTS.c.name == _JOBS.c.project, isouter=True)
    .where(
        or_(_JOBS.c.state.in_(("running", "pausing")), _JOBS.c.id == bindparam("its_job")),
        _JOBS.c.deleted_at.is_(None),
    )
)
"""The jobs at work, and one by id: few, for coordinators drive a few each."""
CONTENDERS_AND_CLOCK: Select[Any] = CONTENDERS.add_columns(CLOCK.label("now"))

_NOW = bindparam("now", type_=Double)
_FORGOTTEN = 64 * HALF_LIFE
# Servers refuse powers that are too small, and clocks may be put back.
_LEFT = case(
    (PROJECTS.c.usage_at >= _NOW, PROJECTS.c.usage),
    (PROJECTS.c.usage_at < _NOW - _FORGOTTEN, 0.0),
    else_=PROJECTS.c.usage * func.power(2.0, (PROJECTS.c.usage_at - _NOW) / HALF_LIFE),
)
_SPEND = (
    update(PROJECTS)
    .where(
        PROJECTS.c.name
        == select(_JOBS.c.project).where(_JOBS.c.id == bindparam("job_id")).scalar_subquery()
    )
    .values(
        usage=_LEFT + bindparam("cpu", type_=Double),
        usage_at=_NOW,
        spent_cpu_seconds=PROJECTS.c.spent_cpu_seconds + bindparam("cpu", type_=Double),
        spent_trials=PROJECTS.c.spent_trials + bindparam("trials", type_=Integer),
    )
)


def contender(row: Row[Any], now: float) -> Contender:
    """A row of `CONTENDERS`."""
    return Contender(
        **_claim(row, now),
        running=row.running,
        concurrency=row.concurrency,
        cost=row.cpu_seconds / row.evaluations if row.evaluations else None,
        waited=None if row.since is None else now - row.since,
    )


def queued(row: Row[Any], now: float) -> Queued:
    """A row of a job with `created_at` and what `CONTENDERS` has of its project."""
    return Queued(**_claim(row, now), created_at=row.created_at)


def _claim(row: Row[Any], now: float) -> dict[str, Any]:
    return {
        "job": row.id,
        "project": row.project,
        "priority": row.priority,
        "highest": row.highest or 0,
        "weight": row.weight or 1.0,
        "used": decayed(row.usage, row.usage_at, now),
    }


def decayed(usage: float | None, at: float | None, now: float) -> float:
    """What is left of what a project had used when that was noted."""
    if not usage or at is None:
        return 0.0
    return float(usage * 0.5 ** (max(0.0, now - at) / HALF_LIFE))


def spend(session: Session, job_id: str, now: float, *outcomes: Outcome) -> None:
    """Add the costs of outcomes to the sums of a job's project.

    All trials of the project write this row, so do it last.
    """
    cpu = sum(one.cpu_seconds for one in outcomes)
    values = {"job_id": job_id, "cpu": cpu, "now": now, "trials": len(outcomes)}
    session.connection().execute(_SPEND, values)
