"""Kombu's in-memory broker without its polling: a consumer sleeps until there is something for it.

Kombu looks into its queues every so often, which costs either time or a share of a core.
"""

from __future__ import annotations

import threading
from typing import Any

from kombu.transport import memory

__all__ = ["Transport", "wake"]


class _Arrivals:
    """Counts what may make a consumer go on; the queues belong to the process, and so does it."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self.count = 0

    def tell(self) -> None:
        with self._condition:
            self.count += 1
            self._condition.notify_all()

    def wait(self, seen: int, seconds: float | None) -> bool:
        """Wait until there was one more than those seen, as long as this; whether there was."""
        with self._condition:
            return self._condition.wait_for(lambda: self.count != seen, seconds)


_ARRIVALS = _Arrivals()


def wake() -> None:
    """Let all consumers of the process look up: something has happened that no message tells."""
    _ARRIVALS.tell()


class _Channel(memory.Channel):
    def _put(self, queue: str, message: Any, **options: Any) -> None:
        super()._put(queue, message, **options)  # type: ignore[no-untyped-call]
        _ARRIVALS.tell()

    def basic_ack(self, delivery_tag: Any, multiple: bool = False) -> None:
        super().basic_ack(delivery_tag, multiple)  # type: ignore[no-untyped-call]
        _ARRIVALS.tell()  # a consumer at its limit may take another one

    def basic_reject(self, delivery_tag: Any, requeue: bool = False) -> None:
        super().basic_reject(delivery_tag, requeue)  # type: ignore[no-untyped-call]
        _ARRIVALS.tell()


class Transport(memory.Transport):
    """For `broker_transport`; used with `memory://`."""

    Channel = _Channel

    def drain_events(  # type: ignore[override]
        self, connection: Any, timeout: float | None = None
    ) -> Any:
        """Deliver the next message.

        Raises:
            TimeoutError: None came in time, or something else that a consumer wants to know of.
        """
        seen = _ARRIVALS.count
        try:
            return super().drain_events(connection, timeout=0.0)  # type: ignore[no-untyped-call]
        except TimeoutError:
            if not _ARRIVALS.wait(seen, timeout):
                raise
        return super().drain_events(connection, timeout=0.0)  # type: ignore[no-untyped-call]
