"""Applications: traces, each known by the key of what it was made from."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from sqlalchemy import Select, or_, select, update
from sqlalchemy.orm import Session

from storage.artifacts import Artifacts
from storage.database import Database
from storage.errors import NotFound, Unavailable
from storage.identifiers import new_id
from storage.models import ApplicationRow
from storage.pagination import newest_first
from storage.records import Application, ApplicationKind, ApplicationState, LogName, Page
from storage.repository import ScopedRepository
from storage.scopes import Scope

__all__ = ["Applications", "fill_stored_bytes"]


class Applications(ScopedRepository):
    """Applications, of one project or of all."""

    def __init__(self, database: Database, scope: Scope, artifacts: Artifacts) -> None:
        super().__init__(database, scope)
        self._artifacts = artifacts

    def add(
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
        return self._add(
            name=name,
            kind=kind,
            key=key,
            trace_sha256=trace_sha256,
            ranks=ranks,
            summary=summary,
            state="ready",
        )

    def add_source(self, *, name: str, key: str, recipe: dict[str, Any], ranks: int) -> Application:
        """Store an application that is yet to be captured, or return the one with this key."""
        return self._add(
            name=name,
            kind="source",
            key=key,
            trace_sha256="",
            ranks=ranks,
            summary={},
            state="new",
            recipe=recipe,
        )

    def _add(self, *, key: str, **values: Any) -> Application:
        with self._database.writing() as session:
            row = {
                "stored_bytes": _stored_bytes(
                    self._artifacts, values["trace_sha256"], values.get("recipe"), None
                ),
                "id": new_id(),
                "project": self._scope.home,
                "key": key,
                "created_at": time.time(),
                **values,
            }
            self._database.insert_new(session, ApplicationRow, row)
            return _record(session.scalars(self._with_key(key)).one())

    def claim_capture(self, application_id: str, worker: str, *, silence_seconds: float) -> bool:
        """Take the capture of a source application on oneself, unless another worker is at it.

        Args:
            application_id: Of an application that is not ready.
            worker: Who takes it.
            silence_seconds: After how long without a word another worker counts as dead.
        """
        self._scope.admit_application(application_id)
        with self._database.writing() as session:
            now = self._database.now(session)
            free = or_(
                ApplicationRow.state.in_(("new", "failed")),
                (ApplicationRow.state == "capturing")
                & (ApplicationRow.claimed_at < now - silence_seconds),
            )
            claimed = session.execute(
                update(ApplicationRow)
                .where(ApplicationRow.id == application_id, free)
                .values(
                    state="capturing",
                    claimed_by=worker,
                    claimed_at=now,
                    error=None,
                    build_log=None,
                    run_log=None,
                    capture_progress=None,
                )
                .returning(ApplicationRow.id)
            )
            return claimed.first() is not None

    def report_capture(
        self,
        application_id: str,
        worker: str,
        *,
        state: ApplicationState = "capturing",
        **values: Any,
    ) -> bool:
        """Say how far a claimed capture is, or how it ended; False where another has taken it.

        Args:
            application_id: The application.
            worker: Who claimed its capture.
            state: `capturing` as long as it goes on, `new` to give it back.
            values: What is known: `build_log`, `run_log`, `capture_progress`, `error`,
                `trace_sha256`, `summary`, and `output_files` (`sha256` of an archive, `files` in
                it and those `left_out`).
        """
        self._scope.admit_application(application_id)
        if not values.keys().isdisjoint(("trace_sha256", "output_files")):
            # Anew, for what an earlier try has left is replaced by this.
            with self._database.reading() as session:
                row = self._get(session, application_id)
                values["stored_bytes"] = _stored_bytes(
                    self._artifacts,
                    values.get("trace_sha256", row.trace_sha256),
                    row.recipe,
                    values.get("output_files", row.output_files),
                )
        with self._database.writing() as session:
            changed = session.execute(
                update(ApplicationRow)
                .where(
                    ApplicationRow.id == application_id,
                    ApplicationRow.state == "capturing",
                    ApplicationRow.claimed_by == worker,
                )
                .values(state=state, claimed_at=self._database.now(session), **values)
                .returning(ApplicationRow.id)
            )
            return changed.first() is not None

    def add_to_summary(self, application_id: str, **values: Any) -> Application:
        """Note more of what the trace of an application holds.

        Raises:
            NotFound: There is no such application.
        """
        with self._database.writing() as session:
            row = self._get(session, application_id)
            row.summary = {**row.summary, **values}
            return _record(row)

    def log(self, application_id: str, log: LogName) -> str:
        """What building or running an application printed; empty where that has not begun.

        Raises:
            NotFound: There is no such application, or it was not made from a source tree.
        """
        with self._database.reading() as session:
            row = self._get(session, application_id)
            if row.kind != "source":
                raise NotFound(
                    f"application {application_id} has no logs: it was not built from a source tree"
                )
            return (row.build_log if log == "build" else row.run_log) or ""

    def output_files(self, application_id: str) -> dict[str, Any]:
        """What the last runs of an application left, as `report_capture` has it.

        Raises:
            NotFound: There is no such application, or none of its runs has ended.
        """
        with self._database.reading() as session:
            files = self._get(session, application_id).output_files
            if files is None:
                raise NotFound(
                    f"application {application_id} has no files: no program was run for it"
                )
            return files

    def find(self, key: str) -> Application | None:
        """The application made from what the key says, if it was made before."""
        with self._database.reading() as session:
            row = session.scalars(self._with_key(key)).one_or_none()
            return None if row is None else _record(row)

    def has_source(self, sha256: str) -> bool:
        """Whether an application was made of the source tree with this digest."""
        source = ApplicationRow.recipe["source_sha256"].as_string()
        statement = select(ApplicationRow.id).where(
            ApplicationRow.kind == "source", source == sha256
        )
        with self._database.reading() as session:
            found = session.scalars(self._scope.visible(statement, ApplicationRow.project).limit(1))
            return found.first() is not None

    def _with_key(self, key: str) -> Select[ApplicationRow]:
        return select(ApplicationRow).where(
            ApplicationRow.project == self._scope.home, ApplicationRow.key == key
        )

    def _get(self, session: Session, application_id: str) -> ApplicationRow:
        statement = select(ApplicationRow).where(ApplicationRow.id == application_id)
        row = session.scalars(self._scope.visible(statement, ApplicationRow.project)).one_or_none()
        if row is None:
            raise NotFound(f"there is no application {application_id}")
        return row

    def get(self, application_id: str) -> Application:
        """One application.

        Raises:
            NotFound: There is none with this id.
        """
        with self._database.reading() as session:
            return _record(self._get(session, application_id))

    def page(self, limit: int = 100, cursor: str | None = None) -> Page[Application]:
        """Applications, newest first.

        Raises:
            InvalidInput: The limit is out of range or the cursor is not one.
        """
        with self._database.reading() as session:
            return newest_first(
                session,
                self._scope.visible(select(ApplicationRow), ApplicationRow.project),
                ApplicationRow.id,
                _record,
                limit=limit,
                cursor=cursor,
            )


def fill_stored_bytes(database: Database, artifacts: Artifacts) -> None:
    """Note the bytes of applications that are older than that column.

    Those whose artifacts are not to be found, or not now, are left for another time.
    """
    uncounted = select(
        ApplicationRow.id,
        ApplicationRow.trace_sha256,
        ApplicationRow.recipe,
        ApplicationRow.output_files,
    ).where(ApplicationRow.stored_bytes == 0)
    with database.reading() as session:
        found = session.execute(uncounted).all()
    counted = {}
    with suppress(Unavailable):
        for row in found:
            size = _stored_bytes(artifacts, row.trace_sha256, row.recipe, row.output_files)
            if size:
                counted[row.id] = size
    if not counted:
        return
    with database.writing() as session:
        for application_id, size in counted.items():
            session.execute(
                update(ApplicationRow)
                .where(ApplicationRow.id == application_id, ApplicationRow.stored_bytes == 0)
                .values(stored_bytes=size)
            )


def _stored_bytes(
    artifacts: Artifacts,
    trace_sha256: str,
    recipe: Mapping[str, Any] | None,
    output_files: Mapping[str, Any] | None,
) -> int:
    """The bytes of what an application refers to, each once."""
    digests = {
        trace_sha256,
        str((recipe or {}).get("source_sha256", "")),
        str((output_files or {}).get("sha256", "")),
    }
    return sum(map(artifacts.size, digests))


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
        state=cast("ApplicationState", row.state),
        recipe=row.recipe,
        error=row.error,
        claimed_at=row.claimed_at,
        capture_progress=row.capture_progress if row.state == "capturing" else None,
        project=row.project,
    )
