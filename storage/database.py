"""One face for SQLite and PostgreSQL: connections, transactions, clocks, order of events."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    Connection,
    Double,
    Engine,
    Executable,
    bindparam,
    cast,
    create_engine,
    event,
    func,
    insert,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionLeft
from sqlalchemy.orm import Session

from searchspace.errors import InvalidInput
from storage.errors import Unavailable
from storage.models import Base, EventRow, table
from storage.notifications import CHANNEL, Notification, Notifications

if TYPE_CHECKING:
    from storage.postgresql import Listener

__all__ = ["AS_BYTES", "CLOCK", "Database", "Noted", "plainly"]

_BUSY_MILLISECONDS = 30_000
_BUSY_PAUSE_SECONDS = 0.05
_EVENT_LOCK = 0x48544556  # advisory lock of the event log: "HTEV"
_LONGEST_NOTIFICATION = 7_900  # bytes; PostgreSQL allows 8,000
# SQLSTATEs of a server that cannot be used now, which the driver takes for errors of its own: it is
# read-only, as a standby is until it is promoted; the transaction stood idle, or took, too long.
_AWAY = ("25006", "25P03", "25P04")

CLOCK = cast(func.extract("epoch", func.clock_timestamp()), Double)
"""Seconds since the epoch by the clock of the PostgreSQL server, which all its writers share. Those
of an SQLite file share the clock of their host."""

AS_BYTES = {"hamtune_bytes": True}
"""Execution options of a statement whose bytes PostgreSQL is to send as they are, not as digits."""

_EVENTS = table(EventRow)
_APPEND = insert(_EVENTS)
_APPEND_ONE = _APPEND.returning(_EVENTS.c.id)
# The server takes JSON apart faster than the driver puts rows together; the ids are drawn in order.
_APPEND_SEVERAL = text(
    "INSERT INTO events (job_id, kind, at, data)"
    " SELECT one ->> 'job_id', one ->> 'kind', CAST(one ->> 'at' AS double precision),"
    " one -> 'data'"
    " FROM json_array_elements(CAST(:noted AS json)) WITH ORDINALITY AS noted (one, place)"
    " ORDER BY place"
)
# Whoever appends to the log holds the lock; the notification goes out with the commit.
_LOCK_EVENTS = select(
    func.pg_advisory_xact_lock(_EVENT_LOCK), func.pg_notify(CHANNEL, bindparam("payload"))
)


@dataclass
class Noted:
    """An event of a transaction that has not been committed; alone in it, it gets its id."""

    job_id: str
    kind: str
    at: float
    data: dict[str, Any]
    id: int = 0


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
            # With its driver, which SQLite does without.
            from storage.postgresql import postgresql_engine

            self.engine = postgresql_engine(parsed)
        # A statement is a transaction of its own on PostgreSQL: reads of one statement need no
        # more, and spare two messages.
        self._reader = (
            self.engine
            if self.is_sqlite
            else self.engine.execution_options(isolation_level="AUTOCOMMIT")
        )
        self._snapshots = (
            self.engine
            if self.is_sqlite
            else self.engine.execution_options(isolation_level="REPEATABLE READ")
        )
        self._writer = self.engine.execution_options(hamtune_writes=True)
        # SQLite lets waiting writers look again after up to 0.1 s, in no order: among many threads
        # one may find it taken each time until it gives up. Those of a process take turns here.
        self._turn = threading.Lock()
        self.notifications = Notifications()
        self._listener: Listener | None = None
        self._listener_lock = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session for reads: one snapshot on SQLite, read committed on PostgreSQL."""
        with plainly(), Session(self._reader, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """A session for reads of several statements that are to see one moment."""
        with plainly(), Session(self._snapshots, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that is committed at the end, with the events noted in it.

        On SQLite it holds the write lock from its start, so that what it read is still true when
        it writes. On PostgreSQL the repositories lock rows, the job's always first.
        """
        noted: list[Noted] = []
        with (
            plainly(),
            self._taking_turns(),
            Session(self._writer, expire_on_commit=False, info={"events": noted}) as session,
            session.begin(),
        ):
            yield session
            if noted:
                session.flush()
                self._append_events(session, noted)
        if self.is_sqlite:  # PostgreSQL tells everybody, this process as well
            self.notifications.announce(map(_notice, noted))

    @contextmanager
    def _taking_turns(self) -> Iterator[None]:
        """Hold the turn of a writer to SQLite; who waits too long leaves the rest to SQLite."""
        held = self.is_sqlite and self._turn.acquire(timeout=_BUSY_MILLISECONDS / 1000)
        try:
            yield
        finally:
            if held:
                self._turn.release()

    def listen(self) -> bool:
        """Whether those of all processes arrive; on PostgreSQL a first call begins to listen."""
        if self.is_sqlite:
            return False
        with self._listener_lock:
            if self._listener is None:
                from storage.postgresql import Listener

                # libpq takes the URL that is left without SQLAlchemy's name of the driver.
                url = self.engine.url.set(drivername="postgresql")
                self._listener = Listener(
                    url.render_as_string(hide_password=False), self.notifications
                )
            return self._listener.hears

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

    def note(self, session: Session, job_id: str, kind: str, data: Mapping[str, Any]) -> Noted:
        """Note an event; it is appended when the transaction commits."""
        event = Noted(job_id=job_id, kind=kind, at=time.time(), data=dict(data))
        session.info["events"].append(event)
        return event

    def _append_events(self, session: Session, noted: list[Noted]) -> None:
        # On PostgreSQL ids are drawn before the commit that shows them, so a watcher could see 6,
        # move its cursor past it, and never see 5. Whoever appends therefore holds this lock from
        # drawing the id until the commit is visible; it is taken last, so it is held briefly and
        # never while waiting for a row.
        connection = session.connection()
        if not self.is_sqlite:
            # Those of one kind and state are one notification.
            payload = "\n".join(dict.fromkeys(_notice(one).encode() for one in noted))
            connection.execute(
                _LOCK_EVENTS, {"payload": payload if len(payload) <= _LONGEST_NOTIFICATION else ""}
            )
        values = [
            {"job_id": one.job_id, "kind": one.kind, "at": one.at, "data": one.data}
            for one in noted
        ]
        if len(noted) == 1:
            noted[0].id = connection.execute(_APPEND_ONE, values[0]).scalar_one()
        elif self.is_sqlite:
            connection.execute(_APPEND, values)
        else:
            connection.execute(_APPEND_SEVERAL, {"noted": json.dumps(values)})

    def now(self, session: Session) -> float:
        """The time of a transaction; a statement that read `CLOCK` may have left it here."""
        if "now" not in session.info:
            session.info["now"] = (
                time.time()
                if self.is_sqlite
                else session.connection().execute(select(CLOCK)).scalar_one()
            )
        return float(session.info["now"])

    def insert_new(self, session: Session, model: type[Base], values: Mapping[str, Any]) -> bool:
        """Insert a row unless a unique key of it is taken; whether it was inserted."""
        # A refused insert returns no row.
        statement = _insert_new(model, self.is_sqlite)
        return session.connection().execute(statement, dict(values)).first() is not None

    def close(self) -> None:
        """Close all connections."""
        with self._listener_lock:
            if self._listener is not None:
                self._listener.close()
                self._listener = None
        self.engine.dispose()


def _notice(noted: Noted) -> Notification:
    return Notification(noted.job_id, noted.kind, str(noted.data.get("state", "")))


@cache
def _insert_new(model: type[Base], is_sqlite: bool) -> Executable:
    rows = table(model)
    if is_sqlite:
        new = sqlite.insert(rows).on_conflict_do_nothing()
        return new.returning(*rows.primary_key.columns)
    from sqlalchemy.dialects import postgresql  # of no use beside SQLite

    return postgresql.insert(rows).on_conflict_do_nothing().returning(*rows.primary_key.columns)


@contextmanager
def plainly() -> Iterator[None]:
    """Say in plain words that the database is away; the driver's words are logged by its server.

    Raises:
        Unavailable: It cannot be reached, is busy for too long, full or read-only, or all
            connections of this process are in use.
    """
    try:
        yield
    except NoConnectionLeft as error:
        raise Unavailable(
            "the database cannot be used now: all connections of this process are in use; try again"
        ) from error
    except DBAPIError as error:
        if not _is_away(error):
            raise
        line = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no reason"
        raise Unavailable("the database cannot be used now", line) from error


def _is_away(error: DBAPIError) -> bool:
    """Whether an error tells of the state of the server, not of a mistake in what it was asked."""
    if isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated:
        return True
    return getattr(error.orig, "sqlstate", None) in _AWAY


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
    path = Path(url.database)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)  # SQLite gives its other files the same mode
    engine = create_engine(url, pool_size=10, max_overflow=50)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        # The driver must not begin transactions by itself: `begin` below does.
        connection.isolation_level = None
        connection.create_function("power", 2, pow, deterministic=True)  # not in every build
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
        if not connection.get_execution_options().get("hamtune_writes"):
            connection.exec_driver_sql("BEGIN")
            return
        driver = connection.connection.driver_connection
        assert driver is not None, "it has begun"
        # Seldom SQLite says at once that somebody else writes, in spite of the time to wait.
        until = time.monotonic() + _BUSY_MILLISECONDS / 1000
        while time.monotonic() < until:
            try:
                driver.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname.partition("_")[2].partition("_")[0] != "BUSY":
                    break
                time.sleep(_BUSY_PAUSE_SECONDS)
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
