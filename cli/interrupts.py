"""Ctrl-C and termination as requests to end in order."""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["EndRequest", "default_signals", "interruptible", "terminable"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class EndRequest(threading.Event):
    """Set once the process is asked to end.

    Attributes:
        number: The signal that asked; None before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number: int | None = None

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """As a handler of signals."""
        self.number = number
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
