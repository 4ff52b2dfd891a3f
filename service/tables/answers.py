"""Answers that are asked for again and do not change, as many as there is room for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

__all__ = ["Answers"]


class Answers:
    """Bytes by what was asked; those that nobody asked for longest go first.

    Args:
        most_bytes: Of all answers together; one that is larger than that is not kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, asked: Hashable) -> bytes | None:
        """The answer, if it is there."""
        with self._lock:
            found = self._kept.get(asked)
            if found is not None:
                self._kept.move_to_end(asked)
            return found

    def put(self, asked: Hashable, answer: bytes) -> None:
        """Keep an answer."""
        with self._lock:
            self._bytes -= len(self._kept.pop(asked, b""))
            if len(answer) > self._most:  # all others would go for nothing
                return
            self._bytes += len(answer)
            self._kept[asked] = answer
            while self._bytes > self._most:
                self._bytes -= len(self._kept.popitem(last=False)[1])
