"""Preparations: which worker is making a job ready, and whether it lives."""

from __future__ import annotations

from sqlalchemy import and_, or_, select, update

from storage.models import ApplicationRow, JobRow, table
from storage.records import FINAL_JOB_STATES
from storage.repository import ForAllProjects, ScopedRepository

__all__ = ["PREPARER_SILENCE_SECONDS", "Preparations", "ProjectPreparations"]

PREPARER_SILENCE_SECONDS = 30.0
"""After how long without a word a worker that prepares or captures counts as dead."""

_JOBS = table(JobRow)
_APPLICATIONS = table(ApplicationRow)
_UNPREPARED = and_(
    _JOBS.c.space.is_(None),
    _JOBS.c.state.not_in(FINAL_JOB_STATES),
    _JOBS.c.deleted_at.is_(None),
)


class ProjectPreparations(ScopedRepository):
    """What a project may know of preparations."""

    def is_under_way(
        self, job_id: str, *, silence_seconds: float = PREPARER_SILENCE_SECONDS
    ) -> bool:
        """Whether a living worker prepares a job, or captures the application that it waits for."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            since = self._database.now(session) - silence_seconds
            capture_lives = and_(
                _APPLICATIONS.c.state == "capturing", _APPLICATIONS.c.claimed_at > since
            )
            found = session.connection().execute(
                select(_JOBS.c.id)
                .outerjoin(_APPLICATIONS, _JOBS.c.application_id == _APPLICATIONS.c.id)
                .where(
                    _JOBS.c.id == job_id,
                    or_(
                        and_(_JOBS.c.preparer.is_not(None), _JOBS.c.preparer_heard_at > since),
                        capture_lives,
                    ),
                )
            )
            return found.first() is not None


class Preparations(ForAllProjects, ProjectPreparations):
    """Preparations of jobs of all projects, for workers."""

    def claim(
        self, job_id: str, claim: str, *, silence_seconds: float = PREPARER_SILENCE_SECONDS
    ) -> bool:
        """Take the preparation of a job on oneself.

        Args:
            job_id: The job.
            claim: Who takes it: a name for this one preparation, no other's.
            silence_seconds: After how long without a heartbeat another claim is void.

        Returns:
            False where another is at it, or there is nothing to prepare.
        """
        with self._database.writing() as session:
            now = self._database.now(session)
            free = or_(
                _JOBS.c.preparer.is_(None), _JOBS.c.preparer_heard_at <= now - silence_seconds
            )
            claimed = session.connection().execute(
                update(_JOBS)
                .where(_JOBS.c.id == job_id, _UNPREPARED, free)
                .values(preparer=claim, preparer_heard_at=now)
                .returning(_JOBS.c.id)
            )
            return claimed.first() is not None

    def beat(self, job_id: str, claim: str) -> bool:
        """Say that a claimed preparation goes on; False where it is no longer the claimant's."""
        with self._database.writing() as session:
            kept = session.connection().execute(
                update(_JOBS)
                .where(_JOBS.c.id == job_id, _JOBS.c.preparer == claim)
                .values(preparer_heard_at=self._database.now(session))
                .returning(_JOBS.c.id)
            )
            return kept.first() is not None

    def release(self, job_id: str, claim: str) -> None:
        """Give a preparation free, done or not; a claim that is void already changes nothing."""
        with self._database.writing() as session:
            session.connection().execute(
                update(_JOBS)
                .where(_JOBS.c.id == job_id, _JOBS.c.preparer == claim)
                .values(preparer=None, preparer_heard_at=None)
            )

    def void(self) -> None:
        """Give all preparations and captures free, where all who had them are dead for certain."""
        with self._database.writing() as session:
            connection = session.connection()
            connection.execute(
                update(_JOBS)
                .where(_JOBS.c.preparer.is_not(None))
                .values(preparer=None, preparer_heard_at=None)
            )
            connection.execute(
                update(_APPLICATIONS)
                .where(_APPLICATIONS.c.state == "capturing")
                .values(state="new", claimed_by=None, claimed_at=None)
            )
