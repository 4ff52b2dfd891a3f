"""One face for SQLite and PostgreSQL: connections, transactions, clocks, order of events."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Double,
    Engine,
    Table,
    cast,
    create_engine,
    event,
    func,
    literal,
    make_url,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError
from sqlalchemy.orm import Session

from searchspace.errors import InvalidInput
from storage.errors import Unavailable
from storage.models import Base, EventRow

__all__ = ["Database", "Repository"]

_BUSY_MILLISECONDS = 30_000
_EVENT_LOCK = 0x48544556  # advisory lock of the event log: "HTEV"


class Database:
    """An engine with the transactions that the repositories need. Safe for use by many threads.

    Args:
        url: `sqlite:///path` or `postgresql+psycopg://...`.

    Raises:
        InvalidInput: The URL is malformed or names another kind of database.
    """

    def __init__(self, url: str) -> None:
        parsed = _parse(url)
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self.engine = _sqlite_engine(parsed)
        else:
            self.engine = create_engine(parsed, pool_size=10, max_overflow=50, pool_pre_ping=True)
        self._reader = self.engine
        self._writer = self.engine.execution_options(hamtune_writes=True)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session for reads: one snapshot on SQLite, read committed on PostgreSQL."""
        with _plainly(), Session(self._reader, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that is committed at the end, with the events noted in it.

        On SQLite it holds the write lock from its start, so that what it read is still true when
        it writes. On PostgreSQL the repositories lock rows, the job's always first.
        """
        with (
            _plainly(),
            Session(self._writer, expire_on_commit=False) as session,
            session.begin(),
        ):
            noted: list[EventRow] = session.info.setdefault("events", [])
            yield session
            if noted:
                session.flush()
                self._append_events(session, noted)

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """A connection in a transaction that may change the tables."""
        with self._writer.connect() as connection:
            if self.is_sqlite:
                # SQLite changes a table by making a new one and dropping the old, which must not
                # carry the rows that refer to it away. The switch only acts between transactions.
                connection.connection.cursor().execute("PRAGMA foreign_keys = OFF")
            try:
                with connection.begin():
                    yield connection
            finally:
                if self.is_sqlite:
                    connection.connection.cursor().execute("PRAGMA foreign_keys = ON")

    def note(self, session: Session, job_id: str, kind: str, data: Mapping[str, Any]) -> EventRow:
        """Note an event; it is appended when the transaction commits."""
        row = EventRow(job_id=job_id, kind=kind, at=time.time(), data=dict(data))
        session.info["events"].append(row)
        return row

    def _append_events(self, session: Session, noted: list[EventRow]) -> None:
        # On PostgreSQL ids are drawn before the commit that shows them, so a watcher could see 6,
        # move its cursor past it, and never see 5. Whoever appends therefore holds this lock from
        # drawing the id until the commit is visible; it is taken last, so it is held briefly and
        # never while waiting for a row.
        if not self.is_sqlite:
            session.execute(select(func.pg_advisory_xact_lock(_EVENT_LOCK)))
        session.add_all(noted)
        session.flush()

    def clock(self) -> ColumnElement[float]:
        """Seconds since the epoch, by the one clock that all writers of this database share."""
        if self.is_sqlite:
            return literal(time.time())
        return cast(func.extract("epoch", func.clock_timestamp()), Double)

    def now(self, session: Session) -> float:
        """The time of a transaction, by `clock`; a statement that read it has left it here."""
        if "now" not in session.info:
            session.info["now"] = session.execute(select(self.clock())).scalar_one()
        return float(session.info["now"])

    def insert_new(self, session: Session, model: type[Base], values: Mapping[str, Any]) -> bool:
        """Insert a row unless a unique key of it is taken; whether it was inserted."""
        table = model.__table__
        assert isinstance(table, Table)
        insert = sqlite.insert if self.is_sqlite else postgresql.insert
        statement = insert(table).on_conflict_do_nothing().returning(*table.primary_key.columns)
        # A refused insert returns no row; row counts of ORM sessions are not reliable here.
        return session.execute(statement, dict(values)).first() is not None

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def _plainly() -> Iterator[None]:
    """Say in plain words that the database is away; the driver's words are logged by its server."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        line = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no reason"
        raise Unavailable(f"the database cannot be used now: {line}") from error


class Repository:
    """What the parts of `Storage` share: the database."""

    _database: Database


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise InvalidInput(
            "this is no database URL; use sqlite:///PATH or postgresql+psycopg://..."
        ) from None
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "postgresql+psycopg"):
        raise InvalidInput(
            f"databases of kind {parsed.drivername} are not supported;"
            " use sqlite:///PATH or postgresql+psycopg://..."
        )
    if parsed.drivername == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise InvalidInput("several processes share the database: give a file, sqlite:///PATH")
    return parsed


def _sqlite_engine(url: URL) -> Engine:
    assert url.database is not None
    Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, pool_size=10, max_overflow=50)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        # The driver must not begin transactions by itself: `begin` below does.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
        cursor.execute("PRAGMA journal_mode = WAL")
        # Commits survive a killed process; a power failure may take the last ones, and the
        # evaluations they held are then repeated.
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("hamtune_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
