"""Simulator servers kept warm, so that a trace is loaded once and not for every trial."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from workers.back_end import BackEnd, Start
from workers.back_ends import BACK_ENDS

__all__ = ["WarmSimulators"]

_IDLE_SECONDS = 300.0


class _Idle(NamedTuple):
    traces: tuple[Path, ...]
    simulator: BackEnd
    since: float


class WarmSimulators:
    """Lends simulators, each to one thread at a time, and keeps those last used for a while.

    Args:
        keep: How many idle ones are kept. Each holds its traces in memory.
        start: Starts one.
        idle_seconds: How long they are kept.
    """

    def __init__(
        self,
        keep: int,
        start: Start = BACK_ENDS["simulator"],
        *,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> None:
        self._keep = keep
        self._start = start
        self._idle_seconds = idle_seconds
        self._idle: list[_Idle] = []  # the last used at the end
        self._lock = threading.Lock()
        self._closing: threading.Timer | None = None

    @contextmanager
    def lend(self, traces: tuple[Path, ...]) -> Iterator[BackEnd]:
        """A simulator that has the traces loaded; one that raised is not used again."""
        simulator = self._take(traces)
        try:
            yield simulator
        except BaseException:
            simulator.close()
            raise
        self._give_back(traces, simulator)

    def close(self) -> None:
        """Close those that are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
            if self._closing is not None:
                self._closing.cancel()
                self._closing = None
        for _, simulator, _ in idle:
            simulator.close()

    def _take(self, traces: tuple[Path, ...]) -> BackEnd:
        with self._lock:
            for index in range(len(self._idle) - 1, -1, -1):
                if self._idle[index].traces == traces:
                    return self._idle.pop(index).simulator
        return self._start(traces, gives_way=True)

    def _give_back(self, traces: tuple[Path, ...], simulator: BackEnd) -> None:
        with self._lock:
            self._idle.append(_Idle(traces, simulator, time.monotonic()))
            unwanted = self._idle[: -self._keep]
            del self._idle[: -self._keep]
            self._arm()
        for _, other, _ in unwanted:
            other.close()

    def _arm(self) -> None:
        """See to it that those idle for long are closed also when nothing happens any more."""
        if self._closing is None and self._idle:
            wait = self._idle[0].since + self._idle_seconds - time.monotonic()
            self._closing = threading.Timer(max(0.0, wait), self._close_old)
            self._closing.daemon = True
            self._closing.start()

    def _close_old(self) -> None:
        with self._lock:
            before = time.monotonic() - self._idle_seconds
            old = [idle for idle in self._idle if idle.since <= before]
            self._idle = [idle for idle in self._idle if idle.since > before]
            self._closing = None
            self._arm()
        for _, simulator, _ in old:
            simulator.close()
