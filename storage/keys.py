"""The keys to projects."""

from __future__ import annotations

import hmac
import time
from collections.abc import Sequence
from typing import cast

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from storage.errors import Conflict, NotFound
from storage.identifiers import new_id
from storage.models import ApiKeyRow, ProjectRow
from storage.pagination import newest_first
from storage.records import ApiKey, Page, Role
from storage.repository import ForAllProjects, ScopedRepository

__all__ = ["Keys", "ProjectKeys"]

_USE_SECONDS = 60.0  # between two notes of a key's last use


class ProjectKeys(ScopedRepository):
    """Keys of a project."""

    def add(
        self,
        *,
        name: str,
        role: Role,
        scopes: Sequence[str],
        sha256: str,
        expires_at: float | None,
        created_by: str,
    ) -> ApiKey:
        """Store a key of the project.

        Args:
            name: For people.
            role: What it may at most.
            scopes: What of that it may; nothing for all.
            sha256: The digest of its secret, which is stored nowhere.
            expires_at: When it ends; None for never.
            created_by: Who made it.

        Raises:
            NotFound: There is no such project.
        """
        with self._database.writing() as session:
            if session.get(ProjectRow, self._scope.home) is None:
                raise NotFound(f"there is no project {self._scope.home}")
            row = ApiKeyRow(
                id=new_id(),
                project=self._scope.home,
                name=name,
                role=role,
                scopes=list(scopes),
                sha256=sha256,
                created_by=created_by,
                created_at=self._database.now(session),
                expires_at=expires_at,
            )
            session.add(row)
            session.flush()
            return _record(row)

    def get(self, key_id: str) -> ApiKey:
        """One key.

        Raises:
            NotFound: There is none with this id.
        """
        with self._database.reading() as session:
            return _record(self._key(session, key_id))

    def page(self, limit: int = 100, cursor: str | None = None) -> Page[ApiKey]:
        """Keys, newest first, also those that have ended.

        Raises:
            InvalidInput: The limit is out of range or the cursor is not one.
        """
        with self._database.reading() as session:
            return newest_first(
                session,
                self._scope.visible(select(ApiKeyRow), ApiKeyRow.project),
                ApiKeyRow.id,
                _record,
                limit=limit,
                cursor=cursor,
            )

    def rotate(
        self, key_id: str, *, sha256: str, grace_seconds: float, expires_at: float | None
    ) -> ApiKey:
        """Give a key another secret; the one before is good for some time yet.

        Args:
            key_id: The key.
            sha256: The digest of the new secret.
            grace_seconds: For how long the old one lasts.
            expires_at: When the key ends; None leaves that as it is.

        Raises:
            NotFound: There is none with this id.
            Conflict: The key was revoked.
        """
        with self._database.writing() as session:
            row = self._key(session, key_id)
            if row.revoked_at is not None:
                raise Conflict(f"key {key_id} was revoked; make another one")
            row.previous_sha256, row.sha256 = row.sha256, sha256
            row.previous_until = self._database.now(session) + grace_seconds
            if expires_at is not None:
                row.expires_at = expires_at
            return _record(row)

    def revoke(self, key_id: str) -> ApiKey:
        """End a key for good; one that was revoked already is left as it is.

        Raises:
            NotFound: There is none with this id.
        """
        with self._database.writing() as session:
            row = self._key(session, key_id)
            if row.revoked_at is None:
                row.revoked_at = self._database.now(session)
            return _record(row)

    def _key(self, session: Session, key_id: str) -> ApiKeyRow:
        statement = select(ApiKeyRow).where(ApiKeyRow.id == key_id)
        row = session.scalars(self._scope.visible(statement, ApiKeyRow.project)).one_or_none()
        if row is None:
            raise NotFound(f"there is no key {key_id}")
        return row


class Keys(ForAllProjects, ProjectKeys):
    """Keys of all projects, for those who let their holders in."""

    def match(self, key_id: str, sha256: str) -> ApiKey | None:
        """The key with this id if the digest is that of its secret; it may have ended.

        For some time after a rotation the secret before is as good.
        """
        with self._database.reading() as session:
            row = session.get(ApiKeyRow, key_id)
            if row is None:
                return None
            matches = hmac.compare_digest(row.sha256, sha256)
            if not matches and row.previous_sha256 is not None:
                lasts = (row.previous_until or 0.0) > time.time()
                matches = hmac.compare_digest(row.previous_sha256, sha256) and lasts
            return _record(row) if matches else None

    def note_use(self, key: ApiKey) -> None:
        """Remember that a key was used, to the minute."""
        now = time.time()
        if key.used_at is not None and now - key.used_at < _USE_SECONDS:
            return
        with self._database.writing() as session:
            session.execute(
                update(ApiKeyRow)
                .where(
                    ApiKeyRow.id == key.id,
                    or_(ApiKeyRow.used_at.is_(None), ApiKeyRow.used_at < now),
                )
                .values(used_at=now)
            )


def _record(row: ApiKeyRow) -> ApiKey:
    return ApiKey(
        id=row.id,
        project=row.project,
        name=row.name,
        role=cast("Role", row.role),
        scopes=tuple(row.scopes),
        created_by=row.created_by,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        used_at=row.used_at,
    )
