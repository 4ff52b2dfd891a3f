"""Projects, and what they may use."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from searchspace.units import format_size
from storage.errors import NotFound, QuotaExceeded
from storage.fair_share import PRIORITIES
from storage.job_rows import priority_of
from storage.models import ProjectRow
from storage.project_rows import decayed
from storage.quotas import ASK, exhausted, stored_bytes, unfinished_jobs
from storage.records import Priority, Project, Quotas
from storage.repository import ForAllProjects, ScopedRepository

__all__ = ["OwnProject", "ProjectUse", "Projects"]

_NOTHING_USED = {
    "weight": 1.0,
    "priority": 0,
    "usage": 0.0,
    "usage_at": 0.0,
    "spent_trials": 0,
    "spent_cpu_seconds": 0.0,
}


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


class OwnProject(ScopedRepository):
    """What a project may know of itself."""

    def all(self) -> list[Project]:
        """All projects by name; of a project, itself."""
        statement = self._scope.visible(select(ProjectRow), ProjectRow.name)
        with self._database.reading() as session:
            return [_record(row) for row in session.scalars(statement.order_by(ProjectRow.name))]

    def get(self, name: str) -> Project:
        """One project.

        Raises:
            NotFound: There is none of this name.
        """
        with self._database.reading() as session:
            return _record(self._project(session, name))

    def use(self, name: str) -> ProjectUse:
        """What a project has used.

        Raises:
            NotFound: There is none of this name.
        """
        with self._database.reading() as session:
            row = self._project(session, name)
            return ProjectUse(
                jobs=unfinished_jobs(session, name),
                trials=row.spent_trials,
                cpu_seconds=row.spent_cpu_seconds,
                storage_bytes=stored_bytes(session, name),
                recent_cpu_seconds=decayed(row.usage, row.usage_at, self._database.now(session)),
            )

    def admit_upload(self, size: int) -> None:
        """Check that the project may store so many bytes more.

        Raises:
            QuotaExceeded: It may not.
        """
        with self._database.reading() as session:
            row = session.get(ProjectRow, self._scope.home)
            if row is None or row.most_storage_bytes is None:
                return
            stored = stored_bytes(session, self._scope.home)
            if stored + size > row.most_storage_bytes:
                raise QuotaExceeded(
                    f"project {self._scope.home} stores {format_size(stored)} of the "
                    f"{format_size(row.most_storage_bytes)} that it may; this would add "
                    f"{format_size(size)}: {ASK}"
                )

    def check_quotas(self, name: str) -> None:
        """Check that a project has not used up what it may.

        Raises:
            QuotaExceeded: It has.
        """
        with self._database.reading() as session:
            statement = select(ProjectRow).where(ProjectRow.name == name)
            row = session.scalars(self._scope.visible(statement, ProjectRow.name)).one_or_none()
            message = None if row is None else exhausted(row)
            if message is not None:
                raise QuotaExceeded(message)

    def _project(self, session: Session, name: str) -> ProjectRow:
        statement = select(ProjectRow).where(ProjectRow.name == name)
        row = session.scalars(self._scope.visible(statement, ProjectRow.name)).one_or_none()
        if row is None:
            raise NotFound(f"there is no project {name}")
        return row


class Projects(ForAllProjects, OwnProject):
    """All projects, for those who serve them."""

    def add(self, name: str) -> Project:
        """Store a project, or return the one that has this name already."""
        with self._database.writing() as session:
            self._database.insert_new(
                session,
                ProjectRow,
                {"name": name, "created_at": self._database.now(session), **_NOTHING_USED},
            )
            return _record(session.get_one(ProjectRow, name))

    def has(self, name: str) -> bool:
        """Whether there is a project of this name."""
        with self._database.reading() as session:
            return session.get(ProjectRow, name) is not None

    def change(
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
            return _record(session.get_one(ProjectRow, name, populate_existing=True))


def _record(row: ProjectRow) -> Project:
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
