"""Outcomes that wait for others, so that they share a transaction; a moment at most."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence

from storage.attempts import Finished
from storage.errors import Unavailable

__all__ = ["HeldOutcomes"]


class HeldOutcomes:
    """Stores outcomes together: when asked, and by itself where the next is long in coming.

    Args:
        store: Stores some; raises Unavailable where the database is away.
        seconds: The longest that an outcome waits.
    """

    def __init__(self, store: Callable[[Sequence[Finished]], object], seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._lock = threading.Lock()
        self._held: list[Finished] = []
        self._timer: threading.Timer | None = None

    def add(self, finished: Finished) -> None:
        """Hold one more."""
        with self._lock:
            self._held.append(finished)
            if self._timer is None:
                self._timer = threading.Timer(self._seconds, self._store_late)
                self._timer.daemon = True
                self._timer.start()

    def store(self) -> None:
        """Store what is held.

        Raises:
            Unavailable: The database is away; nothing is held any more.
        """
        with self._lock:
            held, self._held = self._held, []
            self._stop()
            if held:
                self._store(held)

    def _store_late(self) -> None:
        with self._lock, contextlib.suppress(Unavailable):  # `store` will say so
            self._timer = None
            if self._held:
                self._store(self._held)
                self._held = []

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
