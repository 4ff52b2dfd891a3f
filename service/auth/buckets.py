"""Limits of rates: token buckets (RFC 2697 calls them that), one for each that asks."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["Buckets"]

_MOST = 10_000


class Buckets:
    """Lets each name do something so often a second, and in bursts. Safe for many threads.

    Args:
        rate: Times a second in the long run.
        burst: Times at once after a rest.
        clock: Seconds.
    """

    def __init__(
        self, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str) -> float:
        """Count one time if `name` may now, and return 0; else the seconds until then."""
        with self._lock:
            level = self._level(name)
            if level < 1.0:
                return (1.0 - level) / self._rate
            self._levels[name] = (level - 1.0, self._clock())
            self._levels.move_to_end(name)
            while len(self._levels) > _MOST:
                self._levels.popitem(last=False)
            return 0.0

    def _level(self, name: str) -> float:
        now = self._clock()
        level, at = self._levels.get(name, (self._burst, now))
        return min(self._burst, level + (now - at) * self._rate)
