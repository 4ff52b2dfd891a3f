"""Machines: descriptions kept under a name for use by several jobs."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any

from sqlalchemy import select

from storage.errors import NotFound
from storage.identifiers import new_id
from storage.models import MachineRow
from storage.pagination import newest_first
from storage.records import Machine, Page
from storage.repository import ScopedRepository

__all__ = ["Machines"]


class Machines(ScopedRepository):
    """Machines, of one project or of all."""

    def add(self, *, name: str, description: dict[str, Any]) -> Machine:
        """Store a machine, or return the one that has this name and description already."""
        digest = _sha256(description)
        with self._database.writing() as session:
            self._database.insert_new(
                session,
                MachineRow,
                {
                    "id": new_id(),
                    "project": self._scope.home,
                    "name": name,
                    "sha256": digest,
                    "description": description,
                    "created_at": time.time(),
                },
            )
            row = session.scalars(
                select(MachineRow).where(
                    MachineRow.project == self._scope.home,
                    MachineRow.sha256 == digest,
                    MachineRow.name == name,
                )
            ).one()
            return _record(row)

    def get(self, machine_id: str) -> Machine:
        """One machine.

        Raises:
            NotFound: There is none with this id.
        """
        with self._database.reading() as session:
            statement = select(MachineRow).where(MachineRow.id == machine_id)
            row = session.scalars(self._scope.visible(statement, MachineRow.project)).one_or_none()
            if row is None:
                raise NotFound(f"there is no machine {machine_id}")
            return _record(row)

    def page(self, limit: int = 100, cursor: str | None = None) -> Page[Machine]:
        """Machines, newest first.

        Raises:
            InvalidInput: The limit is out of range or the cursor is not one.
        """
        with self._database.reading() as session:
            return newest_first(
                session,
                self._scope.visible(select(MachineRow), MachineRow.project),
                MachineRow.id,
                _record,
                limit=limit,
                cursor=cursor,
            )


def _sha256(description: dict[str, Any]) -> str:
    canonical = json.dumps(description, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _record(row: MachineRow) -> Machine:
    return Machine(
        id=row.id,
        name=row.name,
        sha256=row.sha256,
        description=row.description,
        created_at=row.created_at,
        project=row.project,
    )
