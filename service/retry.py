"""What a process needs of the database before it serves, tried again where a connection breaks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from storage.errors import Unavailable

__all__ = ["Stopped", "retrying"]

T = TypeVar("T")

_TRIES = 4
_PAUSE_SECONDS = 0.5

log = logging.getLogger("hamtune.service")


class Stopped(Exception):
    """The process is asked to end before it serves."""


def retrying(act: Callable[[], T], *, until: threading.Event | None = None) -> T:
    """Do something that may be done again, several times while the database is away.

    A server that is just started again is back in a moment; one that stays away is told of.

    Args:
        act: What to do.
        until: Go on until the database is there or this is set, and say once that it is not, as
            processes do that are started together with their servers.

    Raises:
        Unavailable: The database is away.
        Stopped: `until` was set before the database was there.
    """
    stop = until or threading.Event()
    failures = 0
    while not stop.is_set():
        try:
            return act()
        except Unavailable as error:
            failures += 1
            if failures == _TRIES:
                if until is None:
                    raise
                log.warning("%s; waiting for it", error)
        stop.wait(_PAUSE_SECONDS)
    raise Stopped
