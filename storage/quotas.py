"""Quotas: how much of the service a project may use, and what it has used.

What is used up for good (trials, CPU seconds) is refused to new jobs and pauses those at work; what
comes back (jobs that have not ended, stored bytes) is only refused.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.errors import QuotaExceeded
from storage.models import ApplicationRow, JobRow, ProjectRow
from storage.records import FINAL_JOB_STATES

__all__ = ["ASK", "admit_job", "admit_unfinished", "exhausted", "stored_bytes", "unfinished_jobs"]

ASK = "ask the operator of the service for more"
"""What whoever is refused can do."""


def admit_job(session: Session, project: str) -> None:
    """Check that a project may have the job that was just inserted.

    Raises:
        QuotaExceeded: It may not.
    """
    # Whoever submits to a project with a quota waits here for the others.
    row = session.scalars(
        select(ProjectRow).where(ProjectRow.name == project).with_for_update()
    ).one_or_none()
    if row is None:
        return
    message = exhausted(row)
    if message is not None:
        raise QuotaExceeded(message)
    _check_unfinished(row, unfinished_jobs(session, project) - 1)


def admit_unfinished(session: Session, project: str) -> None:
    """Check that a project may have one unfinished job more.

    Raises:
        QuotaExceeded: It may not.
    """
    row = session.scalars(
        select(ProjectRow).where(ProjectRow.name == project).with_for_update()
    ).one_or_none()
    if row is not None:
        _check_unfinished(row, unfinished_jobs(session, project))


def _check_unfinished(row: ProjectRow, others: int) -> None:
    if row.most_jobs is not None and others >= row.most_jobs:
        raise QuotaExceeded(
            f"project {row.name} has {others} of the {row.most_jobs} jobs that it may have "
            f"unfinished: wait until one has ended, cancel one, or {ASK}"
        )


def exhausted(row: Any) -> str | None:
    """Which quota the project of a row has used up, in words; None where there is none."""
    if row.most_trials is not None and row.spent_trials >= row.most_trials:
        return (
            f"project {row.name} has used {row.spent_trials} of its {row.most_trials} trials: {ASK}"
        )
    if row.most_cpu_seconds is not None and row.spent_cpu_seconds >= row.most_cpu_seconds:
        return (
            f"project {row.name} has used {row.spent_cpu_seconds:.0f} of its "
            f"{row.most_cpu_seconds:.0f} CPU seconds: {ASK}"
        )
    return None


def unfinished_jobs(session: Session, project: str) -> int:
    """How many jobs of a project have not ended; deleted ones do not count."""
    statement = select(func.count()).where(
        JobRow.project == project,
        JobRow.state.not_in(FINAL_JOB_STATES),
        JobRow.deleted_at.is_(None),
    )
    return int(session.execute(statement).scalar_one())


def stored_bytes(session: Session, project: str) -> int:
    """The bytes of a project's traces and source trees."""
    statement = select(func.coalesce(func.sum(ApplicationRow.stored_bytes), 0)).where(
        ApplicationRow.project == project
    )
    return int(session.execute(statement).scalar_one())
