"""What the repositories of jobs, leases and trials share: rows of jobs, locked and changed."""

from __future__ import annotations

import time
from typing import Any, cast

from sqlalchemy import Double, Integer, Select, and_, bindparam, or_, select, update
from sqlalchemy.orm import Session

from storage.database import CLOCK, Database
from storage.errors import LeaseLost, NotFound
from storage.fair_share import PRIORITIES
from storage.models import JobRow, table
from storage.outbox import note_incumbent
from storage.records import Job, JobState, Outcome, Priority

__all__ = [
    "absent_job",
    "charge",
    "count_active_time",
    "end_lease",
    "find_and_lock_job",
    "hold_lease",
    "improve",
    "job_event",
    "job_record",
    "lock_job",
    "lock_leased_job",
    "priority_of",
]


_JOBS = table(JobRow)
_HOLD: Select[Any] = (
    select(_JOBS.c.lease_token, _JOBS.c.lease_owner)
    .where(_JOBS.c.id == bindparam("job_id"), _JOBS.c.deleted_at.is_(None))
    .with_for_update()
)
_HOLD_AND_CLOCK: Select[Any] = _HOLD.add_columns(CLOCK)
_CHARGE = (
    update(_JOBS)
    .where(_JOBS.c.id == bindparam("job_id"), _JOBS.c.deleted_at.is_(None))
    .values(
        cpu_seconds=_JOBS.c.cpu_seconds + bindparam("cpu"),
        evaluations=_JOBS.c.evaluations + bindparam("simulated", type_=Integer),
    )
)
_IMPROVE = (
    update(_JOBS)
    .where(
        _JOBS.c.id == bindparam("job_id"),
        or_(
            _JOBS.c.best_value.is_(None),
            _JOBS.c.best_value > bindparam("simulated_time", type_=Double),
            and_(
                _JOBS.c.best_value == bindparam("simulated_time", type_=Double),
                _JOBS.c.best_trial > bindparam("trial", type_=Integer),
            ),
        ),
    )
    .values(
        best_trial=bindparam("trial", type_=Integer),
        best_value=bindparam("simulated_time", type_=Double),
    )
)
_CHARGE_SQLITE = _CHARGE.returning(_JOBS.c.id)
_CHARGE_AND_CLOCK = _CHARGE.returning(_JOBS.c.id, CLOCK)


def lock_job(session: Session, job_id: str) -> JobRow:
    """A job's row, locked until the transaction ends (SQLite holds the whole database anyway).

    Every writing transaction about a job takes this lock before any other, so none deadlocks.

    Raises:
        NotFound: There is no such job.
    """
    row = find_and_lock_job(session, job_id)
    if row is None:
        raise absent_job(job_id, session.get(JobRow, job_id))
    return row


def absent_job(job_id: str, row: JobRow | None) -> NotFound:
    """What to say of a job that is not there: one in the trash can be brought back.

    Args:
        job_id: What was asked for.
        row: Its row, where that is whoever asks may know of it.
    """
    if row is None or row.restorable_until is None:
        return NotFound(f"there is no job {job_id}")
    until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(row.restorable_until))
    return NotFound(
        f"job {job_id} ({row.name!r}) was deleted; 'hamtune restore {job_id}' brings it back "
        f"until {until}"
    )


def lock_leased_job(session: Session, job_id: str, token: int) -> JobRow:
    """A job's row, locked, for a writer that says it holds the lease.

    Raises:
        LeaseLost: The lease was released or given to another, or the job is gone.
    """
    row = find_and_lock_job(session, job_id)
    if row is None:
        raise LeaseLost(f"job {job_id} was deleted")
    _check_lease(job_id, token, row.lease_token, row.lease_owner)
    return row


def hold_lease(database: Database, session: Session, job_id: str, token: int) -> float:
    """Lock a job's row without reading it, for a writer that says it holds the lease.

    Returns:
        The time of the transaction.

    Raises:
        LeaseLost: The lease was released or given to another, or the job is gone.
    """
    statement = _HOLD if database.is_sqlite else _HOLD_AND_CLOCK
    found: Any = session.connection().execute(statement, {"job_id": job_id}).one_or_none()
    if found is None:
        raise LeaseLost(f"job {job_id} was deleted")
    _check_lease(job_id, token, found[0], found[1])
    if not database.is_sqlite:
        session.info["now"] = found[2]
    return database.now(session)


