"""Ctrl-C and termination as requests to end in order."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

__all__ = ["EndRequest", "default_signals", "interruptible", "terminable"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TWICE_SECONDS = 1.0  # Ctrl-C may come twice at once, from the terminal and from what started us
_HOW_TO_END_AT_ONCE = b"\nhamtune: ending in order; Ctrl-C again ends at once\n"


class EndRequest(threading.Event):
    """Set once the process is asked to end. Who presses Ctrl-C again will not wait for that.

    Attributes:
        number: The signal that asked; None before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number: int | None = None
        self._since = 0.0

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """As a handler of signals."""
        if number == signal.SIGINT and self.number is not None:
            if time.monotonic() - self._since > _TWICE_SECONDS:
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)
            return
        self.number = number
        self._since = time.monotonic()
        if number == signal.SIGINT and sys.stderr.isatty():
            # Not by way of Python's own buffer: the thread that the signal interrupts may write.
            os.write(sys.stderr.fileno(), _HOW_TO_END_AT_ONCE)
        # The thread that a signal interrupts may hold the lock of this very event, as it waits for
        # it; another one only has to wait for that thread.
        _thread.start_new_thread(self.set, ())


@contextlib.contextmanager
def interruptible() -> Iterator[EndRequest]:
    """Within the block, Ctrl-C and termination interrupt nothing; they are a request to end.

    An exception that is raised wherever the program happens to be may leave a transaction half
    open, be turned into another error by a library, or be lost in the callback of a reference.
    """
    request = EndRequest()
    before = [signal.signal(number, request) for number in _SIGNALS]
    try:
        yield request
    finally:
        for number, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(number, handler)


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Lets the first SIGTERM end a command as Ctrl-C does: nothing that it started is left."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    with _handled(end, signal.SIGTERM):
        yield


@contextlib.contextmanager
def default_signals() -> Iterator[None]:
    """Ctrl-C and termination end the process at once, while nothing is started yet.

    An interrupt inside an import comes out as some other error, or is lost.
    """
    with _handled(signal.SIG_DFL, *_SIGNALS):
        yield


@contextlib.contextmanager
def _handled(handler: signal._HANDLER, *numbers: signal.Signals) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, one in zip(numbers, before, strict=True):
            signal.signal(number, one)
