"""What only PostgreSQL has: connections that outlive a restart of the server, notifications.

Imported only where a database is PostgreSQL: its driver takes a tenth of a second to load.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import psycopg
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError

from storage.notifications import CHANNEL, Notification, Notifications

__all__ = ["Listener", "postgresql_engine"]

_UNTESTED_SECONDS = 5.0  # for which an idle connection is taken to be alive
_RETRY_SECONDS = 1.0
_LISTEN_SECONDS = 0.5  # after which the listener sees that it is to end

log = logging.getLogger("hamtune.storage")


def postgresql_engine(url: URL) -> Engine:
    """An engine whose idle connections are tried before they are used again."""
    engine = create_engine(url, pool_size=10, max_overflow=50)

    @event.listens_for(engine, "checkin")
    def remember(_connection: Any, record: Any) -> None:
        record.info["used"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def test(connection: Any, record: Any, _proxy: object) -> None:
        # Connections do not outlive a server that was started again. To try each before each use
        # would cost as much as what it is used for; one used a moment ago is most likely alive.
        used = record.info.get("used")
        if used is None or time.monotonic() - used < _UNTESTED_SECONDS:
            return
        try:
            connection.execute("SELECT 1")
            connection.rollback()
        except psycopg.Error as error:
            raise DisconnectionError from error

    @event.listens_for(engine, "do_execute")
    def execute(cursor: Any, statement: str, parameters: Any, context: Any) -> bool:
        # As text, which the driver asks for otherwise, bytes are two digits each, to be read again.
        if not context.execution_options.get("hamtune_bytes"):
            return False
        cursor.execute(statement, parameters, binary=True)
        return True

    return engine


class Listener:
    """Hears the notifications of a PostgreSQL database in a thread and announces them.

    Args:
        conninfo: Where the database is, as libpq spells it.
        notifications: Where to announce.
    """

    def __init__(self, conninfo: str, notifications: Notifications) -> None:
        self._conninfo = conninfo
        self._news = notifications
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notifications", daemon=True)
        self.hears = False  # whether nothing can be missed just now
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                with psycopg.connect(self._conninfo, autocommit=True) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    self.hears = True
                    self._news.announce([None])
                    while not self._ended.is_set():
                        self._hear(connection)
            except psycopg.Error as error:
                log.debug("no notifications for a while: %s", error)
            finally:
                self.hears = False
            self._ended.wait(_RETRY_SECONDS)

    def _hear(self, connection: psycopg.Connection[Any]) -> None:
        """Hand on what is heard within some seconds."""
        for notification in connection.notifies(timeout=_LISTEN_SECONDS):
            lines = notification.payload.splitlines()
            self._news.announce([Notification.decode(line) for line in lines] if lines else [None])
