"""What exports have simulated: one export of a process at a time, and nothing twice."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from searchspace.errors import HamtuneError

__all__ = ["RETRY_SECONDS", "Busy", "Simulations"]

_MOST_KNOWN = 512
_FAILED_SECONDS = 600.0
"""For which a failure is remembered: the host may have been busy."""
RETRY_SECONDS = 5
"""After which it is worth asking again."""

Found = float | str
"""Simulated seconds, or why there are none."""


class Busy(HamtuneError):
    """Another export is being simulated in this process."""


class Simulations:
    """Whose turn it is to simulate, and what was found. Safe for use by many threads.

    To read a job is enough to ask for an export, so exports must not take all threads and cores.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._mine = threading.local()
        self._known: OrderedDict[tuple[str, float], tuple[float, Found]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def of_one_export(self) -> Iterator[None]:
        """All that one thread simulates within this is of one export, which keeps the turn."""
        self._mine.holds = False
        try:
            yield
        finally:
            if self._mine.holds:
                self._mine.holds = False
                self._turn.release()

    def find(self, key: str, wall_seconds: float, simulate: Callable[[], Found]) -> Found:
        """What is remembered, or is simulated now; within `of_one_export`.

        Args:
            key: Of the evaluation, and of the project that asks.
            wall_seconds: What it may take.
            simulate: Does it.

        Raises:
            Busy: Another export is being simulated.
        """
        asked = (key, wall_seconds)
        with self._lock:
            at, found = self._known.get(asked, (0.0, ""))
        if isinstance(found, float) or (at and time.monotonic() - at < _FAILED_SECONDS):
            return found
        self._take_turn()
        found = simulate()
        with self._lock:
            self._known[asked] = (time.monotonic(), found)
            self._known.move_to_end(asked)
            while len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        return found

    def _take_turn(self) -> None:
        if self._mine.holds:
            return
        if not self._turn.acquire(blocking=False):
            raise Busy("another export is being simulated; try again when it has ended")
        self._mine.holds = True