def _check_lease(job_id: str, token: int, held: int, owner: str | None) -> None:
    if held != token or owner is None:
        raise LeaseLost(f"the lease {token} of job {job_id} has ended")


def charge(database: Database, session: Session, job_id: str, *outcomes: Outcome) -> float | None:
    """Lock a job's row and add the costs of outcomes to its sums.

    Returns:
        The time of the transaction; None where there is no such job.
    """
    simulated = sum(not one.cached and one.status != "infeasible" for one in outcomes)
    cpu = sum(one.cpu_seconds for one in outcomes)
    statement = _CHARGE_SQLITE if database.is_sqlite else _CHARGE_AND_CLOCK
    values = {"job_id": job_id, "cpu": cpu, "simulated": simulated}
    found = session.connection().execute(statement, values).one_or_none()
    if found is None:
        return None
    if not database.is_sqlite:
        session.info["now"] = found[1]
    return database.now(session)


def improve(session: Session, job_id: str, number: int, value: float, now: float) -> None:
    """Make a completed trial inside the search space the best of its charged job, if it is."""
    improved = session.connection().execute(
        _IMPROVE, {"job_id": job_id, "trial": number, "simulated_time": value}
    )
    if improved.rowcount:
        note_incumbent(session, job_id, now)


def find_and_lock_job(session: Session, job_id: str) -> JobRow | None:
    """A job's row, locked; None where there is none, or it was deleted."""
    statement = (
        select(JobRow).where(JobRow.id == job_id, JobRow.deleted_at.is_(None)).with_for_update()
    )
    return session.scalars(statement).one_or_none()


def end_lease(row: JobRow, now: float) -> None:
    """Give the job free, adding the time since the last renewal to its active seconds."""
    count_active_time(row, now)
    row.lease_owner = None
    row.lease_expires_at = None
    row.lease_renewed_at = None


def count_active_time(row: JobRow, now: float) -> None:
    """Add the time since the last renewal of the lease to the job's active seconds."""
    if row.lease_owner is not None and row.lease_renewed_at is not None:
        row.active_seconds += max(0.0, now - row.lease_renewed_at)
    row.lease_renewed_at = now


def job_record(row: JobRow) -> Job:
    """The value of a row."""
    return Job(
        id=row.id,
        name=row.name,
        state=cast("JobState", row.state),
        spec=row.spec,
        seed=row.seed,
        application_id=row.application_id,
        space=row.space,
        error=row.error,
        ended_because=row.ended_because,
        lease_owner=row.lease_owner,
        lease_token=row.lease_token,
        lease_expires_at=row.lease_expires_at,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        active_seconds=row.active_seconds,
        cpu_seconds=row.cpu_seconds,
        evaluations=row.evaluations,
        best_trial=row.best_trial,
        best_value=row.best_value,
        project=row.project,
        owner=row.owner,
        priority=priority_of(row.priority),
        concurrency=row.concurrency,
        paused_because=row.paused_because,
        note=row.note,
        tags=tuple(tag for tag in row.tags.split(",") if tag),
        archived_at=row.archived_at,
        deleted_at=row.deleted_at,
        restorable_until=row.restorable_until,
    )


def priority_of(value: int) -> Priority:
    """The name of a priority."""
    return next(cast("Priority", name) for name, number in PRIORITIES.items() if number == value)


def job_event(row: JobRow, previous: str | None) -> dict[str, Any]:
    """What the event of a changed job tells."""
    data: dict[str, Any] = {"state": row.state, "name": row.name}
    if previous is not None:
        data["previous"] = previous
    if row.error is not None:
        data["error"] = row.error
    if row.ended_because is not None:
        data["ended_because"] = row.ended_because
    if row.paused_because is not None:
        data["paused_because"] = row.paused_because
    return data
