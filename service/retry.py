"""What a process needs of the database before it serves, tried again where a connection breaks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from storage.errors import Unavailable

__all__ = ["retrying"]

T = TypeVar("T")

_TRIES = 4
_PAUSE_SECONDS = 0.5

log = logging.getLogger("hamtune.service")


def retrying(act: Callable[[], T], *, forever: bool = False) -> T:
    """Do something that may be done again, several times while the database is away.

    A server that is just started again is back in a moment; one that stays away is told of.

    Args:
        act: What to do.
        forever: Go on until the database is there, and say once that it is not, as processes do
            that are started together with their servers.

    Raises:
        Unavailable: The database is away.
    """
    left = _TRIES - 1
    while left > 0 or forever:
        try:
            return act()
        except Unavailable as error:
            left -= 1
            if left == 0 and forever:
                log.warning("%s; waiting for it", error)
            time.sleep(_PAUSE_SECONDS)
    return act()
