"""Looking at something again and again while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["polling"]


@contextmanager
def polling(
    look: Callable[[], object], seconds: float, *, last: Callable[[], object]
) -> Iterator[None]:
    """Look from another thread while the context is open.

    Args:
        look: Called every so many seconds.
        seconds: Between two looks.
        last: Called when the context closes and nobody looks any more.
    """
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(seconds):
            look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        last()
