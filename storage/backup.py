"""Backups: all rows and all artifacts in one archive, from which any kind of database is restored.

A tar archive holds `manifest.json` (revision, number of rows by table, artifacts), and, before it,
`tables/NAME.jsonl` with a JSON list a row, and `artifacts/SHA256`.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sqlalchemy import JSON, Connection, LargeBinary, MetaData, Table, func, insert, select, text

from searchspace.errors import InvalidInput
from storage import schema
from storage.artifacts import Artifacts
from storage.database import Database, plainly
from storage.errors import (
    ArtifactDamaged,
    ArtifactMissing,
    Conflict,
    Unavailable,
    UnknownRevision,
)
from storage.records import DEFAULT_PROJECT

__all__ = ["BackupSummary", "restore", "write_backup"]

_FORMAT = 1
_ROWS = 1000
_CHUNK_BYTES = 1 << 20
_LEFT_OUT = ("alembic_version", "processes")


@dataclass(frozen=True)
class BackupSummary:
    """What an archive holds."""

    revision: str
    rows: dict[str, int]
    artifacts: int


def write_backup(database: Database, artifacts: Artifacts, target: Path) -> BackupSummary:
    """Write all that is stored to an archive; the service may go on meanwhile.

    Rows are of one moment. Artifacts are copied after them, and each is verified.

    Args:
        database: With tables of this version.
        artifacts: The store.
        target: The archive, which appears when it is complete, for its owner alone to read.

    Raises:
        ArtifactDamaged: One was altered; the backup would be worth nothing.
    """
    # Rows hold secrets, so nobody else may read it while it grows either. The name is nobody else's
    # too: of two backups to one target the later one is there in the end, whole.
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    draft = Path(name)
    try:
        with (
            os.fdopen(handle, "wb") as file,
            tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive,
        ):
            revision, rows, digests = _add_tables(database, archive)
            stored = list(_add_artifacts(artifacts, archive))
            manifest = {
                "format": _FORMAT,
                "revision": revision,
                "made_at": time.time(),
                "rows": rows,
                "sha256": digests,
                "artifacts": stored,
            }
            _add(archive, "manifest.json", io.BytesIO(json.dumps(manifest).encode()))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return BackupSummary(revision, rows, len(stored))


def _add_tables(
    database: Database, archive: tarfile.TarFile
) -> tuple[str, dict[str, int], dict[str, str]]:
    """Add all tables as of one moment; their revision, and the rows and the SHA-256 of each."""
    rows, digests = {}, {}
    with plainly(), _snapshot(database) as connection:
        revision = str(schema.revision_of(connection))
        for table in _tables(connection):
            with tempfile.TemporaryFile() as file:
                with _having_room("the rows of a table"):
                    rows[table.name], digests[table.name] = _dump(connection, table, file)
                _add(archive, f"tables/{table.name}.jsonl", file)
    return revision, rows, digests


def _add_artifacts(artifacts: Artifacts, archive: tarfile.TarFile) -> Iterator[str]:
    """Add all artifacts, and yield their digests."""
    for digest in artifacts.names():
        try:
            path = artifacts.path(digest)
        except ArtifactMissing:  # it was expired a moment ago: no row refers to it
            continue
        with path.open("rb") as artifact:
            _add(archive, f"artifacts/{digest}", artifact)
        yield digest


@contextmanager
def _having_room(what: str) -> Iterator[None]:
    """Say in plain words that the directory for temporary files cannot take something.

    Raises:
        Unavailable: It is full, or cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"{tempfile.gettempdir()} cannot take {what}: {error.strerror or error}; set TMPDIR to "
            "a directory with room for it"
        ) from error


