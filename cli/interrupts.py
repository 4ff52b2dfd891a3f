"""Ctrl-C as a request to end in order."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

__all__ = ["interruptible"]


@contextlib.contextmanager
def interruptible() -> Iterator[list[int]]:
    """Turns Ctrl-C and termination into an entry in the list, so that a step ends in order."""
    seen: list[int] = []
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda caught, _: seen.append(caught)) for number in signals]
    try:
        yield seen
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
