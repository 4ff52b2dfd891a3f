"""Ctrl-C and termination as requests to end in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

__all__ = ["interruptible", "terminable"]


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


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Lets the first SIGTERM end a command as Ctrl-C does: nothing that it started is left."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
