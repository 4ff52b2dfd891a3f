"""Watching a capture from outside: logs and progress go to storage; unwanted, it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from storage.errors import Unavailable
from storage.storage import Storage
from workers.capture_progress import runs_so_far
from workers.capture_sandbox import Sandbox
from workers.polling import polling

__all__ = ["CaptureWatch"]

_LOOK_SECONDS = 1.0
_LOGS = ("build", "run")


class CaptureWatch:
    """What a worker does beside a capture that it has claimed.

    Args:
        storage: Where the logs go.
        application_id: What is captured.
        worker: Who claimed it.
        runs: How many there will be.
        ranks: How many each has.
        wanted: Asked now and then; once it says no, the capture is stopped.
        stop: What stops it.
    """

    def __init__(
        self,
        storage: Storage,
        application_id: str,
        worker: str,
        runs: int,
        ranks: int,
        wanted: Callable[[], bool],
        stop: threading.Event,
    ) -> None:
        self._storage = storage
        self._application_id = application_id
        self._worker = worker
        self._runs, self._ranks = runs, ranks
        self._wanted = wanted
        self._stop = stop
        self._sent: dict[str, Any] = {}

    @contextmanager
    def __call__(self, box: Sandbox) -> Iterator[None]:
        """Watch while the context is open; the logs are complete when it closes."""

        def look() -> None:
            # Where the database is away the capture goes on; the next report tells more.
            with suppress(Unavailable):
                if not (self._report(box) and self._wanted()):
                    self._stop.set()

        with polling(look, _LOOK_SECONDS, last=lambda: self._report(box)):
            yield

    def _report(self, box: Sandbox) -> bool:
        known: dict[str, Any] = {f"{name}_log": box.full_log(name) for name in _LOGS}
        known["capture_progress"] = runs_so_far(box.directory, self._runs, self._ranks)
        news = {name: value for name, value in known.items() if self._sent.get(name) != value}
        held = self._storage.applications.report_capture(self._application_id, self._worker, **news)
        self._sent = known
        return held