def restore(source: Path, database: Database, artifacts: Artifacts) -> BackupSummary:
    """Fill an empty database and a store from an archive, and bring the tables up to date.

    One that fails leaves the database empty, so that it can be repeated.

    Args:
        source: The archive.
        database: Without tables, or with those of a known revision in which nothing is.
        artifacts: The store; what it has already stays.

    Raises:
        InvalidInput: The file is no backup, or is damaged.
        ArtifactDamaged: An artifact is damaged in it.
        UnknownRevision: A newer Hamtune has written it.
        Conflict: The database is not empty.
        Unavailable: The database, the store or the directory for temporary files cannot take it.
    """
    with plainly(), database.engine.connect() as connection:
        _check_empty(connection)
    with tempfile.TemporaryDirectory(prefix="hamtune-restore-") as directory:
        manifest = _unpack(source, Path(directory))
        # First, for what is put twice is there once; rows that are there refer to nothing missing.
        for digest in manifest["artifacts"]:
            try:
                found = artifacts.put(Path(directory) / "artifacts" / digest)
            except OSError as error:
                raise Unavailable(
                    f"the artifact store cannot take the backup: {error.strerror or error}"
                ) from error
            if found != digest:
                raise ArtifactDamaged(f"artifact {digest} is damaged in the backup")
        with plainly(), database.migrating() as connection:
            schema.hold(connection)
            _check_empty(connection)  # also of what a process that started meanwhile has put there
            if schema.revision_of(connection) is not None:
                schema.take_back(connection, "base")
            schema.migrate(connection, manifest["revision"])
            _fill(connection, manifest, Path(directory) / "tables")
            schema.migrate(connection, "head")
    return BackupSummary(manifest["revision"], manifest["rows"], len(manifest["artifacts"]))


def _check_empty(connection: Connection) -> None:
    """Check that nothing would be lost: processes bring tables, and the migrations a project.

    Raises:
        Conflict: There are other rows, or tables of an unknown revision.
    """
    revision = schema.revision_of(connection)
    if revision is None:
        return
    refused = "the database is not empty; a backup is restored into a new one"
    if not schema.is_known(revision):
        raise Conflict(refused)
    for table in _tables(connection):
        rows = select(func.count()).select_from(table)
        if table.name == "projects":
            rows = rows.where(table.c.name != DEFAULT_PROJECT)
        if connection.execute(rows).scalar_one():
            raise Conflict(f"{refused} (there are rows in {table.name})")


def _fill(connection: Connection, manifest: dict[str, Any], directory: Path) -> None:
    """Put the rows of a backup, and no others, into tables of its revision."""
    for table in _tables(connection):
        connection.execute(table.delete())  # what the migrations put there
    for table in _tables(connection):
        if table.name in manifest["rows"]:
            _load(connection, table, directory / f"{table.name}.jsonl")
    if connection.dialect.name == "postgresql":
        connection.execute(
            text(
                "SELECT setval(pg_get_serial_sequence('events', 'id'), "
                "(SELECT coalesce(max(id), 0) + 1 FROM events), false)"
            )
        )
    _compare(connection, manifest)


def _snapshot(database: Database) -> Connection:
    engine = database.engine
    if not database.is_sqlite:
        engine = engine.execution_options(isolation_level="REPEATABLE READ")
    return engine.connect()


def _tables(connection: Connection) -> list[Table]:
    """The tables as they are, which may be those of another revision than the models."""
    metadata = MetaData()
    metadata.reflect(connection)
    for column in (column for table in metadata.tables.values() for column in table.columns):
        if isinstance(column.type, JSON):
            column.type.none_as_null = True  # as in the models
    return [table for table in metadata.sorted_tables if table.name not in _LEFT_OUT]


def _dump(connection: Connection, table: Table, file: IO[bytes]) -> tuple[int, str]:
    """Write the rows of a table in the order of its key; how many, and the digest of the file."""
    digest, count = hashlib.sha256(), 0
    found = connection.execution_options(yield_per=_ROWS).execute(
        select(table).order_by(*table.primary_key.columns)
    )
    header = json.dumps([column.name for column in table.columns])
    for line in (header, *(json.dumps([_plain(value) for value in row]) for row in found)):
        content = line.encode() + b"\n"
        digest.update(content)
        file.write(content)
        count += 1
    file.seek(0)
    return count - 1, digest.hexdigest()


