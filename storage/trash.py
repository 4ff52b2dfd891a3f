"""The trash: jobs that were deleted, and can be restored until they go for good.

A deleted job keeps its row, its trials and its state, and is hidden: whoever looks for a job leaves
out the rows with `deleted_at`. How long it stays is stored with it, so that a setting which changes
later breaks no promise.
"""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from storage.errors import Conflict, NotFound
from storage.job_rows import absent_job, job_event, job_record
from storage.models import EventRow, JobRow
from storage.quotas import admit_unfinished
from storage.records import FINAL_JOB_STATES, Job
from storage.repository import ScopedRepository

__all__ = ["Trash"]


class Trash(ScopedRepository):
    """Deleted jobs, of one project or of all."""

    def put(self, job_id: str, keep_seconds: float) -> Job:
        """Delete a paused or ended job so that it can be restored; an event says so.

        Args:
            job_id: The job.
            keep_seconds: For how long it can be restored, at least.

        Raises:
            NotFound: There is no such job, or it is deleted already.
            Conflict: The job is still at work.
        """
        with self._database.writing() as session:
            row = self._lock(session, job_id)
            if row.deleted_at is not None:
                raise absent_job(job_id, row)
            _check_deletable(row)
            now = self._database.now(session)
            row.deleted_at = now
            row.restorable_until = now + keep_seconds
            row.preparer = row.preparer_heard_at = None
            self._database.note(session, job_id, "job", _deletion(row))
            return job_record(row)

    def restore(self, job_id: str) -> Job:
        """Bring a deleted job back as it was; one that is not deleted is left as it is.

        Raises:
            NotFound: There is no such job, or it is gone for good.
            QuotaExceeded: It is unfinished, and its project may have no more of those.
        """
        with self._database.writing() as session:
            row = self._lock(session, job_id)
            if row.deleted_at is None:
                return job_record(row)
            if row.state not in FINAL_JOB_STATES:
                admit_unfinished(session, row.project)
            row.deleted_at = row.restorable_until = None
            # Who reads its events from the beginning would take it for gone.
            session.execute(
                delete(EventRow).where(
                    EventRow.job_id == job_id,
                    EventRow.kind == "job",
                    EventRow.data["state"].as_string() == "deleted",
                )
            )
            self._database.note(session, job_id, "job", job_event(row, "deleted"))
            return job_record(row)

    def delete(self, job_id: str) -> Job:
        """Delete a paused or ended job for good, with its trials and events.

        One last event says so. A job that is in the trash is deleted too.

        Returns:
            What it was.

        Raises:
            NotFound: There is no such job.
            Conflict: The job is still at work.
        """
        with self._database.writing() as session:
            row = self._lock(session, job_id)
            _check_deletable(row)
            gone = job_record(row)
            session.execute(delete(EventRow).where(EventRow.job_id == job_id))
            # Trials and attempts go with it, by the foreign keys' cascade.
            session.execute(delete(JobRow).where(JobRow.id == job_id))
            self._database.note(session, job_id, "job", _deletion(row))
            return gone

    def _lock(self, session: Session, job_id: str) -> JobRow:
        """A job's row, deleted or not, locked."""
        statement = select(JobRow).where(JobRow.id == job_id).with_for_update()
        row = session.scalars(self._scope.visible(statement, JobRow.project)).one_or_none()
        if row is None:
            raise NotFound(f"there is no job {job_id}")
        return row


def _check_deletable(row: JobRow) -> None:
    if row.state != "paused" and row.state not in FINAL_JOB_STATES:
        raise Conflict(f"job {row.id} is {row.state}; cancel it before deleting it")


def _deletion(row: JobRow) -> dict[str, str]:
    return {"state": "deleted", "previous": row.state}
