"""The log of what was done with the keys of projects."""

from __future__ import annotations

from sqlalchemy import delete, select

from storage.identifiers import new_id
from storage.models import AuditRow
from storage.pagination import newest_first
from storage.records import AuditEntry, Page
from storage.repository import ForAllProjects, ScopedRepository

__all__ = ["Audit", "ProjectAudit"]


class ProjectAudit(ScopedRepository):
    """The audit log of a project."""

    def add(self, *, actor: str, address: str, action: str, target: str, status: int) -> None:
        """Append an entry to the audit log of the project."""
        with self._database.writing() as session:
            session.add(
                AuditRow(
                    id=new_id(),
                    project=self._scope.home,
                    at=self._database.now(session),
                    actor=actor,
                    address=address,
                    action=action,
                    target=target,
                    status=status,
                )
            )

    def page(self, limit: int = 100, cursor: str | None = None) -> Page[AuditEntry]:
        """Entries of the audit log, newest first.

        Raises:
            InvalidInput: The limit is out of range or the cursor is not one.
        """
        with self._database.reading() as session:
            return newest_first(
                session,
                self._scope.visible(select(AuditRow), AuditRow.project),
                AuditRow.id,
                _entry,
                limit=limit,
                cursor=cursor,
            )


class Audit(ForAllProjects, ProjectAudit):
    """The audit log of all projects, for those who keep it."""

    def forget(self, before: float) -> int:
        """Delete entries older than a point in time; how many there were."""
        with self._database.writing() as session:
            gone = session.execute(delete(AuditRow).where(AuditRow.at < before))
            return int(getattr(gone, "rowcount", 0))


def _entry(row: AuditRow) -> AuditEntry:
    return AuditEntry(
        id=row.id,
        project=row.project,
        at=row.at,
        actor=row.actor,
        address=row.address,
        action=row.action,
        target=row.target,
        status=row.status,
    )
