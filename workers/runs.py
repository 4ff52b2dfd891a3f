"""Evaluations under way, which another thread may end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from storage.records import Headway
from workers.back_end import BackEnd

__all__ = ["Abandoned", "Run"]


class Abandoned(Exception):
    """The simulation was ended because nobody wants its result from this worker any more."""


class Run:
    """An evaluation under way, which another thread may end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._simulator: BackEnd | None = None
        self.abandoned = False

    def check(self) -> None:
        """Go on only while the evaluation is wanted.

        Raises:
            Abandoned: It was ended before.
        """
        if self.abandoned:
            raise Abandoned

    @contextmanager
    def using(self, simulator: BackEnd) -> Iterator[None]:
        """Remember what has to be closed to end the evaluation, for as long as it goes on.

        Raises:
            Abandoned: It was ended before.
        """
        with self._lock:
            self.check()
            self._simulator = simulator
        try:
            yield
        finally:
            # Others may be lent it from now on, and this run may still be given up.
            with self._lock:
                self._simulator = None

    def headway(self) -> Headway | None:
        """How far the simulation is; None where none is under way."""
        with self._lock:
            if self._simulator is None:
                return None
            progress = self._simulator.progress
        return Headway(progress.simulated_time, progress.share)

    def abandon(self) -> None:
        """End the evaluation: closing its simulator makes it raise."""
        with self._lock:
            self.abandoned = True
            if self._simulator is not None:
                self._simulator.close()
