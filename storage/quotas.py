"""Quotas: how much of the service a project may use, and what it has used.

What is used up for good (trials, CPU seconds) is refused to new jobs and pauses those at work; what
comes back (jobs that have not ended, stored bytes) is only refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from searchspace.units import format_size
from storage.database import Repository
from storage.errors import NotFound, QuotaExceeded
from storage.fair_share import PRIORITIES
from storage.job_rows import priority_of
from storage.models import ApplicationRow, JobRow, ProjectRow
from storage.project_rows import decayed
from storage.records import FINAL_JOB_STATES, Priority, Project, Quotas

__all__ = [
    "ProjectUse",
    "QuotaKeeping",
    "admit_job",
    "admit_unfinished",
    "exhausted",
    "project_record",
]

_ASK = "ask the operator of the service for more"


@dataclass(frozen=True, kw_only=True)
class ProjectUse:
    """What a project has used.

    Attributes:
        jobs: Jobs that have not ended.
        trials: With an outcome, ever.
        cpu_seconds: Of the simulator, ever.
        storage_bytes: Traces and source trees.
        recent_cpu_seconds: Of the simulator, as shares count them: see `storage.fair_share`.
    """

    jobs: int
    trials: int
    cpu_seconds: float
    storage_bytes: int
    recent_cpu_seconds: float


class QuotaKeeping(Repository):
    """The methods of `Storage` about what projects may use."""

    def get_project(self, name: str) -> Project:
        """One project.

        Raises:
            NotFound: There is none of this name.
        """
        with self._database.reading() as session:
            return project_record(self._project(session, name))

    def set_project(
        self,
        name: str,
        *,
        weight: float,
        priority: Priority,
        quotas: Quotas,
    ) -> Project:
        """Change what a project may use.

        Args:
            name: The project.
            weight: Its share of the workers, beside the weights of others.
            priority: The highest at which its jobs go before those of others.
            quotas: The most that it may have or use.

        Raises:
            NotFound: There is none of this name.
        """
        with self._database.writing() as session:
            self._project(session, name)
            session.execute(
                update(ProjectRow)
                .where(ProjectRow.name == name)
                .values(
                    weight=weight,
                    priority=PRIORITIES[priority],
                    most_jobs=quotas.jobs,
                    most_trials=quotas.trials,
                    most_cpu_seconds=quotas.cpu_seconds,
                    most_storage_bytes=quotas.storage_bytes,
                )
            )
            return project_record(session.get_one(ProjectRow, name, populate_existing=True))

    def project_use(self, name: str) -> ProjectUse:
        """What a project has used.

        Raises:
            NotFound: There is none of this name.
        """
        with self._database.reading() as session:
            row = self._project(session, name)
            return ProjectUse(
                jobs=_unfinished(session, name),
                trials=row.spent_trials,
                cpu_seconds=row.spent_cpu_seconds,
                storage_bytes=_stored(session, name),
                recent_cpu_seconds=decayed(row.usage, row.usage_at, self._database.now(session)),
            )

    def admit_upload(self, size: int) -> None:
        """Check that the project may store so many bytes more.

        Raises:
            QuotaExceeded: It may not.
        """
        with self._database.reading() as session:
            row = session.get(ProjectRow, self.home)
            if row is None or row.most_storage_bytes is None:
                return
            stored = _stored(session, self.home)
            if stored + size > row.most_storage_bytes:
                raise QuotaExceeded(
                    f"project {self.home} stores {format_size(stored)} of the "
                    f"{format_size(row.most_storage_bytes)} that it may; this would add "
                    f"{format_size(size)}: {_ASK}"
                )

    def check_quotas(self, name: str) -> None:
        """Check that a project has not used up what it may.

        Raises:
            QuotaExceeded: It has.
        """
        with self._database.reading() as session:
            statement = select(ProjectRow).where(ProjectRow.name == name)
            row = session.scalars(self._visible(statement, ProjectRow.name)).one_or_none()
            message = None if row is None else exhausted(row)
            if message is not None:
                raise QuotaExceeded(message)

    def _project(self, session: Session, name: str) -> ProjectRow:
        statement = select(ProjectRow).where(ProjectRow.name == name)
        row = session.scalars(self._visible(statement, ProjectRow.name)).one_or_none()
        if row is None:
            raise NotFound(f"there is no project {name}")
        return row


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
    _check_unfinished(row, _unfinished(session, project) - 1)


def admit_unfinished(session: Session, project: str) -> None:
    """Check that a project may have one unfinished job more.

    Raises:
        QuotaExceeded: It may not.
    """
    row = session.scalars(
        select(ProjectRow).where(ProjectRow.name == project).with_for_update()
    ).one_or_none()
    if row is not None:
        _check_unfinished(row, _unfinished(session, project))


def _check_unfinished(row: ProjectRow, others: int) -> None:
    if row.most_jobs is not None and others >= row.most_jobs:
        raise QuotaExceeded(
            f"project {row.name} has {others} of the {row.most_jobs} jobs that it may have "
            f"unfinished: wait until one has ended, cancel one, or {_ASK}"
        )


def exhausted(row: Any) -> str | None:
    """Which quota the project of a row has used up, in words; None where there is none."""
    if row.most_trials is not None and row.spent_trials >= row.most_trials:
        return (
            f"project {row.name} has used {row.spent_trials} of its {row.most_trials} trials: "
            f"{_ASK}"
        )
    if row.most_cpu_seconds is not None and row.spent_cpu_seconds >= row.most_cpu_seconds:
        return (
            f"project {row.name} has used {row.spent_cpu_seconds:.0f} of its "
            f"{row.most_cpu_seconds:.0f} CPU seconds: {_ASK}"
        )
    return None


def project_record(row: ProjectRow) -> Project:
    """The value of a row."""
    return Project(
        name=row.name,
        created_at=row.created_at,
        weight=row.weight,
        priority=priority_of(row.priority),
        quotas=Quotas(
            jobs=row.most_jobs,
            trials=row.most_trials,
            cpu_seconds=row.most_cpu_seconds,
            storage_bytes=row.most_storage_bytes,
        ),
    )


def _unfinished(session: Session, project: str) -> int:
    statement = select(func.count()).where(
        JobRow.project == project,
        JobRow.state.not_in(FINAL_JOB_STATES),
        JobRow.deleted_at.is_(None),
    )
    return int(session.execute(statement).scalar_one())


def _stored(session: Session, project: str) -> int:
    statement = select(func.coalesce(func.sum(ApplicationRow.stored_bytes), 0)).where(
        ApplicationRow.project == project
    )
    return int(session.execute(statement).scalar_one())
