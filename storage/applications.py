"""Applications: traces, each known by the key of what it was made from."""

from __future__ import annotations

import time
from typing import Any, cast

from sqlalchemy import select

from storage.database import Repository
from storage.errors import NotFound
from storage.identifiers import new_id
from storage.models import ApplicationRow
from storage.pagination import newest_first
from storage.records import Application, ApplicationKind, Page

__all__ = ["Applications"]


class Applications(Repository):
    """The methods of `Storage` about applications."""

    def add_application(
        self,
        *,
        name: str,
        kind: ApplicationKind,
        key: str,
        trace_sha256: str,
        ranks: int,
        summary: dict[str, Any],
    ) -> Application:
        """Store an application, or return the one that has this key already."""
        with self._database.writing() as session:
            self._database.insert_new(
                session,
                ApplicationRow,
                {
                    "id": new_id(),
                    "name": name,
                    "kind": kind,
                    "key": key,
                    "trace_sha256": trace_sha256,
                    "ranks": ranks,
                    "summary": summary,
                    "created_at": time.time(),
                },
            )
            row = session.scalars(select(ApplicationRow).where(ApplicationRow.key == key)).one()
            return _record(row)

    def find_application(self, key: str) -> Application | None:
        """The application made from what the key says, if it was made before."""
        with self._database.reading() as session:
            row = session.scalars(
                select(ApplicationRow).where(ApplicationRow.key == key)
            ).one_or_none()
            return None if row is None else _record(row)

    def get_application(self, application_id: str) -> Application:
        """One application.

        Raises:
            NotFound: There is none with this id.
        """
        with self._database.reading() as session:
            row = session.get(ApplicationRow, application_id)
            if row is None:
                raise NotFound(f"there is no application {application_id}")
            return _record(row)

    def list_applications(self, limit: int = 100, cursor: str | None = None) -> Page[Application]:
        """Applications, newest first.

        Raises:
            InvalidInput: The limit is out of range or the cursor is not one.
        """
        with self._database.reading() as session:
            return newest_first(
                session,
                select(ApplicationRow),
                ApplicationRow.id,
                _record,
                limit=limit,
                cursor=cursor,
            )


def _record(row: ApplicationRow) -> Application:
    return Application(
        id=row.id,
        name=row.name,
        kind=cast("ApplicationKind", row.kind),
        key=row.key,
        trace_sha256=row.trace_sha256,
        ranks=row.ranks,
        summary=row.summary,
        created_at=row.created_at,
    )
