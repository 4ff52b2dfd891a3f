"""Connections of clients that take their time on purpose, or have gone: they are closed.

Uvicorn closes connections that are idle between two requests. One that sends a byte of its request
every few seconds, or never reads its answer, would stay open for ever, and there are only so many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from asyncio import Protocol

__all__ = ["HEAD_SECONDS", "STALL_SECONDS", "WINDOW_BYTES", "TimedConnection", "close_slow"]

HEAD_SECONDS = 20.0
"""In which line and headers of a request have to arrive, once its connection is there."""
STALL_SECONDS = 60.0
"""In which a body has to come on by `WINDOW_BYTES`, and an answer has to be read some way."""
WINDOW_BYTES = 16 << 10


class TimedConnection(H11Protocol):
    """A connection over HTTP/1.1 that knows what it waits for, and since when."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._since = self.loop.time()  # it waits for a request, or for the next of a body
        self._in_body = False
        self._received = 0
        self._read_at = self._since  # when its client last took what there was to take

    def data_received(self, data: bytes) -> None:
        """Count what comes of a body."""
        super().data_received(data)
        if self._sends_body():
            self._received += len(data)

    def resume_writing(self) -> None:
        """Note that a good part of what waited was taken."""
        super().resume_writing()
        self._read_at = self.loop.time()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._since = self.loop.time()

    def is_slow(self, now: float) -> bool:
        """Whether its client keeps it waiting; called every second or so.

        Args:
            now: By the clock of the loop.
        """
        return self._is_sending_slowly(now) or self._is_reading_slowly(now)

    def abort(self) -> None:
        """End the connection at once, with what was not read of it."""
        self.transport.abort()

    def _sends_body(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete and self.cycle.more_body

    def _is_sending_slowly(self, now: float) -> bool:
        if self._sends_body():
            # While the application does not read, nothing can be asked of the client.
            moved = self._received >= WINDOW_BYTES or self.flow.read_paused
            if moved or not self._in_body:
                self._since, self._received = now, 0
            self._in_body = True
            return now - self._since > STALL_SECONDS
        self._in_body = False
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering or self.transport.get_write_buffer_size() > 0:
            self._since = now
        return now - self._since > HEAD_SECONDS

    def _is_reading_slowly(self, now: float) -> bool:
        if self.transport.get_write_buffer_size() == 0:
            self._read_at = now
        return now - self._read_at > STALL_SECONDS


def close_slow(connections: Iterable[Protocol], now: float) -> int:
    """Close those whose clients keep them waiting.

    Returns:
        How many were closed.
    """
    slow = [one for one in connections if cast(TimedConnection, one).is_slow(now)]
    for connection in slow:
        cast(TimedConnection, connection).abort()
    return len(slow)
