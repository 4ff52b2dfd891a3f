"""Scopes: whose things a repository shows, and to which project new ones belong."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from storage.database import Database
from storage.errors import NotFound
from storage.job_rows import absent_job
from storage.models import ApplicationRow, JobRow, table
from storage.records import DEFAULT_PROJECT

__all__ = ["EveryProject", "OneProject", "Scope"]

Row = TypeVar("Row")

_JOBS = table(JobRow)
_EXISTS = select(_JOBS.c.id).where(_JOBS.c.id == bindparam("job_id"), _JOBS.c.deleted_at.is_(None))


class Scope(ABC):
    """Whose things a repository shows.

    Args:
        database: Where it is looked up whose a thing is.
        home: The project to which new things belong.
    """

    def __init__(self, database: Database, home: str) -> None:
        self._database = database
        self.home = home

    @abstractmethod
    def visible(self, statement: Select[Row], owned: InstrumentedAttribute[str]) -> Select[Row]:
        """A statement narrowed to what is within; `owned` is the column that tells."""

    @abstractmethod
    def admit_job(self, job_id: str) -> None:
        """Let a job through that is within.

        Raises:
            NotFound: It is not.
        """

    @abstractmethod
    def admit_application(self, application_id: str) -> None:
        """Let an application through that is within.

        Raises:
            NotFound: It is not.
        """

    @abstractmethod
    def has_job(self, job_id: str) -> bool:
        """Whether what is known of a job may be shown, if there is anything."""

    @abstractmethod
    def ours(self, job_ids: Sequence[str]) -> list[str]:
        """Those of several jobs that are within, in their order."""

    def find_job(self, session: Session, job_id: str) -> JobRow | None:
        """A job's row, deleted or not."""
        statement = select(JobRow).where(JobRow.id == job_id)
        return session.scalars(self.visible(statement, JobRow.project)).one_or_none()

    def check_job(self, job_id: str) -> None:
        """Check that there is a job, for less than it costs to read it.

        Raises:
            NotFound: There is none with this id.
        """
        statement = self.visible(_EXISTS, JobRow.project)
        with self._database.reading() as session:
            if session.connection().execute(statement, {"job_id": job_id}).first() is None:
                raise absent_job(job_id, self.find_job(session, job_id))


class EveryProject(Scope):
    """The things of all projects, for those who serve them; new ones belong to the default one.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database, DEFAULT_PROJECT)

    def visible(self, statement: Select[Row], owned: InstrumentedAttribute[str]) -> Select[Row]:
        """The statement as it is."""
        return statement

    def admit_job(self, job_id: str) -> None:
        """Let any job through, also where there is none with this id."""

    def admit_application(self, application_id: str) -> None:
        """Let any application through, also where there is none with this id."""

    def has_job(self, job_id: str) -> bool:
        """Always: events tell of jobs that are gone, too."""
        return True

    def ours(self, job_ids: Sequence[str]) -> list[str]:
        """All of them."""
        return list(job_ids)


class OneProject(Scope):
    """The things of one project: those of others do not exist.

    Args:
        database: Where they are kept.
        project: The project.
    """

    def __init__(self, database: Database, project: str) -> None:
        super().__init__(database, project)

    def visible(self, statement: Select[Row], owned: InstrumentedAttribute[str]) -> Select[Row]:
        """A statement narrowed to what the project has."""
        return statement.where(owned == self.home)

    def admit_job(self, job_id: str) -> None:
        """Let a job of the project through.

        Raises:
            NotFound: The project has none with this id.
        """
        self.check_job(job_id)

    def admit_application(self, application_id: str) -> None:
        """Let an application of the project through.

        Raises:
            NotFound: The project has none with this id.
        """
        statement = select(ApplicationRow.id).where(
            ApplicationRow.id == application_id, ApplicationRow.project == self.home
        )
        with self._database.reading() as session:
            if session.scalar(statement) is None:
                raise NotFound(f"there is no application {application_id}")

    def has_job(self, job_id: str) -> bool:
        """Whether the project has a job; one that is gone is nobody's."""
        statement = select(JobRow.id).where(
            JobRow.id == job_id, JobRow.project == self.home, JobRow.deleted_at.is_(None)
        )
        with self._database.reading() as session:
            return session.scalar(statement) is not None

    def ours(self, job_ids: Sequence[str]) -> list[str]:
        """Those of several jobs that are the project's, in their order."""
        with self._database.reading() as session:
            ours = set(
                session.scalars(
                    select(JobRow.id).where(JobRow.project == self.home, JobRow.id.in_(job_ids))
                )
            )
        return [job_id for job_id in job_ids if job_id in ours]