def _load(connection: Connection, table: Table, path: Path) -> None:
    with path.open() as lines:
        names = json.loads(next(lines))
        binary = {name for name in names if isinstance(table.columns[name].type, LargeBinary)}
        batch: list[dict[str, Any]] = []
        for line in lines:
            values = dict(zip(names, json.loads(line), strict=True))
            for name in binary:
                if values[name] is not None:
                    values[name] = base64.b64decode(values[name]["base64"])
            batch.append(values)
            if len(batch) == _ROWS:
                connection.execute(insert(table), batch)
                batch = []
        if batch:
            connection.execute(insert(table), batch)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return {"base64": base64.b64encode(bytes(value)).decode()}
    return value


def _compare(connection: Connection, manifest: dict[str, Any]) -> None:
    for table in _tables(connection):
        count = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if count != manifest["rows"].get(table.name, 0):
            raise InvalidInput(f"table {table.name} came to {count} rows; the backup is damaged")


def _add(archive: tarfile.TarFile, name: str, file: IO[bytes]) -> None:
    entry = tarfile.TarInfo(name)
    file.seek(0, io.SEEK_END)
    entry.size = file.tell()
    entry.mode = 0o600
    file.seek(0)
    archive.addfile(entry, file)


def _unpack(source: Path, directory: Path) -> dict[str, Any]:
    """Take the known members out of an archive, and check the rows against the manifest."""
    try:
        with tarfile.open(source, "r:gz") as archive:
            for member in _regular(archive):
                content = archive.extractfile(member)
                assert content is not None
                _copy(content, directory / member.name)
        manifest: dict[str, Any] = json.loads((directory / "manifest.json").read_text())
        if manifest["format"] != _FORMAT:
            raise InvalidInput(f"{source} is a backup of another format")
        _check_manifest(manifest, directory)
        if not schema.is_known(manifest["revision"]):
            raise UnknownRevision(
                f"{source} is of revision {manifest['revision']}, and this Hamtune knows those up "
                f"to {schema.newest_revision()}: restore it with the version that wrote it"
            )
        for name, expected in manifest["sha256"].items():
            with (directory / "tables" / f"{name}.jsonl").open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                    raise InvalidInput(f"table {name} is damaged in the backup {source}")
    except (
        tarfile.TarError, zlib.error, OSError, EOFError, ValueError, KeyError, TypeError,
    ) as error:  # fmt: skip
        raise InvalidInput(f"{source} is no complete backup: {error}") from None
    return manifest


def _copy(content: IO[bytes], target: Path) -> None:
    """Write a member of an archive to a file."""
    with _having_room("what is in the backup"):
        target.parent.mkdir(exist_ok=True)
        file = target.open("wb")
    with file:
        while chunk := content.read(_CHUNK_BYTES):
            with _having_room("what is in the backup"):
                file.write(chunk)
                file.flush()


def _check_manifest(manifest: Mapping[str, Any], directory: Path) -> None:
    """Check that a manifest is whole, and that all artifacts that it names are there.

    Raises:
        ValueError: It is not, or one is not.
        KeyError: Likewise.
        TypeError: Likewise.
    """
    if not all(isinstance(count, int) for count in dict(manifest["rows"]).values()):
        raise TypeError("its manifest counts no rows")
    for digest in manifest["artifacts"]:
        if re.fullmatch("[0-9a-f]{64}", digest) is None:
            raise ValueError("its manifest names what is no artifact")
        if not (directory / "artifacts" / digest).is_file():
            raise ValueError(f"artifact {digest} is missing")


def _regular(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in archive:
        parts = member.name.split("/")
        inside = (
            parts[0] in ("tables", "artifacts") and len(parts) == 2 and parts[1] not in ("", "..")
        )
        if not member.isfile() or not (inside or member.name == "manifest.json"):
            raise InvalidInput(f"{member.name!r} does not belong into a backup")
        yield member
