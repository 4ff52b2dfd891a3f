"""The slots of a rank's open requests, each the lowest that is free (docs/trace-format.md)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

__all__ = ["Slots"]


class Slots:
    """Numbers requests from 0, in time that does not grow with how many are open."""

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._freed: list[int] = []  # below the end, a heap
        self._end = 0

    def __bool__(self) -> bool:
        return bool(self._taken)

    @property
    def taken(self) -> list[int]:
        """Those of open requests, in order."""
        return sorted(self._taken)

    def take(self) -> int:
        """Gives the lowest free slot to a request."""
        slot = heapq.heappop(self._freed) if self._freed else self._end
        self._end = max(self._end, slot + 1)
        self._taken.add(slot)
        return slot

    def free(self, slots: Iterable[int]) -> None:
        """Frees the slots of requests that are no longer open; others are passed over."""
        for slot in slots:
            if slot in self._taken:
                self._taken.remove(slot)
                heapq.heappush(self._freed, slot)
