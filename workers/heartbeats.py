"""Heartbeats: one thread that tells storage which attempts this worker is at."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from storage.records import Headway
from storage.storage import Storage

__all__ = ["Heartbeats"]

log = logging.getLogger("hamtune.workers")


class _Watched(NamedTuple):
    on_lost: Callable[[], None]
    headway: Callable[[], Headway | None]


class Heartbeats:
    """Beats for all attempts under way; they stop when the process does.

    Args:
        storage: Who is told.
        seconds: Time between two heartbeats of an attempt.
    """

    def __init__(self, storage: Storage, seconds: float) -> None:
        self._storage = storage
        self._seconds = seconds
        self._watched: dict[str, _Watched] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeats", daemon=True)
        self._thread.start()

    @contextmanager
    def beating(
        self,
        attempt_id: str,
        on_lost: Callable[[], None],
        headway: Callable[[], Headway | None] = lambda: None,
    ) -> Iterator[None]:
        """Beat for an attempt.

        Args:
            attempt_id: Which.
            on_lost: Called once should it have been given up.
            headway: Says how far it is, where that is known.
        """
        with self._lock:
            self._watched[attempt_id] = _Watched(on_lost, headway)
        try:
            yield
        finally:
            with self._lock:
                self._watched.pop(attempt_id, None)

    def close(self) -> None:
        """Stop beating."""
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(self._seconds):
            with self._lock:
                watched = dict(self._watched)
            for attempt_id, one in watched.items():
                try:
                    alive = self._storage.attempts.heartbeat(attempt_id, one.headway())
                except Exception as error:
                    # The database may be away for a while; the attempt lives on if it is back
                    # before the coordinator gives it up.
                    log.warning("no heartbeat for %s: %s", attempt_id, error)
                    continue
                if not alive:
                    with self._lock:
                        still_watched = self._watched.pop(attempt_id, None) is not None
                    if still_watched:
                        one.on_lost()
