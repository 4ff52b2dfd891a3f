"""The event log, which watchers follow by the id of the last event they saw."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from storage.database import Noted, Repository
from storage.models import EventRow
from storage.pagination import check_limit
from storage.records import Event

__all__ = ["Events"]


class Events(Repository):
    """The methods of `Storage` about events. Ids show up in order: none is ever passed over."""

    def append_event(self, job_id: str, kind: str, data: dict[str, Any]) -> Event:
        """Append an event by itself; changes of jobs and trials append theirs with the change."""
        with self._database.writing() as session:
            noted = self._database.note(session, job_id, kind, data)
        return _record(noted)

    def events_after(
        self, cursor: int, *, job_id: str | None = None, limit: int = 1000
    ) -> list[Event]:
        """Events with ids above the cursor (0: from the beginning), of one job or of all.

        Raises:
            InvalidInput: The limit is out of range.
        """
        check_limit(limit)
        statement = select(EventRow).where(EventRow.id > cursor)
        if job_id is not None:
            statement = statement.where(EventRow.job_id == job_id)
        with self._database.reading() as session:
            return [
                _record(row)
                for row in session.scalars(statement.order_by(EventRow.id).limit(limit))
            ]

    def last_event_id(self) -> int:
        """The cursor of now: no event has a higher id yet; 0 where there is none."""
        with self._database.reading() as session:
            return session.scalar(select(func.max(EventRow.id))) or 0


def _record(row: EventRow | Noted) -> Event:
    return Event(id=row.id, job_id=row.job_id, kind=row.kind, data=row.data, at=row.at)
