"""Retention: what has been kept long enough, and what nothing refers to any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from storage.artifacts import Artifacts
from storage.database import Database
from storage.models import ApplicationRow, EvaluationRow, EventRow, JobRow, NetworkRow
from storage.records import FINAL_JOB_STATES
from storage.repository import Repository

__all__ = ["Expired", "Retention"]

_YOUNG_SECONDS = 86400.0  # an artifact is stored before what refers to it


@dataclass(frozen=True, kw_only=True)
class Expired:
    """How much was deleted, or would be.

    Attributes:
        jobs: That had ended so long ago.
        deleted: Jobs that users had deleted, and that cannot be restored any more.
        evaluations: Entries of the evaluation cache.
        networks: That were kept because they had taken long to build.
        audit: Entries of the audit log.
        artifacts: That nothing referred to.
    """

    jobs: int
    deleted: int
    evaluations: int
    networks: int
    audit: int
    artifacts: int


class Retention(Repository):
    """What is deleted for good, of all projects."""

    def __init__(self, database: Database, artifacts: Artifacts) -> None:
        super().__init__(database)
        self._artifacts = artifacts

    def now(self) -> float:
        """The time from which ages count, in seconds since the epoch.

        It is that of the clock that times are stored by, which PostgreSQL's writers share: by its
        own clock a host whose clock is wrong would delete what others were promised.
        """
        with self._database.reading() as session:
            return self._database.now(session)

    def expired_jobs(self, before: float) -> list[str]:
        """The jobs that ended before a point in time; those in the trash have their own time.

        Args:
            before: In seconds since the epoch, by the clock of the database: see `now`.
        """
        with self._database.reading() as session:
            return list(
                session.scalars(
                    select(JobRow.id)
                    .where(
                        JobRow.state.in_(FINAL_JOB_STATES),
                        JobRow.finished_at < before,
                        JobRow.deleted_at.is_(None),
                    )
                    .order_by(JobRow.id)
                )
            )

    def expire(self, *, jobs: float | None, evaluations: float | None) -> tuple[int, int]:
        """Delete ended jobs, and entries of the evaluation cache.

        Args:
            jobs: Those that ended before; None for none.
            evaluations: Those made before; None for none.

        Returns:
            How many jobs and entries.
        """
        gone = 0
        for job_id in [] if jobs is None else self.expired_jobs(jobs):
            with self._database.writing() as session:  # one by one: nobody waits long
                row = session.get(JobRow, job_id, with_for_update=True)
                if row is not None and row.deleted_at is None:
                    _remove(session, job_id)
                    gone += 1
        if evaluations is None:
            return gone, 0
        with self._database.writing() as session:
            old = EvaluationRow.created_at < evaluations
            count = session.scalar(select(func.count()).select_from(EvaluationRow).where(old)) or 0
            session.execute(delete(EvaluationRow).where(old))
        return gone, count

    def forget_networks(self, before: float) -> int:
        """Forget networks that were built before a point in time; how many there were.

        Args:
            before: In seconds since the epoch, by the clock of the database: see `now`.
        """
        with self._database.writing() as session:
            gone = session.execute(delete(NetworkRow).where(NetworkRow.created_at < before))
            return int(getattr(gone, "rowcount", 0))

    def lapsed_jobs(self, now: float) -> list[str]:
        """The deleted jobs whose time to be restored is over at a point in time: see `now`."""
        with self._database.reading() as session:
            return list(
                session.scalars(
                    select(JobRow.id).where(JobRow.restorable_until <= now).order_by(JobRow.id)
                )
            )

    def delete_lapsed_jobs(self, now: float) -> int:
        """Delete for good those whose time to be restored is over; how many there were.

        Args:
            now: In seconds since the epoch, by the clock of the database: see `now`.
        """
        gone = 0
        for job_id in self.lapsed_jobs(now):
            with self._database.writing() as session:  # one by one: nobody waits long
                row = session.get(JobRow, job_id, with_for_update=True)
                # It may have been restored and deleted again, or deleted for good, a moment ago.
                until = None if row is None else row.restorable_until
                if until is not None and until <= now:
                    _remove(session, job_id)
                    gone += 1
        return gone

    def unreferenced_artifacts(self) -> list[str]:
        """Artifacts that no application and no job refers to."""
        stored = self._artifacts.names()  # first: what is referred to later is stored before
        used: set[str | None] = set()
        with self._database.reading() as session:
            for row in session.execute(
                select(
                    ApplicationRow.trace_sha256,
                    ApplicationRow.recipe,
                    ApplicationRow.summary,
                    ApplicationRow.output_files["sha256"].as_string().label("left"),
                )
            ):
                used |= {row.trace_sha256, row.left}
                used |= _digests(row.recipe) | _digests(row.summary)
            for space in session.scalars(select(JobRow.space)):
                used |= _digests(space)
        return [digest for digest in stored if digest not in used]

    def delete_unreferenced_artifacts(self) -> int:
        """Delete them, but those of the last day; how many there were.

        What began to arrive before that and never did goes too, uncounted.
        """
        self._artifacts.delete_abandoned()
        return sum(
            self._artifacts.delete(digest, older_than=_YOUNG_SECONDS)
            for digest in self.unreferenced_artifacts()
        )


def _remove(session: Session, job_id: str) -> None:
    session.execute(delete(EventRow).where(EventRow.job_id == job_id))
    session.execute(delete(JobRow).where(JobRow.id == job_id))


def _digests(document: Any) -> set[str]:
    """All that could be a digest in a document."""
    match document:
        case str():
            return {document} if len(document) == 64 else set()
        case dict():
            return set().union(*map(_digests, document.values()))
        case list():
            return set().union(*map(_digests, document))
    return set()
