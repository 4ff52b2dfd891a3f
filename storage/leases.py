"""Leases: which coordinator drives a job, for how long, and under which fencing token.

Every acquisition raises the token. Writers show theirs, so that one who lost the lease without
noticing changes nothing (Kleppmann, Designing Data-Intensive Applications, chapter 8).
"""

from __future__ import annotations

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from storage.database import Database, Repository
from storage.errors import LeaseLost
from storage.job_rows import count_active_time, end_lease, find_and_lock_job, job_record
from storage.models import JobRow
from storage.records import ACTIVE_JOB_STATES, Job

__all__ = ["Leases"]


class Leases(Repository):
    """The methods of `Storage` about leases."""

    def acquire_lease(self, owner: str, seconds: float, job_id: str | None = None) -> Job | None:
        """Take the oldest active job (or the one named) whose lease is free or has run out.

        Args:
            owner: Who takes it, for people.
            seconds: How long it lasts unless renewed.
            job_id: Only this job.

        Returns:
            The job with its new `lease_token`; None where there is nothing to take.
        """
        with self._database.writing() as session:
            now = self._database.now(session)
            statement = select(JobRow).where(
                JobRow.state.in_(ACTIVE_JOB_STATES),
                or_(JobRow.lease_owner.is_(None), JobRow.lease_expires_at <= now),
            )
            if job_id is not None:
                statement = statement.where(JobRow.id == job_id).with_for_update()
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

    def renew_lease(self, job_id: str, token: int, seconds: float) -> Job:
        """Prolong a lease to `seconds` from now and see the job as it stands.

        The lease of a job that paused or ended is over; renewing it changes nothing.

        Raises:
            LeaseLost: Another holds the job, or it was deleted.
        """
        with self._database.writing() as session:
            row = _lock(self._database, session, job_id, token)
            if row.lease_owner is not None:
                now = self._database.now(session)
                count_active_time(row, now)
                row.lease_expires_at = now + seconds
            return job_record(row)

    def release_lease(self, job_id: str, token: int) -> None:
        """Give a job free for other coordinators; a lease that ended already is left alone."""
        with self._database.writing() as session:
            try:
                row = _lock(self._database, session, job_id, token)
            except LeaseLost:
                return
            if row.lease_owner is not None:
                end_lease(row, self._database.now(session))


def _lock(database: Database, session: Session, job_id: str, token: int) -> JobRow:
    row = find_and_lock_job(database, session, job_id)
    if row is None or row.lease_token != token:
        raise LeaseLost(f"the lease {token} of job {job_id} has ended")
    return row
