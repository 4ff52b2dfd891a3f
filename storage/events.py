"""The event log, which watchers follow by the id of the last event they saw."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, func, select

from searchspace.errors import InvalidInput
from storage.database import Noted
from storage.models import EventRow
from storage.pagination import check_limit
from storage.records import Event
from storage.repository import ForAllProjects, ScopedRepository

__all__ = ["Events", "ProjectEvents"]


class ProjectEvents(ScopedRepository):
    """Events of a project's jobs. Ids show up in order: none is ever passed over."""

    def after(self, cursor: int, *, job_id: str, limit: int = 1000) -> list[Event]:
        """Events of a job with ids above the cursor (0: from the beginning).

        Those of a job that is gone are no project's.

        Raises:
            InvalidInput: The limit is out of range, or no job is named.
        """
        if not job_id:
            raise InvalidInput("a project reads the events of one job at a time", field="job_id")
        if not self._scope.has_job(job_id):
            return []
        check_limit(limit)
        return self._read(cursor, limit, EventRow.job_id == job_id)

    def last_id(self) -> int:
        """The cursor of now: no event has a higher id yet; 0 where there is none."""
        with self._database.reading() as session:
            return session.scalar(select(func.max(EventRow.id))) or 0

    def _read(self, cursor: int, limit: int, *which: ColumnElement[bool]) -> list[Event]:
        statement = select(EventRow).where(EventRow.id > cursor, *which)
        with self._database.reading() as session:
            return [
                _record(row)
                for row in session.scalars(statement.order_by(EventRow.id).limit(limit))
            ]


class Events(ForAllProjects, ProjectEvents):
    """The event log of all projects."""

    def append(self, job_id: str, kind: str, data: dict[str, Any]) -> Event:
        """Append an event by itself; changes of jobs and trials append theirs with the change."""
        with self._database.writing() as session:
            noted = self._database.note(session, job_id, kind, data)
        return _record(noted)

    def after(self, cursor: int, *, job_id: str | None = None, limit: int = 1000) -> list[Event]:
        """Events with ids above the cursor (0: from the beginning), of one job or of all.

        Raises:
            InvalidInput: The limit is out of range.
        """
        if job_id is not None:
            return super().after(cursor, job_id=job_id, limit=limit)
        check_limit(limit)
        return self._read(cursor, limit)


def _record(row: EventRow | Noted) -> Event:
    return Event(id=row.id, job_id=row.job_id, kind=row.kind, data=row.data, at=row.at)
