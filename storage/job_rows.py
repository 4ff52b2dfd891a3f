"""What the repositories of jobs, leases and trials share: rows of jobs, locked and changed."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import select
from sqlalchemy.orm import Session, defer

from storage.database import Database
from storage.errors import LeaseLost, NotFound
from storage.models import JobRow
from storage.records import Job, JobState

__all__ = [
    "count_active_time",
    "end_lease",
    "find_and_lock_job",
    "job_event",
    "job_record",
    "lock_job",
    "lock_leased_job",
]


_WITHOUT_DOCUMENTS = (defer(JobRow.spec), defer(JobRow.space))


def lock_job(database: Database, session: Session, job_id: str) -> JobRow:
    """A job's row, locked until the transaction ends (SQLite holds the whole database anyway).

    Every writing transaction about a job takes this lock before any other, so none deadlocks.

    Raises:
        NotFound: There is no such job.
    """
    row = find_and_lock_job(database, session, job_id)
    if row is None:
        raise NotFound(f"there is no job {job_id}")
    return row


def lock_leased_job(
    database: Database, session: Session, job_id: str, token: int, *, whole: bool = False
) -> JobRow:
    """A job's row, locked, for a writer that says it holds the lease.

    Raises:
        LeaseLost: The lease was released or given to another, or the job is gone.
    """
    row = find_and_lock_job(database, session, job_id, whole=whole)
    if row is None:
        raise LeaseLost(f"job {job_id} was deleted")
    if row.lease_token != token or row.lease_owner is None:
        raise LeaseLost(f"the lease {token} of job {job_id} has ended")
    return row


def find_and_lock_job(
    database: Database, session: Session, job_id: str, *, whole: bool = True
) -> JobRow | None:
    """A job's row, locked, and the time of the transaction in one statement.

    Args:
        database: Whose clock tells the time.
        session: Of a writing transaction.
        job_id: The job.
        whole: Whether the specification and the space are read as well.
    """
    statement = select(JobRow, database.clock()).where(JobRow.id == job_id).with_for_update()
    if not whole:
        statement = statement.options(*_WITHOUT_DOCUMENTS)
    found = session.execute(statement).one_or_none()
    if found is None:
        return None
    session.info["now"] = found[1]
    return found[0]


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
    )


def job_event(row: JobRow, previous: str | None) -> dict[str, Any]:
    """What the event of a changed job tells."""
    data: dict[str, Any] = {"state": row.state, "name": row.name}
    if previous is not None:
        data["previous"] = previous
    if row.error is not None:
        data["error"] = row.error
    if row.ended_because is not None:
        data["ended_because"] = row.ended_because
    return data
