"""Leases: which coordinator drives a job, for how long, and under which fencing token.

Every acquisition raises the token. Writers show theirs, so that one who lost the lease without
noticing changes nothing (Kleppmann, Designing Data-Intensive Applications, chapter 8).
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from storage.database import Repository
from storage.errors import LeaseLost
from storage.job_rows import count_active_time, end_lease, find_and_lock_job, job_record
from storage.models import JobRow
from storage.records import ACTIVE_JOB_STATES, Job

__all__ = ["Leases"]


class Leases(Repository):
    """The methods of `Storage` about leases."""

    def acquire_lease(
        self, owner: str, seconds: float, job_id: str | None = None, *, alone: bool = False
    ) -> Job | None:
        """Take the oldest active job (or the one named) whose lease is free or has run out.

        Args:
            owner: Who takes it; others are told apart by it.
            seconds: How long it lasts unless renewed.
            job_id: Only this job.
            alone: No other owner lives, so that the leases of others are free at once.

        Returns:
            The job with its new `lease_token`; None where there is nothing to take.
        """
        if not self.has_free_job(owner, job_id, alone=alone):
            return None  # a read, where trying to take one would be a write
        with self._database.writing() as session:
            now = self._database.now(session)
            statement = select(JobRow).where(_free(owner, job_id, now, alone))
            if job_id is not None:
                statement = statement.with_for_update()
            else:
                statement = (
                    statement.order_by(JobRow.created_at, JobRow.id)
                    .limit(1)
                    .with_for_update(skip_locked=True)
                )
            row = session.scalars(statement).one_or_none()
            if row is None:
                return None
            row.lease_owner = owner
            row.lease_token += 1
            row.lease_expires_at = now + seconds
            row.lease_renewed_at = now
            return job_record(row)

    def has_free_job(self, owner: str, job_id: str | None = None, *, alone: bool = False) -> bool:
        """Whether `acquire_lease` would find a job, for less than it costs to try."""
        with self._database.reading() as session:
            now = self._database.now(session)
            found = select(JobRow.id).where(_free(owner, job_id, now, alone)).limit(1)
            return session.connection().execute(found).first() is not None

    def renew_lease(self, job_id: str, token: int, seconds: float) -> Job:
        """Prolong a lease to `seconds` from now and see the job as it stands.

        The lease of a job that paused or ended is over; renewing it changes nothing.

        Raises:
            LeaseLost: Another holds the job, or it was deleted.
        """
        with self._database.writing() as session:
            row = _lock(session, job_id, token)
            if row.lease_owner is not None:
                now = self._database.now(session)
                count_active_time(row, now)
                row.lease_expires_at = now + seconds
            return job_record(row)

    def release_lease(self, job_id: str, token: int) -> None:
        """Give a job free for other coordinators; a lease that ended already is left alone."""
        with self._database.writing() as session:
            try:
                row = _lock(session, job_id, token)
            except LeaseLost:
                return
            if row.lease_owner is not None:
                end_lease(row, self._database.now(session))


def _free(owner: str, job_id: str | None, now: float, alone: bool) -> ColumnElement[bool]:
    """Which jobs somebody may take."""
    free = or_(JobRow.lease_owner.is_(None), JobRow.lease_expires_at <= now)
    if alone:
        free = or_(free, JobRow.lease_owner != owner)
    active = JobRow.state.in_(ACTIVE_JOB_STATES)
    return and_(active, free) if job_id is None else and_(active, free, JobRow.id == job_id)


def _lock(session: Session, job_id: str, token: int) -> JobRow:
    row = find_and_lock_job(session, job_id)
    if row is None or row.lease_token != token:
        raise LeaseLost(f"the lease {token} of job {job_id} has ended")
    return row
