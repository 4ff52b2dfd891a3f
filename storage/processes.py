"""Which processes serve the database, and whether they fit together."""

from __future__ import annotations

from typing import cast

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from storage.errors import Conflict
from storage.models import ProcessRow
from storage.records import Process, ProcessKind
from storage.repository import Repository

__all__ = ["PROCESS_SILENCE_SECONDS", "Processes", "ProjectProcesses"]

PROCESS_SILENCE_SECONDS = 30.0
"""After how long without a word a process counts as gone."""


class ProjectProcesses(Repository):
    """What a project may know of processes: how much they do at once."""

    def worker_slots(self) -> int | None:
        """How many evaluations the workers that live make at once; None where none is known.

        Workers inside an embedded service are not known.
        """
        with self._database.reading() as session:
            living = self._living(session, self._database.now(session))
            slots = [row.concurrency or 0 for row in living if row.kind == "worker"]
            return sum(slots) if slots else None

    def _living(self, session: Session, now: float) -> list[ProcessRow]:
        return list(
            session.scalars(
                select(ProcessRow)
                .where(ProcessRow.heard_at > now - PROCESS_SILENCE_SECONDS)
                .order_by(ProcessRow.kind, ProcessRow.name)
            )
        )


class Processes(ProjectProcesses):
    """The processes that serve the database."""

    def register(
        self,
        name: str,
        kind: ProcessKind,
        *,
        version: str,
        contract: int,
        simulator: str | None = None,
        concurrency: int | None = None,
    ) -> None:
        """Note that a process serves the database from now on.

        Raises:
            Conflict: A process that does not fit it serves the database.
        """
        with self._database.writing() as session:
            now = self._database.now(session)
            for other in self._living(session, now):
                misfit = _misfit(other, contract, simulator)
                if misfit is not None:
                    raise Conflict(
                        f"this {kind} ({version}) does not fit {other.kind} {other.name} "
                        f"({other.version}), which serves the same database: {misfit}; end the one "
                        "or the other (one that was killed is forgotten after "
                        f"{PROCESS_SILENCE_SECONDS:.0f} s)"
                    )
            session.execute(delete(ProcessRow).where(ProcessRow.name == name))
            session.add(
                ProcessRow(
                    name=name,
                    kind=kind,
                    version=version,
                    contract=contract,
                    simulator=simulator,
                    concurrency=concurrency,
                    started_at=now,
                    heard_at=now,
                )
            )

    def beat(self, name: str) -> None:
        """Say that a process lives."""
        with self._database.writing() as session:
            now = self._database.now(session)
            session.execute(update(ProcessRow).where(ProcessRow.name == name).values(heard_at=now))
            gone = now - 10 * PROCESS_SILENCE_SECONDS
            session.execute(delete(ProcessRow).where(ProcessRow.heard_at < gone))

    def forget(self, name: str) -> None:
        """Note that a process has ended."""
        with self._database.writing() as session:
            session.execute(delete(ProcessRow).where(ProcessRow.name == name))

    def living(self) -> list[Process]:
        """The processes that were heard of lately, by kind and name."""
        with self._database.reading() as session:
            return [_record(row) for row in self._living(session, self._database.now(session))]


def _misfit(other: ProcessRow, contract: int, simulator: str | None) -> str | None:
    if other.contract != contract:
        return f"they speak contract {contract} and {other.contract}"
    if None not in (other.simulator, simulator) and other.simulator != simulator:
        return f"they simulate with {simulator} and {other.simulator}, whose times may differ"
    return None


def _record(row: ProcessRow) -> Process:
    return Process(
        name=row.name,
        kind=cast("ProcessKind", row.kind),
        version=row.version,
        contract=row.contract,
        simulator=row.simulator,
        concurrency=row.concurrency,
        started_at=row.started_at,
        heard_at=row.heard_at,
    )
